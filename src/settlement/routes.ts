import { sendPage, toCall, takeNoBodyAsEmpty, whenGone } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { sendList } from "../platform/http/documents.ts";
import type { App } from "../platform/http/server.ts";
import { filesText } from "../platform/http/wire.ts";
import { advanceSettlement, type Simulation } from "./advance-settlements.ts";
import { listSettlements, readSettlement } from "./read-settlements.ts";
import {
  DoneBody,
  ListSettlementsQuery,
  ListTasksQuery,
  MissingBody,
  NoFields,
  Settlement,
  SettlementList,
  SettlementParams,
  TaskList,
  TaskParams,
} from "./schema.ts";
import { finishTask, listDeskTasks, reportMissing } from "./tasks.ts";

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

  app.get(
    "/v1/tasks",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listTasks",
        tags: ["Settlements"],
        summary: "List what your firms have to do for their deals",
        description:
          "The day's work: payments, transfers to initiate and transfers to accept, the soonest due " +
          "first. Without `status`, what is open.",
        querystring: ListTasksQuery,
        response: { 200: TaskList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "tasks",
        await listDeskTasks(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.post(
    "/v1/settlements/:settlement_id/tasks/:task_id/done",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "finishTask",
        tags: ["Settlements"],
        summary: "Say that a task of your firm is done",
        description:
          "A claim of `initiate` starts `accept` and its clock; it proves nothing. A claim of `pay` is " +
          "noted: the bank's line funds the deal. A second one is answered as the first, whatever its " +
          "reference.",
        params: TaskParams,
        body: DoneBody,
        response: { 200: Settlement },
      },
    },
    async (request, reply) =>
      await finishTask(contextFor(ctx, request.caller), toCall(request, reply), {
        settlementId: request.params.settlement_id,
        taskId: request.params.task_id,
        ...request.body,
        settlementHooks: simulation.settlementHooks,
      }),
  );

  app.post(
    "/v1/settlements/:settlement_id/tasks/:task_id/missing",
    {
      config: { demand: "orders:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "reportMissing",
        tags: ["Settlements"],
        summary: "Say that the portal shows no transfer to accept",
        description:
          "The holder's task waits again, the deal stays open whatever its deadline, and an operator " +
          "looks. A second one is answered as the first.",
        params: TaskParams,
        body: MissingBody,
        response: { 200: Settlement },
      },
    },
    async (request, reply) =>
      await reportMissing(contextFor(ctx, request.caller), toCall(request, reply), {
        settlementId: request.params.settlement_id,
        taskId: request.params.task_id,
        ...request.body,
        settlementHooks: simulation.settlementHooks,
      }),
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
