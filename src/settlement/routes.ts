import { visibleTo } from "../kernel/visibility.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { filesText } from "../platform/http/wire.ts";
import { advanceSettlement, type Simulation } from "./advance-settlements.ts";
import { readSettlement, settlementsOfDesk } from "./read-settlements.ts";
import {
  DoneBody,
  MissingBody,
  NoFields,
  Settlement,
  SettlementParams,
  TaskParams,
} from "./schema.ts";
import { finishTask, reportMissing, tasksOfDesk } from "./tasks.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring extends Simulation {}
}

const reading = { method: "GET", demand: "orders:read", tag: "Settlements" } as const;
const claiming = { method: "POST", demand: "orders:write", tag: "Settlements" } as const;

export const settlementOperations: readonly Operation[] = [
  operation({
    id: "listSettlements",
    path: "/v1/settlements",
    ...reading,
    summary: "List the settlements your desk has a side in",
    description: `Settlements in which a firm of yours delivers or buys, newest first. ${filesText}`,
    list: settlementsOfDesk,
  }),
  operation({
    id: "readSettlement",
    path: "/v1/settlements/:settlement_id",
    ...reading,
    summary: "Read a settlement",
    description:
      "What your firms deliver or buy in it. A desk that is on both sides sees both of them.",
    params: SettlementParams,
    answer: Settlement,
    run: ({ ctx, caller }, { settlement_id }) =>
      readSettlement(ctx, visibleTo(caller), settlement_id),
  }),
  operation({
    id: "listTasks",
    path: "/v1/tasks",
    ...reading,
    summary: "List what your firms have to do for their deals",
    description:
      "The day's work: payments, transfers to initiate and transfers to accept, the soonest due " +
      "first. Without `status`, what is open.",
    list: tasksOfDesk,
  }),
  operation({
    id: "finishTask",
    path: "/v1/settlements/:settlement_id/tasks/:task_id/done",
    ...claiming,
    summary: "Say that a task of your firm is done",
    description:
      "A claim of `initiate` starts `accept` and its clock; it proves nothing. A claim of `pay` is " +
      "noted: the bank's line funds the deal. A second one is answered as the first, whatever its " +
      "reference.",
    params: TaskParams,
    body: DoneBody,
    answer: Settlement,
    run: (call, claim) => finishTask({ ...call.ctx, ...call.wiring }, call, claim),
  }),
  operation({
    id: "reportMissing",
    path: "/v1/settlements/:settlement_id/tasks/:task_id/missing",
    ...claiming,
    summary: "Say that the portal shows no transfer to accept",
    description:
      "The holder's task waits again, the deal stays open whatever its deadline, and an operator " +
      "looks. A second one is answered as the first.",
    params: TaskParams,
    body: MissingBody,
    takesNoBody: true,
    answer: Settlement,
    run: (call, claim) => reportMissing({ ...call.ctx, ...call.wiring }, call, claim),
  }),
  operation({
    id: "advanceSettlement",
    method: "POST",
    path: "/v1/sandbox/settlements/:settlement_id/advance",
    demand: "orders:write",
    tag: "Sandbox",
    summary: "Let the next step of a settlement happen now",
    description: "What customs or the bank would say next is said now. Sandbox keys only.",
    params: SettlementParams,
    body: NoFields,
    takesNoBody: true,
    answer: Settlement,
    run: (call, { settlement_id }) =>
      advanceSettlement({ ...call.ctx, ...call.wiring }, call, settlement_id),
  }),
];
