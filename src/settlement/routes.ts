import { toCall, takeNoBodyAsEmpty, whenGone } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { sendList } from "../platform/http/documents.ts";
import type { App } from "../platform/http/server.ts";
import { filesText } from "../platform/http/wire.ts";
import { advanceSettlement, type Simulation } from "./advance-settlements.ts";
import { listSettlements } from "./list-settlements.ts";
import { readSettlement } from "./read-settlements.ts";
import {
  ListSettlementsQuery,
  NoFields,
  Settlement,
  SettlementList,
  SettlementParams,
} from "./schema.ts";

export function settlementRoutes(app: App, ctx: Context, simulation: Simulation): void {
  app.get(
    "/v1/settlements",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listSettlements",
        tags: ["Settlements"],
        summary: "List the settlements your desk has a side in",
        description: `Settlements in which a firm of yours delivers or buys, newest first. ${filesText}`,
        querystring: ListSettlementsQuery,
        response: { 200: SettlementList },
      },
    },
    async (request, reply) =>
      sendList(
        reply,
        "settlements",
        await listSettlements(contextFor(ctx, request.caller), request.caller, {
          ...request.query,
          gone: whenGone(reply),
        }),
      ),
  );

  app.get(
    "/v1/settlements/:settlement_id",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readSettlement",
        tags: ["Settlements"],
        summary: "Read a settlement",
        description:
          "What your firms deliver or buy in it. A desk that is on both sides sees both of them.",
        params: SettlementParams,
        response: { 200: Settlement },
      },
    },
    async (request) =>
      await readSettlement(
        contextFor(ctx, request.caller),
        request.caller,
        request.params.settlement_id,
      ),
  );

  app.post(
    "/v1/sandbox/settlements/:settlement_id/advance",
    {
      config: { demand: "orders:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "advanceSettlement",
        tags: ["Sandbox"],
        summary: "Let the next step of a settlement happen now",
        description: "What customs or the bank would say next is said now. Sandbox keys only.",
        params: SettlementParams,
        body: NoFields,
        response: { 200: Settlement },
      },
    },
    async (request, reply) =>
      await advanceSettlement(contextFor(ctx, request.caller), toCall(request, reply), {
        settlementId: request.params.settlement_id,
        simulation,
      }),
  );
}
