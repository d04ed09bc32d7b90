import type { Lifecycle } from "../kernel/lifecycle.ts";
import { contextFor } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import { listMarkets, listStates, readMarket } from "./read-markets.ts";
import {
  Market,
  MarketEvents,
  MarketList,
  MarketPath,
  StateTables,
  StreamHeaders,
} from "./schema.ts";
import { type MarketStreaming, streamMarket } from "./stream-market.ts";
import type { MarketContext } from "./update-markets.ts";

export function marketRoutes(app: App, ctx: MarketContext, streaming: MarketStreaming): void {
  app.get(
    "/v1/market",
    {
      config: { demand: "market:read" },
      schema: {
        operationId: "listMarkets",
        tags: ["Market"],
        summary: "Every market now",
        description:
          "One row for each scheme: its state, its prices and its last deal, and what the house could sell now. It names no firm and no credit.",
        response: { 200: MarketList },
      },
    },
    async (request) => await listMarkets(contextFor(ctx, request.caller), request.caller),
  );

  app.get(
    "/v1/market/stream",
    {
      config: { demand: "market:read", streams: true },
      schema: {
        operationId: "streamMarket",
        tags: ["Market"],
        summary: "Every change of a market, as it happens",
        description: streamText,
        headers: StreamHeaders,
        response: { 200: { content: { "text/event-stream": { schema: MarketEvents } } } },
      },
    },
    async (request, reply) => await streamMarket(streaming, request, reply),
  );

  app.get(
    "/v1/market/:scheme",
    {
      config: { demand: "market:read" },
      schema: {
        operationId: "readMarket",
        tags: ["Market"],
        summary: "One market now",
        description:
          "The state of one scheme's market, its prices, its last deal, and what the house could sell now.",
        params: MarketPath,
        response: { 200: Market },
      },
    },
    async (request) =>
      await readMarket(contextFor(ctx, request.caller), request.caller, request.params.scheme),
  );
}

const streamText = `Server-sent events. First \`retry\`, then:

| event | data | when |
|---|---|---|
| \`snapshot\` | MarketList | first, and after a reset |
| \`update\` | Market | a scheme's figures changed |
| \`status\` | Market | its state changed: halted, opened |
| \`heartbeat\` | \`{epoch, seq}\` | every 15 seconds: the last place you were told |
| \`reset\` | \`{reason}\` | what you know is no beginning any more; a snapshot follows |

Every event but reset has the id \`<epoch>-<seq>\`, the same from every node. Come back with the last
one as \`Last-Event-ID\` and you get exactly what you missed, then what is new. An id that is malformed,
unknown, too old (some 10,000 updates) or of another epoch is answered with \`reset\` and a snapshot.

A key has at most 5 of these streams open at a node; one more ends the oldest. A desk has at most 2500
streams open at a node, those of events included; one more is answered 500. A reader that does not keep
up is cut and resumes by its last id. A stream ends within a second when its key is revoked or expires.`;

export function metaRoutes(app: App, lifecycles: readonly Lifecycle[]): void {
  app.get(
    "/v1/meta/states",
    {
      config: { demand: "any key" },
      schema: {
        operationId: "listStates",
        tags: ["Meta"],
        summary: "The state tables as data",
        description:
          "Every lifecycle as a table: its states, its moves, and from where to where each leads. It is what the service itself decides by, so a client can draw buttons from it.",
        response: { 200: StateTables },
      },
    },
    async () => listStates(lifecycles),
  );
}
