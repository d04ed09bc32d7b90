// A view shows the caller's sides of a cross. A proposal to another desk has no firm on its other side
// yet, only `awaited_iec`: a desk with a firm of that IEC, authorized before the proposal was made,
// finds it by a join and is told by events. The first to answer is written into the row; for the
// others the cross is not there.

import type { Static, TObject } from "typebox";

import type { Change } from "../kernel/actor.ts";
import type { Caller } from "../kernel/caller.ts";
import type { ListSearch } from "../kernel/desk-search.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { firstId, isId } from "../kernel/ids.ts";
import { feeWithin, priceCeil } from "../kernel/money.ts";
import { type Leaf, type Page, type PageQuery, readLeaf, readPage } from "../kernel/page.ts";
import type { Side } from "../kernel/scheme.ts";
import { istTimestamp } from "../kernel/time.ts";
import { isVisible, type Visibility, toFirmFilter, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { findSettlementStates } from "../settlement/move-settlement.ts";
import {
  countCrosses,
  type CrossFilter,
  findCross,
  type FoundCross,
  listAllCrossRows,
  listCrossRows,
  listCrossRowsOfDesk,
} from "./read-store.ts";
import {
  listAllowedActions,
  type CrossState,
  stateEvents,
  otherSide,
  type Standing,
  findWaitingOn,
} from "./rules.ts";
import { Cross, crossFilters } from "./schema.ts";
import { type AddressedFirm, type CrossRow, findAnyCross } from "./store.ts";

export async function readCross(ctx: Context, caller: Caller, crossId: string): Promise<Cross> {
  return await requireCross(ctx.db, caller, crossId);
}

/** A cross as the caller sees it, also inside a transaction. */
export async function requireCross(db: Db, caller: Caller, crossId: string): Promise<Cross> {
  const visible = visibleTo(caller);
  const row = isId("crs", crossId) ? await findCross(db, visible, crossId) : undefined;
  const [cross] = row ? await viewCrosses(db, [row], visible) : [];
  if (!cross) throw notFound("cross_id");
  return cross;
}

export const crossesOfDesk = deskPages({
  name: "crosses",
  query: crossFilters,
  of: Cross,
  order: "Newest first.",
  read: readCrosses,
});

async function readCrosses(
  ctx: Context,
  caller: Caller,
  query: CrossesAsked,
): Promise<Page<Cross>> {
  const visible = visibleTo(caller);
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const filter = buildFilter(visible, query);
  const question = {
    list: "crosses",
    desk: visible.deskId,
    firm: visible.firmId ?? "",
    ...filters,
  };
  const page = await readPage(
    { query, question, signingKey: ctx.cursorKey },
    {
      list: (request) => listCrossRows(ctx.db.planned, visible, filter, request),
      count: () => countCrosses(ctx.db.planned, visible, filter),
      toPosition: (row) => ({ at: row.created_at, id: row.cross_id }),
    },
  );
  return { ...page, rows: await viewCrosses(ctx.db.planned, page.rows, visible) };
}

type CrossesAsked = Static<TObject<typeof crossFilters>> & PageQuery;

/** Crosses of every desk, or of one, with both sides, newest first, for the operator. */
export async function listAllCrosses(
  ctx: Pick<Context, "db" | "cursorKey">,
  search: ListSearch<{ readonly status: CrossState }>,
): Promise<Leaf<CrossRow>> {
  const { environment, deskId, from, to, status = null } = search;
  return await readLeaf<CrossRow>(ctx, ["crosses", "cross_id"], search, async (request) => {
    if (deskId !== null) {
      return await listCrossRowsOfDesk(ctx.db.planned, { ...search, status }, request);
    }
    const fromId = from && firstId("crs", from);
    const toId = to && firstId("crs", to);
    const ofAll = { environment, status, fromId, toId };
    return await listAllCrossRows(ctx.db.planned, ofAll, request);
  });
}

export async function readAnyCross(db: Db, crossId: string): Promise<CrossRow> {
  const row = await findAnyCross(db, crossId);
  if (!row) throw new Failure("not_found", `no cross ${crossId}`);
  return row;
}

export function findStanding(row: FoundCross, visible: Visibility): Standing {
  const sides = listOwnSides(row, visible).map(({ side }) => side);
  return { state: row.state, proposedBy: row.proposed_by, sides };
}

/**
 * One change per side of the cross, for the desk of that side. A proposal is also recorded for
 * every firm that could answer it.
 */
export function buildCrossChanges({
  action,
  isTold = true,
  before,
  after,
  addressed = [],
}: {
  readonly action: string;
  /** Whether there is an event; every change of state has one. */
  readonly isTold?: boolean;
  readonly before: CrossRow | null;
  readonly after: CrossRow;
  readonly addressed?: readonly AddressedFirm[];
}): Change[] {
  const awaited = addressed
    .filter(({ iec, authorized_at }) => {
      // A firm that was authorized after the proposal must not learn of it.
      return iec === after.awaited_iec && authorized_at <= after.created_at;
    })
    .map(({ desk_id, firm_id }) => ({
      side: otherSide(after.proposed_by),
      deskId: desk_id,
      firmId: firm_id,
    }));
  return [...listSides(after), ...awaited].map(({ side, deskId, firmId }) => ({
    environment: after.environment,
    deskId,
    firmId,
    action: `cross.${action}`,
    entity: {
      type: "cross",
      id: after.cross_id,
      version: after.version,
      href: `/v1/cross/${after.cross_id}`,
    },
    before: before && describeSide(side, before),
    after: describeSide(side, after),
    ...(isTold && {
      event: {
        name: stateEvents[after.state],
        from: before?.state ?? null,
        to: after.state,
        data: describeSide(side, after),
      },
    }),
  }));
}

/** Shows a set of crosses; the state of a settlement is read from the settlement. */
async function viewCrosses(
  db: Db,
  rows: readonly FoundCross[],
  visible: Visibility,
): Promise<Cross[]> {
  const states = await findSettlementStates(
    db,
    rows.flatMap((row) => row.settlement_id ?? []),
  );
  const view = (row: FoundCross) =>
    viewCross(row, visible, states.get(row.settlement_id ?? "") ?? null);
  return await mapPaced(rows, view, openPace());
}

/** A cross as a caller sees it: its own sides only. */
function viewCross(row: FoundCross, visible: Visibility, settlementStatus: string | null): Cross {
  const sides = listOwnSides(row, visible);
  const [own] = sides;
  if (!own) throw new Error("a cross is shown to those who have a side in it");
  const { feePaise, gstPaise } = feeWithin(priceCeil(row.face_paise, row.fee_bps), row.gst_bps);
  const fee = { fee_paise: feePaise, gst_paise: gstPaise };
  return {
    cross_id: row.cross_id,
    kind: row.kind,
    side: own.side,
    firm_id: own.firmId,
    counterparty_iec: counterpartyIec(row, own.side),
    scheme: row.scheme,
    scrip_nos: [...row.scrip_nos],
    face_paise: row.face_paise,
    price_bps: row.price_bps,
    ...fee,
    all_in_paise: allInPaise(row, own.side),
    sides: sides.map(({ side, firmId }) => ({
      side,
      firm_id: firmId,
      ...fee,
      all_in_paise: allInPaise(row, side),
    })),
    terms_hash: row.terms_hash,
    status: row.state,
    reason: row.reason,
    waiting_on: findWaitingOn(row),
    due_at: row.due_at && istTimestamp(row.due_at),
    payment_ref: sides.some(({ side }) => side === "buy") ? row.payment_ref : null,
    settlement_id: row.settlement_id,
    settlement_status: settlementStatus,
    netting_ref: row.netting_ref,
    history: [...row.history],
    version: row.version,
    allowed_actions: listAllowedActions(findStanding(row, visible)),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

/** A side of a cross that the caller has, or would take by accepting. */
type OwnSide = { readonly side: Side; readonly firmId: string };

/** The caller's sides, the proposing one first. */
function listOwnSides(row: FoundCross, visible: Visibility): OwnSide[] {
  const known = listSides(row).filter((side) => isVisible(visible, side));
  const addressed =
    row.addressed_firm_id === null
      ? []
      : [{ side: otherSide(row.proposed_by), firmId: row.addressed_firm_id }];
  const isFirst = ({ side }: OwnSide) => side === row.proposed_by;
  return [...known, ...addressed].toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
}

type SideOfCross = {
  readonly side: Side;
  readonly deskId: string;
  readonly firmId: string;
};

/** The sides whose firms are known. */
function listSides(row: CrossRow): SideOfCross[] {
  const { seller_desk_id, seller_firm_id, buyer_desk_id, buyer_firm_id } = row;
  return [
    ...(seller_desk_id !== null && seller_firm_id !== null
      ? [{ side: "sell" as const, deskId: seller_desk_id, firmId: seller_firm_id }]
      : []),
    ...(buyer_desk_id !== null && buyer_firm_id !== null
      ? [{ side: "buy" as const, deskId: buyer_desk_id, firmId: buyer_firm_id }]
      : []),
  ];
}

function counterpartyIec(row: CrossRow, side: Side): string {
  return side === "sell" ? row.buyer_iec : row.seller_iec;
}

/** What a side pays or gets, fees included. */
function allInPaise(row: CrossRow, side: Side): number {
  return side === "sell" ? row.seller_paise : row.buyer_paise;
}

function buildFilter(visible: Visibility, query: CrossesAsked): CrossFilter {
  return {
    status: query.status ?? null,
    kind: query.kind ?? null,
    firmId: toFirmFilter(visible, query.firm_id),
    nettingRef: query.netting_ref ?? null,
  };
}

function describeSide(side: Side, row: CrossRow): object {
  return {
    kind: row.kind,
    side,
    counterparty_iec: counterpartyIec(row, side),
    scheme: row.scheme,
    scrip_nos: row.scrip_nos,
    face_paise: row.face_paise,
    price_bps: row.price_bps,
    all_in_paise: allInPaise(row, side),
    terms_hash: row.terms_hash,
    payment_ref: side === "buy" ? row.payment_ref : null,
    settlement_id: row.settlement_id,
    netting_ref: row.netting_ref,
    status: row.state,
    reason: row.reason,
  };
}
