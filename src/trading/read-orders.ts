import type { Blocker } from "../firms/offboard-firm.ts";
import type { Caller, Environment } from "../kernel/caller.ts";
import type { Cursor } from "../kernel/clock-advance.ts";
import type { ListSearch } from "../kernel/desk-search.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { firstId, isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { closePage, countOnce, type Leaf, openPage, type Page, readLeaf } from "../kernel/page.ts";
import { parseQueryInstant } from "../kernel/query-time.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import { istTimestamp } from "../kernel/time.ts";
import { isVisible, toFirmFilter, type Visibility, visibleTo } from "../kernel/visibility.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { coalesce, type Outcome } from "../platform/postgres/coalesce.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { withoutKeeping } from "../platform/postgres/split.ts";
import { type OrderStanding, findOrderStandings } from "../settlement/read-settlements.ts";
import type { SettlementState } from "../settlement/rules.ts";
import { orderLifecycle, type OrderState } from "./order-rules.ts";
import {
  countOrders,
  findOrders,
  listAllOrderRows,
  listOpenIds,
  listOpenOfFirm,
  listOrderRows,
  type OrderFilter,
  type OrderRow,
} from "./order-store.ts";
import type { ListOrdersQuery, Order } from "./schema.ts";

type OrdersAsked = Omit<ListOrdersQuery, "format">;

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
/** A set waits for the database twice; several in flight use that time. */
const readSetsInFlight = 4;
const readQueueMax = 20_000;

/** Reads one order for each caller; those who ask at the same time share the statements. */
export function createOrderReader(ctx: Context): ReadOrder {
  // Separate queues: a wait in the sandbox for a connection does not delay live reads.
  const openQueue = (environment: Environment) => {
    const { db } = contextFor(ctx, { environment });
    return coalesce((reads: readonly Read[]) => withoutKeeping(() => readOrders(db, reads)), {
      setSizeMax: readSetSizeMax,
      setsInFlight: readSetsInFlight,
      queueMax: readQueueMax,
    });
  };
  const queues = { live: openQueue("live"), sandbox: openQueue("sandbox") };

  return async function readOrder(caller, orderId) {
    if (!isId("ord", orderId)) throw notFound();
    return await queues[caller.environment]({ caller, orderId });
  };
}

async function readOrders(db: Db, reads: readonly Read[]): Promise<Outcome<Order>[]> {
  const rows = await findOrders(db, [...new Set(reads.map(({ orderId }) => orderId))]);
  const found = new Map(rows.map((row) => [row.order_id, row]));
  const standings = await findOrderStandings(db, rows);
  return reads.map(({ caller, orderId }) => {
    const row = found.get(orderId);
    const owner = row && { deskId: row.desk_id, firmId: row.firm_id };
    if (!owner || !isVisible(visibleTo(caller), owner)) return notFound();
    return viewOrder(row, viewSettled(row, standings.get(orderId)));
  });
}

/** A page of the desk's orders, newest first. */
export async function readOrderPage(
  ctx: Context,
  caller: Caller,
  query: OrdersAsked,
): Promise<Page<Order>> {
  const visible = visibleTo(caller);
  const { deskId } = visible;
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const filter = buildFilter(visible, query);
  const question = { list: "orders", desk: deskId, firm: visible.firmId ?? "", ...filters };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listOrderRows(ctx.db.planned, deskId, filter, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await countOnce(request, () => countOrders(ctx.db.planned, deskId, filter)),
    toPosition: (row) => ({ at: row.created_at, id: row.order_id }),
  });
  const standings = await findOrderStandings(ctx.db.planned, page.rows);
  const view = (row: OrderRow) => viewOrder(row, viewSettled(row, standings.get(row.order_id)));
  return { ...page, rows: await mapPaced(page.rows, view, openPace()) };
}

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
  const { limit, cursor, environment, deskId, firmId, from, to, ...asked } = search;
  const { status = null, side = null, scheme = null } = asked;
  const page = await readLeaf<OrderRow>(
    {
      list: "orders",
      filter: { environment, deskId, firmId, from, to, status, side, scheme },
      page: { limit, cursor },
      signingKey: ctx.cursorKey,
      toPosition: (row) => ({ at: row.created_at, id: row.order_id }),
    },
    async (request) => {
      const filter = { status, side, scheme };
      if (deskId === null) {
        const fromId = from && firstId("ord", from);
        const toId = to && firstId("ord", to);
        const ofAll = { ...filter, environment, fromId, toId };
        return await listAllOrderRows(ctx.db.planned, ofAll, request);
      }
      const isClient = firmId !== null && firmId !== deskId;
      const ofDesk = { ...filter, firmId, isClient, clientRef: null, idempotencyKey: null };
      return await listOrderRows(ctx.db.planned, deskId, { ...ofDesk, from, to }, request);
    },
  );
  return { ...page, rows: await viewOrdersOfDesks(ctx.db.planned, page.rows) };
}

export async function readAnyOrder(db: Db, orderId: string): Promise<OrderOfDesk> {
  const [order] = await viewOrdersOfDesks(db, await findOrders(db, [orderId]));
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

function buildFilter(visible: Visibility, query: OrdersAsked): OrderFilter {
  return {
    status: query.status ?? null,
    side: query.side ?? null,
    scheme: query.scheme ?? null,
    firmId: toFirmFilter(visible, query.firm_id),
    clientRef: query.client_ref ?? null,
    idempotencyKey: query.idempotency_key ?? null,
    from: parseQueryInstant("from", query.from),
    to: parseQueryInstant("to", query.to),
  };
}
