import { listAnyAudit } from "../journal/read-audit.ts";
import { readAccount } from "../overview/desks.ts";
import { listEvidence } from "../overview/find-anything.ts";
import { findAnything } from "../overview/find-anything.ts";
import { listDesks, resolveSearch, showDesk } from "../overview/desks.ts";
import { listLiveSteps } from "../overview/live-readiness.ts";
import { showToday } from "../overview/today.ts";
import { schemes, sides } from "../kernel/scheme.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { listAllRequests } from "../requests/read-requests.ts";
import { cancelAnyOrder } from "../trading/end-orders.ts";
import { orderStates } from "../trading/order-rules.ts";
import { listAllOrders, readAnyOrder } from "../trading/read-orders.ts";
import {
  auditFilters,
  AuditRecords,
  Desks,
  DroppedFiles,
  EvidenceList,
  Findings,
  FirmAccount,
  LiveReadiness,
  OpsOrder,
  OpsRequest,
  requestQuery,
  Schedules,
  Today,
  WholeDesk,
} from "./lookups-schema.ts";
import { droppedOutcomes } from "../unattended/drop-rules.ts";
import { listDroppedFiles, listSchedules } from "../unattended/run-schedules.ts";
import {
  cursor,
  deskSearch,
  environment,
  id,
  listQuery,
  optional,
  query,
  readQueue,
  searchQuery,
  text,
  under,
} from "./operation.ts";
import { type Operation, operation } from "../platform/http/operation.ts";

const overview = under("Overview");
const orders = under("Orders");
const desks = under("Desks");
const unattended = under("Unattended");

const { desk_id: _desk, firm_id: _firm, ...deskQuery } = searchQuery;

export const lookupOperations: readonly Operation[] = [
  operation({
    ...overview.read("findAnything", "/ops/find"),
    summary: "Find a thing by its id, an IEC, a PAN, a name, a scrip number, a UTR or a ticket",
    query: query({ q: text("What you have of it.", 200) }),
    answer: Findings,
    run: async ({ ctx }, asked) => ({ found: await findAnything(ctx, asked.q) }),
  }),
  operation({
    ...overview.read("showToday", "/ops/today"),
    summary: "Show what waits for somebody, and how the day stands",
    query: query({ environment: optional(environment) }),
    answer: Today,
    run: ({ ctx }, asked) => showToday(ctx, asked.environment ?? "live"),
  }),
  operation({
    ...overview.read("showLiveReadiness", "/ops/live-readiness"),
    summary:
      "List what is missing before the first live day, with the page and command that mend it",
    answer: LiveReadiness,
    run: async ({ ctx, wiring }) => {
      const steps = await listLiveSteps(ctx, await wiring.readSettings());
      return { ready: steps.every(({ needed }) => !needed), steps };
    },
  }),
  operation({
    ...overview.read("listAuditRecords", "/ops/audit"),
    summary: "List who changed what on a desk, or of the house, the newest first",
    query: query({
      environment,
      desk_id: optional(id("Of this desk; of the house when left out.")),
      limit: searchQuery.limit,
      cursor: searchQuery.cursor,
      ...auditFilters,
    }),
    answer: AuditRecords,
    run: async ({ ctx }, asked) => {
      const { rows: records, nextCursor } = await listAnyAudit(ctx, asked);
      return { records, nextCursor };
    },
  }),
  operation({
    ...overview.read("listEvidence", "/ops/evidence"),
    summary: "List what people said about a thing, by what evidence, and who approved it",
    query: query({ about: id("The thing's id.") }),
    answer: EvidenceList,
    run: async ({ ctx }, { about }) => ({ evidence: await listEvidence(ctx, about) }),
  }),
  operation({
    ...overview.read("readAccount", "/ops/firms/:firm_id/account"),
    summary: "Read a firm's money: what it has, what is held of it, what it owes and has paid in",
    answer: FirmAccount,
    run: ({ ctx }, { firm_id }) => readAccount(ctx, firm_id),
  }),
  operation({
    ...orders.read("listAllOrders", "/ops/orders"),
    summary: "List orders of every desk, newest first",
    list: deskSearch({
      name: "orders",
      of: OpsOrder,
      order: "The newest first.",
      query: {
        status: optional(closedEnum(orderStates, { description: "Only in this state." })),
        side: optional(closedEnum(sides, { description: "Only of this side." })),
        scheme: optional(closedEnum(schemes, { description: "Only of this scheme." })),
      },
      read: listAllOrders,
      listFirmIds: (row) => [row.desk_id, row.firm_id],
    }),
  }),
  operation({
    ...orders.read("readAnyOrder", "/ops/orders/:order_id"),
    summary: "Read an order of any desk",
    answer: OpsOrder,
    run: ({ ctx }, asked) => readAnyOrder(ctx.db, asked.order_id),
  }),
  operation({
    ...orders.act("cancelAnyOrder", "/ops/orders/:order_id/cancel", "orders.write"),
    summary: "Cancel what rests of an order; what was dealt stands",
    answer: OpsOrder,
    run: ({ ctx, actor }, asked) => cancelAnyOrder(ctx, actor, asked.order_id),
  }),
  operation({
    ...desks.read("listDesks", "/ops/desks"),
    summary: "List desks, newest first",
    query: query(deskQuery),
    answer: Desks,
    run: async ({ ctx }, asked) => {
      const { limit, cursor } = asked;
      const search = await resolveSearch(ctx, asked);
      const { rows, nextCursor } = await listDesks(ctx, { ...search, limit, cursor });
      return { desks: rows, nextCursor };
    },
  }),
  operation({
    ...desks.read("showDesk", "/ops/desks/:desk_id"),
    summary: "Show a desk with its own firm, its keys and what it earns",
    answer: WholeDesk,
    run: ({ ctx }, asked) => showDesk(ctx, asked.desk_id),
  }),
  operation({
    ...desks.read("listAllRequests", "/ops/requests"),
    summary: "List what desks called in the last 30 days, newest first",
    list: deskSearch({
      name: "requests",
      of: OpsRequest,
      order: "Newest first.",
      query: requestQuery,
      read: listAllRequests,
      listFirmIds: (row) => [row.desk_id, row.firm_id],
    }),
  }),
  operation({
    ...unattended.read("listSchedules", "/ops/schedules"),
    summary: "List what the service does by itself, with its last run and its next",
    answer: Schedules,
    run: async ({ ctx }) => ({ schedules: await listSchedules(ctx) }),
  }),
  operation({
    ...unattended.read("listDroppedFiles", "/ops/dropped-files"),
    summary: "List the files that were put into the drop folder, and what came of each",
    query: query({
      limit: listQuery.limit,
      cursor,
      outcome: optional(closedEnum(droppedOutcomes, { description: "Only with this outcome." })),
    }),
    answer: DroppedFiles,
    run: ({ ctx }, { cursor: before, outcome, limit: asked }) =>
      readQueue("files", asked, {
        list: (limit) => listDroppedFiles(ctx, { before, outcome, limit }),
        findId: (row) => row.file_id,
      }),
  }),
];
