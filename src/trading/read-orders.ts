import type { Blocker } from "../firms/offboard-firm.ts";
import type { FindCovers } from "../firms/requirements.ts";
import type { Caller, Environment } from "../kernel/caller.ts";
import type { Cursor } from "../kernel/clock-advance.ts";
import type { ListSearch } from "../kernel/desk-search.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { firstId, isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { type Leaf, readLeaf } from "../kernel/page.ts";
import { sumParts } from "../kernel/money.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import { istTimestamp } from "../kernel/time.ts";
import { isVisible, visibleTo } from "../kernel/visibility.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { coalesce, type ItemResult } from "../platform/postgres/coalesce.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { withoutWriting } from "../platform/postgres/split.ts";
import { deskListing } from "../platform/sheets/list-file.ts";
import {
  type OrderStanding,
  findOrderStandings,
  loadOrderStandings,
} from "../settlement/read-settlements.ts";
import type { SettlementState } from "../settlement/rules.ts";
import { findRestingPaise, orderLifecycle, type OrderState } from "./order-rules.ts";
import {
  findOrders,
  listAllOrderRows,
  listOpenIds,
  listOpenOfFirm,
  listOrdersOfRequirements,
  orderList,
  type OrderRow,
} from "./order-store.ts";
import { Order } from "./schema.ts";

export type ReadOrder = (caller: Caller, orderId: string) => Promise<Order>;

type Read = { readonly caller: Caller; readonly orderId: string };

/** The next open orders of a desk. */
export async function listOpenOrdersOfDesk(
  db: Db,
  desk: { readonly environment: Environment; readonly deskId: string },
  cursor: Cursor,
): Promise<readonly string[]> {
  return await listOpenIds(db, desk, cursor);
}

/** An order may have thousands of credits, so a set of reads is small. */
const readSetSizeMax = 64;
/** Several sets in flight use the time in which one waits for the database. */
const readSetsInFlight = 4;
const readQueueMax = 20_000;

/** Reads one order for each caller; those who ask at the same time share the statements. */
export function createOrderReader(ctx: Context): ReadOrder {
  // Separate queues: a wait in the sandbox for a connection does not delay live reads.
  const openQueue = (environment: Environment) => {
    const { db } = contextFor(ctx, { environment });
    return coalesce((reads: readonly Read[]) => withoutWriting(() => readOrders(db, reads)), {
      setSizeMax: readSetSizeMax,
      setsInFlight: readSetsInFlight,
      queueMax: readQueueMax,
    });
  };
  const queues = { live: openQueue("live"), sandbox: openQueue("sandbox") };

  return async function readOrder(caller, orderId) {
    if (!isId("ord", orderId)) throw notFound("order_id");
    return await queues[caller.environment]({ caller, orderId });
  };
}

async function readOrders(db: Db, reads: readonly Read[]): Promise<ItemResult<Order>[]> {
  const orderIds = [...new Set(reads.map(({ orderId }) => orderId))];
  const [rows, standings] = await db.pipeline([findOrders(orderIds), loadOrderStandings(orderIds)]);
  const found = new Map(rows.map((row) => [row.order_id, row]));
  return reads.map(({ caller, orderId }) => {
    const row = found.get(orderId);
    const owner = row && { deskId: row.desk_id, firmId: row.firm_id };
    if (!owner || !isVisible(visibleTo(caller), owner)) return notFound("order_id");
    return viewOrder(row, viewSettled(row, standings.get(orderId)));
  });
}

/** What orders have bought for requirements. */
export const findCovers: FindCovers = async (db, requirementIds) => {
  const rows = requirementIds.length > 0 ? await listOrdersOfRequirements(db, requirementIds) : [];
  const standings = await findOrderStandings(db, rows);
  const byRequirement = Map.groupBy(rows, (row) => row.requirement_id ?? "");
  return new Map(
    [...byRequirement].map(([requirementId, orders]) => [
      requirementId,
      {
        coveredPaise: sumParts(
          orders.map((row) => standings.get(row.order_id)?.standingPaise ?? 0),
        ),
        restingPaise: sumParts(orders.map(findRestingPaise)),
        orderIds: orders.map((row) => row.order_id),
      },
    ]),
  );
};

/** The desk's orders, newest first, as JSON or as a file. */
export const ordersOfDesk = deskListing(orderList, {
  of: Order,
  order: "Newest first.",
  title: "Orders",
  view: async ({ db }, rows) => {
    const standings = await findOrderStandings(db.planned, rows);
    const view = (row: OrderRow) => viewOrder(row, viewSettled(row, standings.get(row.order_id)));
    return await mapPaced(rows, view, openPace());
  },
  columns: [
    { name: "order_id", kind: "text", width: 34 },
    { name: "client_ref", kind: "text" },
    { name: "firm_id", kind: "text", width: 34 },
    { name: "side", kind: "text", width: 7 },
    { name: "scheme", kind: "text", width: 9 },
    { name: "scrip_nos", kind: "text", width: 24, cell: (order) => order.scrip_nos.join(" ") },
    { name: "face_rupees", kind: "money" },
    { name: "requirement_rupees", kind: "money" },
    { name: "covered_rupees", kind: "money" },
    { name: "residual_rupees", kind: "money" },
    { name: "price_percent", kind: "percent" },
    { name: "limit_percent", kind: "percent" },
    { name: "all_in_rupees", kind: "money" },
    { name: "savings_rupees", kind: "money" },
    { name: "settled_rupees", kind: "money" },
    { name: "time_in_force", kind: "text", width: 13 },
    { name: "expires_at", kind: "time" },
    { name: "quote_ref", kind: "text", width: 34 },
    { name: "status", kind: "text", width: 12 },
    {
      name: "settlement_ids",
      kind: "text",
      width: 34,
      cell: (order) => order.settlement_ids.join(" "),
    },
    { name: "settlement_status", kind: "text" },
    { name: "created_at", kind: "time" },
    { name: "updated_at", kind: "time" },
  ],
});

/** An order as the operator reads it. */
export type OrderOfDesk = Order & {
  readonly environment: Environment;
  readonly desk_id: string;
  /** The key that placed it. */
  readonly key_id: string;
};

type OrderNarrower = {
  readonly status: OrderState;
  readonly side: Side;
  readonly scheme: Scheme;
};

/** Orders of every desk, or of one, newest first, for the operator. */
export async function listAllOrders(
  ctx: Pick<Context, "db" | "cursorKey">,
  search: ListSearch<OrderNarrower>,
): Promise<Leaf<OrderOfDesk>> {
  const { environment, deskId, firmId, from, to } = search;
  const { status = null, side = null, scheme = null } = search;
  const page = await readLeaf<OrderRow>(ctx, ["orders", "order_id"], search, async (request) => {
    const filter = { status, side, scheme };
    if (deskId === null) {
      const fromId = from && firstId("ord", from);
      const toId = to && firstId("ord", to);
      const ofAll = { ...filter, environment, fromId, toId };
      return await listAllOrderRows(ctx.db.planned, ofAll, request);
    }
    const ofDesk = { ...filter, from, to };
    return await orderList.rows(ctx.db.planned, { deskId, firmId }, ofDesk, request);
  });
  return { ...page, rows: await viewOrdersOfDesks(ctx.db.planned, page.rows) };
}

export async function readAnyOrder(db: Db, orderId: string): Promise<OrderOfDesk> {
  const [order] = await viewOrdersOfDesks(db, await db.run(findOrders([orderId])));
  if (!order) throw noOrder(orderId);
  return order;
}

/** The refusal of an operator's act on an order of no desk. */
export function noOrder(orderId: string): Failure {
  return new Failure("not_found", `no order ${orderId}`);
}

export async function viewOrdersOfDesks(db: Db, rows: readonly OrderRow[]): Promise<OrderOfDesk[]> {
  const standings = await findOrderStandings(db, rows);
  return rows.map((row) => ({
    ...viewOrder(row, viewSettled(row, standings.get(row.order_id))),
    environment: row.environment,
    desk_id: row.desk_id,
    key_id: row.key_id,
  }));
}

/** The fields that the answer and the events share. The price is null before a deal. */
export function describeOrder(row: OrderRow) {
  const asked = row.requirement_paise ?? row.face_paise ?? 0;
  const dealt = row.dealt_paise > 0;
  return {
    client_ref: row.client_ref,
    side: row.side,
    scheme: row.scheme,
    scrip_nos: row.scrip_nos,
    ...(row.side === "sell" ? { face_paise: asked } : { requirement_paise: asked }),
    covered_paise: row.covered_paise,
    price_bps: dealt ? row.price_bps : null,
    limit_bps: row.limit_bps,
    all_in_paise: dealt ? row.all_in_paise : null,
    quote_ref: row.quote_ref,
    settlement_id: row.settlement_ids.at(-1) ?? null,
    status: row.state,
  };
}

/** The state of the latest settlement of an order, and what all of its settlements have settled. */
export type OrderSettled = {
  readonly settlementStatus: SettlementState | null;
  readonly settledPaise: number;
};

const unsettled: OrderSettled = { settlementStatus: null, settledPaise: 0 };

export function viewSettled(row: OrderRow, standing: OrderStanding | undefined): OrderSettled {
  if (!standing) return unsettled;
  const latest = standing.states.get(row.settlement_ids.at(-1) ?? "");
  return { settlementStatus: latest ?? null, settledPaise: standing.settledPaise };
}

/** The answer for an order. The settlement status is read from the settlement, never copied. */
export function viewOrder(
  row: OrderRow,
  { settlementStatus, settledPaise }: OrderSettled = unsettled,
): Order {
  const asked = row.requirement_paise ?? row.face_paise ?? 0;
  const dealt = row.dealt_paise > 0;
  return {
    order_id: row.order_id,
    ...describeOrder(row),
    scrip_nos: [...row.scrip_nos],
    firm_id: row.firm_id,
    residual_paise: asked - row.covered_paise,
    savings_paise: dealt && row.side === "buy" ? row.dealt_paise - row.all_in_paise : null,
    time_in_force: row.time_in_force,
    expires_at: row.expires_at && istTimestamp(row.expires_at),
    metadata: row.metadata ?? {},
    settlement_ids: [...row.settlement_ids],
    settlement_status: settlementStatus,
    settled_paise: dealt ? settledPaise : null,
    version: row.version,
    allowed_actions: allowedActions(orderLifecycle, row.state),
    history: [...row.history],
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

const namedMax = 100;

/** Resting orders block the offboarding of their firm. */
export async function listOpenOrders(tx: Tx, _deskId: string, firmId: string): Promise<Blocker[]> {
  const open = await listOpenOfFirm(tx, firmId, namedMax);
  return open.map(({ order_id }) => ({
    type: "order",
    id: order_id,
    href: `/v1/orders/${order_id}`,
  }));
}
