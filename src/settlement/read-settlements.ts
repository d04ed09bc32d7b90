// Reads settlements. A desk sees its own sides: what each of its firms delivers or buys, at that firm's
// price. A side's state comes from its own legs: it ends with the last answer about them; then its
// events are sent and its orders follow. Reports read the deals of the whole market here, too.

import type { Static, TObject } from "typebox";

import { findPortalParties } from "../firms/find-firms.ts";
import { findHouse } from "../house/read-house.ts";
import { type DayBand, listDayBands, sumParts } from "../kernel/money.ts";
import type { Environment } from "../kernel/caller.ts";
import type { ListSearch } from "../kernel/desk-search.ts";
import { notFound } from "../kernel/failure.ts";
import { firstId, houseFirmId, isId } from "../kernel/ids.ts";
import { allowedActions, readSteps, type Step } from "../kernel/lifecycle.ts";
import { type Leaf, type Page, type PageQuery, readLeaf, readPage } from "../kernel/page.ts";
import { parseQueryInstant } from "../kernel/query-time.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { isVisible, toFirmFilter, type Visibility, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Db, Query } from "../platform/postgres/postgres.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import {
  findFailedStep,
  findReason,
  listOrderIds,
  listSides,
  type SettlementSide,
  sumSide,
  toSideMoney,
} from "./move-settlement.ts";
import {
  countSettlements,
  type DealRow,
  findFirstDealAt,
  findSettlement,
  listAllSettlementRows,
  listDeals,
  listDealtLegs,
  listOrderLegs,
  listQueueRows,
  listSettlementRows,
  type SettlementFilter,
  sumOpenByAge,
} from "./read-store.ts";
import {
  type DealAct,
  findAwaitedParty,
  findSideState,
  isLate,
  isOpen,
  isOpenLeg,
  listDealActs,
  listMoves,
  noSettlement,
  settlementLifecycle,
  type SettlementState,
  type WaitingOn,
} from "./rules.ts";
import { Settlement, settlementFilters } from "./schema.ts";
import { instruct, listAllTasks, listTasks, type PortalParties, viewTask } from "./read-tasks.ts";
import { type LegRow, listLegs, type SettlementRow, findAnySettlement } from "./store.ts";

export async function readSettlement(
  ctx: { readonly db: Db; readonly now: () => Date },
  visible: Visibility,
  settlementId: string,
): Promise<Settlement> {
  const row = isId("stl", settlementId)
    ? await findSettlement(ctx.db, visible, settlementId)
    : undefined;
  if (!row) throw notFound("settlement_id");
  const legs = await listLegs(ctx.db, [settlementId]);
  const parties = await loadParties(ctx.db, [row], { legs, now: ctx.now() });
  return viewSettlement(row, legs, { visible, parties, now: ctx.now() });
}

/** The desk's settlements, newest first, as JSON or as a file with a row for each credit. */
export const settlementsOfDesk = deskPages({
  name: "settlements",
  query: settlementFilters,
  of: Settlement,
  order: "Newest first.",
  title: "Settlements",
  columns: [
    { name: "settlement_id", kind: "text", width: 34 },
    { name: "cross_id", kind: "text" },
    { name: "scheme", kind: "text", width: 9 },
    { name: "side", kind: "text", width: 7 },
    { name: "firm_id", kind: "text", width: 34 },
    { name: "status", kind: "text" },
    { name: "order_id", kind: "text", width: 34 },
    { name: "scrip_no", kind: "text", width: 24 },
    { name: "face_rupees", kind: "money" },
    { name: "price_percent", kind: "percent" },
    { name: "all_in_rupees", kind: "money" },
    { name: "credit_status", kind: "text", width: 14 },
    { name: "reason", kind: "text" },
    { name: "waiting_on", kind: "text", width: 12 },
    { name: "due_at", kind: "time" },
    { name: "created_at", kind: "time" },
    { name: "updated_at", kind: "time" },
  ],
  toLines: ({ sides, ...settlement }) =>
    sides.flatMap(({ legs, ...side }) =>
      legs.map((leg) => ({
        ...settlement,
        ...side,
        ...leg,
        status: side.status,
        credit_status: leg.status,
        reason: leg.reason ?? settlement.reason,
      })),
    ),
  read: async (ctx, caller, query) => await listVisibleSettlements(ctx, visibleTo(caller), query),
});

export async function listVisibleSettlements(
  ctx: Context,
  visible: Visibility,
  query: SettlementsAsked,
): Promise<Page<Settlement>> {
  const { deskId } = visible;
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const filter = toFilter(visible, query);
  const question = { list: "settlements", desk: deskId, firm: visible.firmId ?? "", ...filters };
  const page = await readPage(
    { query, question, signingKey: ctx.cursorKey },
    {
      list: (request) => listSettlementRows(ctx.db.planned, deskId, filter, request),
      count: () => countSettlements(ctx.db.planned, deskId, filter),
      toPosition: (row) => ({ at: row.created_at, id: row.settlement_id }),
    },
  );
  const legs = await listLegs(
    ctx.db.planned,
    page.rows.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  const parties = await loadParties(ctx.db.planned, page.rows, { legs, now: ctx.now() });
  const viewed = { visible, parties, now: ctx.now() };
  const view = (row: SettlementRow) =>
    viewSettlement(row, legsById.get(row.settlement_id) ?? [], viewed);
  return { ...page, rows: await mapPaced(page.rows, view, openPace()) };
}

type SettlementsAsked = Static<TObject<typeof settlementFilters>> & PageQuery;

type SettlementNarrower = { readonly status: SettlementState; readonly orderId: string };

/** A settlement with both sides of its legs, as only the operator sees it. */
export type { Settlement } from "./schema.ts";

type WholeSettlement = Omit<SettlementRow, "origin_kind" | "history"> & {
  readonly history: readonly Step<SettlementState>[];
  readonly legs: readonly LegRow[];
};

/** Settlements of every desk, or of one, newest first, for the operator. */
export async function listAllSettlements(
  ctx: Pick<Context, "db" | "cursorKey">,
  search: ListSearch<SettlementNarrower>,
): Promise<Leaf<WholeSettlement>> {
  const { environment, deskId, firmId, from, to, status = null, orderId = null } = search;
  const page = await readLeaf<SettlementRow>(
    ctx,
    ["settlements", "settlement_id"],
    search,
    async (request) => {
      if (deskId === null) {
        const fromId = from && firstId("stl", from);
        const toId = to && firstId("stl", to);
        const ofAll = { environment, status, fromId, toId };
        return await listAllSettlementRows(ctx.db.planned, ofAll, request);
      }
      const ofDesk = { status, firmId, visibleFirmId: null, orderId, from, to };
      return await listSettlementRows(ctx.db.planned, deskId, ofDesk, request);
    },
  );
  return { ...page, rows: await addLegs(ctx.db, page.rows) };
}

export async function readAnySettlement(db: Db, settlementId: string): Promise<WholeSettlement> {
  const row = await findAnySettlement(db, settlementId);
  const [whole] = row ? await addLegs(db, [row]) : [];
  if (!whole) throw noSettlement(settlementId);
  return whole;
}

async function addLegs(db: Db, rows: readonly SettlementRow[]): Promise<WholeSettlement[]> {
  const legs = await listLegs(
    db,
    rows.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  return rows.map(({ origin_kind: _kind, ...row }) => ({
    ...row,
    history: readSteps(row.history),
    legs: legsById.get(row.settlement_id) ?? [],
  }));
}

/** A settlement, whose move is awaited, and what each side has to do, as only the operator sees it. */
type FollowedSettlement = WholeSettlement & {
  readonly waiting_on: WaitingOn;
  readonly late: boolean;
  readonly tasks: readonly (ReturnType<typeof viewTask> & {
    readonly firm_iec: string | null;
    readonly instructions: ReturnType<typeof instruct>;
  })[];
  readonly allowed_actions: readonly DealAct[];
};

/** A settlement with what it waits for, for the operator. */
export async function followSettlement(
  ctx: Pick<Context, "db" | "now">,
  settlementId: string,
): Promise<FollowedSettlement> {
  const [followed] = await follow(ctx, [await readAnySettlement(ctx.db, settlementId)]);
  if (!followed) throw noSettlement(settlementId);
  return followed;
}

async function follow(
  ctx: Pick<Context, "db" | "now">,
  settlements: readonly WholeSettlement[],
): Promise<FollowedSettlement[]> {
  const now = ctx.now();
  const allLegs = settlements.flatMap(({ legs }) => legs);
  const parties = await loadParties(ctx.db, settlements, { legs: allLegs, now });
  return settlements.map((settlement) => {
    const tasks = listAllTasks({ settlement, legs: settlement.legs }, now).map((task) => ({
      ...viewTask(settlement.settlement_id, task),
      firm_iec: parties.byFirm.get(task.firmId)?.iec ?? null,
      instructions: instruct(settlement, task, parties),
    }));
    const houseInitiates = tasks.some(
      ({ kind, by, status }) =>
        kind === "initiate" && by === "house" && (status === "waiting" || status === "late"),
    );
    return {
      ...settlement,
      waiting_on: findAwaitedParty(settlement.state, settlement.legs),
      late: isLate(settlement, now),
      tasks,
      allowed_actions: listDealActs(settlement, houseInitiates),
    };
  });
}

/** What is open, the most overdue first, for the operator. */
export async function listSettlementQueue(
  ctx: Pick<Context, "db" | "now">,
  {
    environment,
    after,
    limit,
  }: {
    readonly environment: Environment;
    /** Only those that are due after this one. */
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<FollowedSettlement[]> {
  const rows = await listQueueRows(ctx.db.planned, { environment, after: after ?? null, limit });
  return await follow(ctx, await addLegs(ctx.db, rows));
}

/** Bounds of an open deal's days: those of today, of three days and of a week. */
const ageBounds = [1, 3, 7];

/** Everything that is open, by how long ago it was made. */
export async function sumOpenDealsByAge(
  { db, now }: Pick<Context, "db" | "now">,
  environment: Environment,
): Promise<DayBand[]> {
  const asked = { now: now(), bounds: ageBounds };
  return listDayBands(ageBounds, await sumOpenByAge(db.planned, environment, asked));
}

/** An order and its settlements. */
type DealtOrder = {
  readonly order_id: string;
  readonly settlement_ids: readonly string[];
};

/** The state of an order's deals. */
export type OrderStanding = {
  /** By settlement: the state of the order's own legs. */
  readonly states: ReadonlyMap<string, SettlementState>;
  /** The money paid for delivered credits. */
  readonly settledPaise: number;
  /** The face that was delivered or still may be. */
  readonly standingPaise: number;
};

/** By order; an order without deals is left out. */
export async function findOrderStandings(
  db: Db,
  orders: readonly DealtOrder[],
): Promise<ReadonlyMap<string, OrderStanding>> {
  const dealt = orders.filter(({ settlement_ids }) => settlement_ids.length > 0);
  if (dealt.length === 0) return new Map();
  return await db.run(loadOrderStandings(dealt.map(({ order_id }) => order_id)));
}

/** The same for who has only the ids of the orders. */
export function loadOrderStandings(
  orderIds: readonly string[],
): Query<ReadonlyMap<string, OrderStanding>> {
  return listOrderLegs(orderIds).map(
    (rows) =>
      new Map(
        [...Map.groupBy(rows, (row) => row.order_id)].map(([orderId, own]) => [
          orderId,
          {
            states: new Map(
              own.map((row) => [
                row.settlement_id,
                findSideState(
                  row.state,
                  row.leg_states.map((state) => ({ state })),
                ),
              ]),
            ),
            settledPaise: sumParts(own.map((row) => row.settled_paise)),
            standingPaise: sumParts(own.map((row) => row.standing_paise)),
          },
        ]),
      ),
  );
}

/** Whether anything the order dealt was delivered or still may be. */
export function hasStanding({ states }: OrderStanding): boolean {
  return [...states.values()].some((state) => state !== "failed");
}

/** The deals from one instant up to but not including another, oldest first. */
export async function listDealsBetween(
  db: Db,
  span: {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<readonly DealRow[]> {
  return await listDeals(db, span);
}

/** A leg with its buyer. */
export type DealtLeg = LegRow & { readonly buyer_firm_id: string };

/** Bounds one statement: decoding more rows at once would block the event loop. */
const settlementsAtOnce = 250;

/** Legs by settlement, for reports. */
export async function listLegsBySettlement(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, readonly DealtLeg[]>> {
  const legs: DealtLeg[] = [];
  for (let from = 0; from < settlementIds.length; from += settlementsAtOnce) {
    const some = settlementIds.slice(from, from + settlementsAtOnce);
    legs.push(...(await listDealtLegs(db, some)));
  }
  return Map.groupBy(legs, (leg) => leg.settlement_id);
}

/** The time of the first deal of a scheme. */
export async function findFirstDeal(
  db: Db,
  market: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<Date | undefined> {
  return await findFirstDealAt(db, market);
}

/**
 * The account while a deal waits for its money, and the parties while it is carried out: nobody reads of
 * another firm before or after.
 */
export async function loadParties(
  db: Db,
  settlements: readonly Pick<
    SettlementRow,
    "settlement_id" | "environment" | "state" | "buyer_firm_id"
  >[],
  { legs, now }: { readonly legs: readonly LegRow[]; readonly now: Date },
): Promise<PortalParties> {
  const open = settlements.filter(({ state }) => isOpen(state));
  const [first] = open;
  if (!first) return { byFirm: new Map(), bank: null };
  const house = await findHouse(db, first.environment, istDay(now));
  const paid = open.filter(({ state }) => state !== "pending");
  const ids = new Set(paid.map(({ settlement_id }) => settlement_id));
  const byFirm = await findPortalParties(db, [
    ...paid.map(({ buyer_firm_id }) => buyer_firm_id),
    ...legs.filter((leg) => ids.has(leg.settlement_id)).map((leg) => leg.seller_firm_id),
  ]);
  const ownName = { iec: house?.iec ?? null, name: house?.legal_name ?? null };
  const houseId = houseFirmId[first.environment];
  return { byFirm: new Map([...byFirm, [houseId, ownName]]), bank: house?.bank ?? null };
}

/** Who reads a settlement, and what it needs beside the row and its legs. */
type Viewing = {
  readonly visible: Visibility;
  readonly parties: PortalParties;
  readonly now: Date;
};

/** A settlement as one party sees it: the sides of its own firms, at their own prices. */
export function viewSettlement(
  row: SettlementRow,
  legs: readonly LegRow[],
  { visible, parties, now }: Viewing,
): Settlement {
  const own = listSides(row, legs).filter((side) => isVisible(visible, side));
  const ownLegs = own.flatMap((side) => side.legs);
  const status = findSideState(row.state, ownLegs);
  const isOver = !isOpen(status);
  return {
    settlement_id: row.settlement_id,
    // Both sides of a cross may see its id; an order's id belongs to one desk.
    cross_id: row.origin_kind === "cross" ? row.origin : null,
    scheme: row.scheme,
    status,
    reason: findReason(row, ownLegs, status),
    failed_step: findFailedStep(ownLegs, status),
    waiting_on: findAwaitedParty(status, ownLegs),
    due_at: isOver ? null : row.due_at && istTimestamp(row.due_at),
    late: !isOver && isLate(row, now),
    sides: own.map((side) => viewSide(row, side)),
    tasks: listTasks({ settlement: row, legs }, now)
      .filter((task) => isVisible(visible, task))
      .map((task) => ({
        ...viewTask(row.settlement_id, task),
        instructions: instruct(row, task, parties),
      })),
    history: buildHistory(row, ownLegs),
    version: row.version,
    allowed_actions: allowedActions(settlementLifecycle, status),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

function toFilter(visible: Visibility, query: SettlementsAsked): SettlementFilter {
  return {
    status: query.status ?? null,
    firmId: toFirmFilter(visible, query.firm_id),
    visibleFirmId: visible.firmId,
    orderId: query.order_id ?? null,
    from: parseQueryInstant("from", query.from),
    to: parseQueryInstant("to", query.to),
  };
}

/** The history for these legs: the steps up to their own end, and a reversal of delivered ones. */
function buildHistory(row: SettlementRow, legs: readonly LegRow[]): Step<SettlementState>[] {
  const steps = readSteps(row.history);
  if (legs.some((leg) => isOpenLeg(leg.state))) return steps;
  const answered = legs.flatMap((leg) => leg.answered_at?.getTime() ?? []);
  const at = istTimestamp(new Date(Math.max(...answered)));
  const before = steps.filter((step) => isOpen(step.status) && step.at <= at);
  const reversed = steps.filter((step) => step.status === "reversed");
  const wasInitiated = before.some((step) => step.status === "transfer_initiated");
  const ends = listMoves(wasInitiated ? "transfer_initiated" : "funded", legs).map((action) => {
    const status = settlementLifecycle.moves[action].to;
    return { status, at, reason: findReason(row, legs, status) };
  });
  const isFailed = ends.some(({ status }) => status === "failed");
  return [...before, ...ends, ...(isFailed ? [] : reversed)];
}

function viewSide(row: SettlementRow, side: SettlementSide): Settlement["sides"][number] {
  return {
    side: side.side,
    firm_id: side.firmId,
    order_ids: listOrderIds(side, row),
    status: findSideState(row.state, side.legs),
    ...sumSide(side),
    legs: side.legs.map((leg) => ({
      scrip_no: leg.scrip_no,
      order_id: side.side === "buy" ? row.buyer_order_id : leg.seller_order_id,
      face_paise: leg.face_paise,
      ...toSideMoney(side, leg),
      status: leg.state,
      reason: leg.reason,
      default_by: leg.default_by,
      default_paise: leg.default_paise,
    })),
  };
}
