import { findAnything } from "../overview/find-anything.ts";
import { listDesks, resolveSearch, showDesk } from "../overview/desks.ts";
import { showToday } from "../overview/today.ts";
import { schemes, sides } from "../kernel/scheme.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { cancelAnyOrder } from "../trading/end-orders.ts";
import { orderStates } from "../trading/order-rules.ts";
import { listAllOrders, readAnyOrder } from "../trading/read-orders.ts";
import { Desks, Findings, OpsOrder, Orders, Today, WholeDesk } from "./lookups-schema.ts";
import { act, environment, optional, read, searchDesks, searchQuery, text } from "./operation.ts";
import type { Operation } from "../platform/http/operation.ts";

const overview = { tag: "Overview" } as const;
const orders = { tag: "Orders" } as const;
const desks = { tag: "Desks" } as const;

const { desk_id: _desk, firm_id: _firm, ...deskQuery } = searchQuery;

export const lookupOperations: readonly Operation[] = [
  read("findAnything", "/ops/find", {
    ...overview,
    summary: "Find a thing by its id, an IEC, a PAN, a name, a scrip number or a UTR",
    query: { q: text("What you have of it.", 200) },
    answer: Findings,
    run: async ({ ctx, query }) => ({ found: await findAnything(ctx, query.q) }),
  }),
  read("showToday", "/ops/today", {
    ...overview,
    summary: "Show what waits for somebody, and how the day stands",
    query: { environment: optional(environment) },
    answer: Today,
    run: async ({ ctx, query }) => await showToday(ctx, query.environment ?? "live"),
  }),
  read("listAllOrders", "/ops/orders", {
    ...orders,
    summary: "List orders of every desk, newest first",
    query: {
      ...searchQuery,
      status: optional(closedEnum(orderStates, { description: "Only in this state." })),
      side: optional(closedEnum(sides, { description: "Only of this side." })),
      scheme: optional(closedEnum(schemes, { description: "Only of this scheme." })),
    },
    answer: Orders,
    run: async ({ ctx, query }) =>
      await searchDesks({ ctx, query }, "orders", {
        list: (search) =>
          listAllOrders(ctx, {
            ...search,
            status: query.status,
            side: query.side,
            scheme: query.scheme,
          }),
        listFirmIds: (row) => [row.desk_id, row.firm_id],
      }),
  }),
  read("readAnyOrder", "/ops/orders/:order_id", {
    ...orders,
    summary: "Read an order of any desk",
    answer: OpsOrder,
    run: async ({ ctx, params }) => await readAnyOrder(ctx.db, params["order_id"] ?? ""),
  }),
  act("cancelAnyOrder", "/ops/orders/:order_id/cancel", {
    ...orders,
    summary: "Cancel what rests of an order; what was dealt stands",
    permission: "orders.write",
    answer: OpsOrder,
    run: async ({ ctx, actor, params }) =>
      await cancelAnyOrder(ctx, actor, params["order_id"] ?? ""),
  }),
  read("listDesks", "/ops/desks", {
    ...desks,
    summary: "List desks, newest first",
    query: deskQuery,
    answer: Desks,
    run: async ({ ctx, query }) => {
      const { limit, cursor } = query;
      const search = await resolveSearch(ctx, query);
      const { rows, nextCursor } = await listDesks(ctx, { ...search, limit, cursor });
      return { desks: rows, nextCursor };
    },
  }),
  read("showDesk", "/ops/desks/:desk_id", {
    ...desks,
    summary: "Show a desk with its own firm, its keys and what it earns",
    answer: WholeDesk,
    run: async ({ ctx, params }) => await showDesk(ctx, params["desk_id"] ?? ""),
  }),
];
