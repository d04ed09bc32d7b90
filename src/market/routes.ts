import type { Lifecycle } from "../kernel/lifecycle.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { listMarkets, listStates, readMarket } from "./read-markets.ts";
import {
  Market,
  MarketEvents,
  MarketList,
  MarketPath,
  StateTables,
  StreamHeaders,
} from "./schema.ts";
import { type MarketFeed, streamMarket } from "./stream-market.ts";
import type { LatestIndex } from "./update-markets.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring {
    readonly feed: MarketFeed;
    readonly latestIndex: LatestIndex;
    readonly lifecycles: readonly Lifecycle[];
  }
}

const reading = { method: "GET", demand: "market:read", tag: "Market" } as const;

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

export const marketOperations: readonly Operation[] = [
  operation({
    id: "listMarkets",
    path: "/v1/market",
    ...reading,
    summary: "Every market now",
    description:
      "One row for each scheme: its state, its prices and its last deal, and what the house could sell now. It names no firm and no credit.",
    answer: MarketList,
    run: ({ ctx, caller, wiring }) => listMarkets({ ...ctx, ...wiring }, caller),
  }),
  operation({
    id: "streamMarket",
    path: "/v1/market/stream",
    ...reading,
    summary: "Every change of a market, as it happens",
    description: streamText,
    config: { streams: true },
    headers: StreamHeaders,
    answer: { content: { "text/event-stream": { schema: MarketEvents } } },
    run: (call) => streamMarket({ ...call.ctx, ...call.wiring }, call),
  }),
  operation({
    id: "readMarket",
    path: "/v1/market/:scheme",
    ...reading,
    summary: "One market now",
    description:
      "The state of one scheme's market, its prices, its last deal, and what the house could sell now.",
    params: MarketPath,
    answer: Market,
    run: ({ ctx, caller, wiring }, { scheme }) => readMarket({ ...ctx, ...wiring }, caller, scheme),
  }),
];

export const metaOperations: readonly Operation[] = [
  operation({
    id: "listStates",
    method: "GET",
    path: "/v1/meta/states",
    demand: "any key",
    tag: "Meta",
    summary: "The state tables as data",
    description:
      "Every lifecycle as a table: its states, its moves, and from where to where each leads. It is what the service itself decides by, so a client can draw buttons from it.",
    answer: StateTables,
    run: ({ wiring }) => listStates(wiring.lifecycles),
  }),
];
