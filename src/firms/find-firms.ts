// Reads firms: for their desk, for other rooms and for the operator. `require…` refuses with 404 when
// there is none; `Requester` is the one who asks for a change of a firm.

import { type Actor, operator, toActor } from "../kernel/actor.ts";
import type { Caller, Environment } from "../kernel/caller.ts";
import type { Permit, PermittedCall } from "../secondkeys/gate.ts";
import type { ListSearch } from "../kernel/desk-search.ts";
import { loadHouse } from "../house/read-house.ts";
import type { HouseInLaw } from "../house/rules.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { houseFirmId, isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { type Leaf, readLeaf } from "../kernel/page.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { isVisible, type Visibility, visibleTo } from "../kernel/visibility.ts";
import { listPortStatus } from "../outside/ask.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { all, type Db, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { listHolds } from "./hold-rules.ts";
import { maskAccountNo } from "../kernel/identifiers.ts";
import { deskListing } from "../platform/sheets/list-file.ts";
import { firmLifecycle, type FirmState, type Ownership, type PortalParty } from "./rules.ts";
import { type Connection, Firm } from "./schema.ts";
import {
  countDesks as countRows,
  findDeskOfFirm,
  findFirm,
  firmList,
  type FirmOfDeskRow,
  type FirmRow,
  listAllFirmRows,
  listFirmsById,
  listFirmsOfPan,
  listIdentities,
  listOwnerships,
  listSelfInitiating,
  lockFirm,
  lockFirmsForShare,
} from "./store.ts";

export async function readFirm(ctx: Context, caller: Caller, firmId: string): Promise<Firm> {
  return viewFirm(await requireVisibleFirm(ctx.db, caller, firmId), ctx.now());
}

export const firmsOfDesk = deskListing(firmList, {
  of: Firm,
  order: "Newest first; your desk's own firm is one of them.",
  view: async (ctx, rows) => {
    const now = ctx.now();
    return await mapPaced(rows, (row) => viewFirm(row, now), openPace());
  },
});

/** Every desk's firms, or those of one, newest first, for the operator. */
export async function listAllFirms(
  ctx: Pick<Context, "db" | "now" | "cursorKey">,
  search: ListSearch<{ readonly connectionState: FirmState }>,
): Promise<Leaf<{ desk_name: string; firm: Firm }>> {
  const now = ctx.now();
  const filter = { ...search, connectionState: search.connectionState ?? null };
  const page = await readLeaf<FirmOfDeskRow>(ctx, ["firms", "firm_id"], search, (request) =>
    listAllFirmRows(ctx.db.planned, filter, request),
  );
  const view = (row: FirmOfDeskRow) => ({ desk_name: row.desk_name, firm: viewFirm(row, now) });
  return { ...page, rows: page.rows.map(view) };
}

export async function readConnection(
  ctx: Context,
  caller: Caller,
  firmId: string,
): Promise<Connection> {
  const now = ctx.now();
  const firm = await requireVisibleFirm(ctx.db, caller, firmId);
  return {
    firm_id: firm.firm_id,
    ...viewState(firm, now),
    ports: await listPortStatus(ctx.db, firm.environment),
    as_of: istTimestamp(now),
  };
}

export async function countDesks({ db }: Pick<Context, "db">): Promise<number> {
  return await countRows(db);
}

/** A firm as other rooms see it. */
export type FirmOfDesk = FirmRow;

/** A firm that the service's own records refer to; a missing one is a fault. */
export async function loadFirm(db: Db, firmId: string): Promise<FirmOfDesk> {
  const [firm] = await listFirmsById(db, [firmId]);
  if (!firm) throw new Error(`${firmId} is in the books and not among the firms`);
  return firm;
}

/** A firm that the caller can see. */
export async function requireVisibleFirm(
  db: Db,
  caller: Caller,
  firmId: string,
  field = "firm_id",
): Promise<FirmRow> {
  if (!isVisible(visibleTo(caller), { deskId: caller.deskId, firmId })) throw notFound(field);
  return await requireFirmOfDesk(db, caller.deskId, firmId, field);
}

/** The same, locked. */
export async function lockVisibleFirm(tx: Tx, caller: Caller, firmId: string): Promise<FirmRow> {
  await requireVisibleFirm(tx, caller, firmId);
  const firm = await lockFirm(tx, caller.deskId, firmId);
  if (!firm) throw notFound("firm_id");
  return firm;
}

/** A firm of this desk. */
export async function requireFirmOfDesk(
  db: Db,
  deskId: string,
  firmId: string,
  field = "firm_id",
): Promise<FirmRow> {
  const firm = isId("frm", firmId) ? await findFirm(db, deskId, firmId) : undefined;
  if (!firm) throw notFound(field);
  return firm;
}

/** A firm of any desk, for the operator. */
export async function requireAnyFirm(db: Db, firmId: string): Promise<FirmRow> {
  const [firm] = await listFirmsById(db, [firmId]);
  if (!firm) throw noFirm(firmId);
  return firm;
}

/** The client firms of the house's PAN: the house is no client of its own. */
export async function listFirmsOfHouse(
  db: Db,
  { environment, pan }: Pick<HouseInLaw, "environment" | "pan">,
): Promise<readonly FirmRow[]> {
  return pan === null ? [] : await listFirmsOfPan(db, environment, pan);
}

/** The refusal of an operator's act on a firm of no desk. */
export function noFirm(firmId: string): Failure {
  return new Failure("not_found", `no firm ${firmId}`);
}

/** Reads across desks: for figures about the whole market, never for a caller's answer. */
export async function findOwnerships(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, Ownership>> {
  const rows = await listOwnerships(db, [...new Set(firmIds)]);
  return new Map(rows.map(({ firm_id, pan, group_id }) => [firm_id, { pan, groupId: group_id }]));
}

/** The columns that decide whether and with whom a firm trades. */
export type TradingFirm = Pick<
  FirmRow,
  "firm_id" | "desk_id" | "pan" | "connection_state" | "mandate" | "legal_name"
>;

/** Firms by id, locked for share until the transaction ends. */
export function lockTradingFirms(
  firmIds: readonly string[],
): Query<ReadonlyMap<string, TradingFirm>> {
  return lockFirmsForShare(firmIds).map((rows) => new Map(rows.map((row) => [row.firm_id, row])));
}

/** The same without a lock. */
export async function findTradingFirms(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, TradingFirm>> {
  if (firmIds.length === 0) return new Map();
  const rows = await listFirmsById(db, firmIds);
  return new Map(rows.map((row) => [row.firm_id, row]));
}

/** The PANs of firms: two firms of one PAN are one company, whatever their desks. */
export async function findPans(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (firmIds.length === 0) return new Map();
  const rows = await db.run(listIdentities(firmIds));
  return new Map(rows.map((row) => [row.firm_id, row.pan]));
}

/** The IECs of firms, the house's among them, as they are on the day of a transfer. */
export function findIecs(
  environment: Environment,
  firmIds: readonly string[],
  now: Date,
): Query<ReadonlyMap<string, string | null>> {
  const houseId = houseFirmId[environment];
  const house = firmIds.includes(houseId)
    ? loadHouse(environment, istDay(now))
    : known<HouseInLaw | undefined>(undefined);
  return all([listIdentities(firmIds), house]).map(
    ([rows, inLaw]) =>
      new Map([
        ...rows.map(({ firm_id, iec }) => [firm_id, iec] as const),
        [houseId, inLaw?.iec ?? null],
      ]),
  );
}

export async function findPortalParties(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, PortalParty>> {
  if (firmIds.length === 0) return new Map();
  const rows = await db.run(listIdentities([...new Set(firmIds)]));
  return new Map(rows.map((row) => [row.firm_id, { iec: row.iec, name: row.legal_name }]));
}

/** The firms of these that initiate their transfers at customs themselves, and not the house for them. */
export function findSelfInitiating(firmIds: readonly string[]): Query<ReadonlySet<string>> {
  if (firmIds.length === 0) return known(new Set());
  return listSelfInitiating([...new Set(firmIds)]).map(
    (rows) => new Set(rows.map(({ firm_id }) => firm_id)),
  );
}

export async function findTaxpayers(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, Pick<FirmRow, "firm_id" | "legal_name" | "pan" | "gstin">>> {
  if (firmIds.length === 0) return new Map();
  const rows = await listFirmsById(db, firmIds);
  const taxpayers = rows.map(({ firm_id, legal_name, pan, gstin }) => ({
    firm_id,
    legal_name,
    pan,
    gstin,
  }));
  return new Map(taxpayers.map((taxpayer) => [taxpayer.firm_id, taxpayer]));
}

/** Refuses new business for a firm that has left its desk; such a firm stays readable. */
export function refuseOffboarded({ connection_state }: Pick<FirmRow, "connection_state">): void {
  if (connection_state !== "offboarded") return;
  throw new Failure("conflict", "the firm has left your desk", {
    detail: { reason: "firm_offboarded", state: connection_state, allowed_actions: [] },
  });
}

/** Who asks for a change of a firm: a caller, the operator or a worker. */
export type Requester = {
  readonly actor: Actor;
  readonly visible: Visibility;
  readonly withdrawals: boolean;
  readonly dryRun: boolean;
  /** Of an act that two keys agreed on. */
  readonly permit?: Permit | undefined;
};

/** The firm of an act that may take a second key, and the account that its money goes to. */
export function describeGated({ desk_id, firm_id, account_id }: FirmRow) {
  return { deskId: desk_id, firmId: firm_id, fact: account_id ?? "none" };
}

export function toRequester(call: PermittedCall): Requester {
  const { caller, dryRun, permit } = call;
  const { withdrawals } = caller;
  return { actor: toActor(call), visible: visibleTo(caller), withdrawals, dryRun, permit };
}

/** The operator belongs to no desk and acts on the desk of the firm. */
export async function toOperatorRequester(
  { db }: { readonly db: Db },
  firmId: string,
  actor = operator,
): Promise<Requester> {
  const deskId = (await findDeskOfFirm(db, firmId)) ?? "";
  return { actor, visible: { deskId, firmId: null }, withdrawals: true, dryRun: false };
}

/** Only the operator resumes or offboards a firm that the operator suspended. */
export function refuseOperatorSuspension(
  { actor }: Pick<Requester, "actor">,
  { suspended_by }: { readonly suspended_by: string | null },
): void {
  if (suspended_by !== "operator" || actor.kind === "operator") return;
  throw new Failure("forbidden", "the operator suspended this firm", {
    detail: { reason: "suspended_by_operator" },
  });
}

/** A firm as its desk sees it; the account number is masked. */
export function viewFirm(row: FirmRow, now: Date): Firm {
  return {
    firm_id: row.firm_id,
    environment: row.environment,
    legal_name: row.legal_name,
    iec: row.iec,
    pan: row.pan,
    gstin: row.gstin,
    cin: row.cin,
    email: row.email,
    phone: row.phone,
    role: row.role,
    bank: viewBank(row),
    group_id: row.group_id,
    external_id: row.external_id,
    ...viewState(row, now),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

/** The fields that a firm and its connection share. */
function viewState(row: FirmRow, now: Date): Omit<Connection, "firm_id" | "ports" | "as_of"> {
  return {
    connection_state: row.connection_state,
    checks: [...row.checks],
    holds: listHolds(row, now).map(({ on, reason, until }) => ({
      on,
      reason,
      until: until && istTimestamp(until),
    })),
    mandate: row.mandate && { ...row.mandate, transfers: row.mandate.transfers ?? "house" },
    suspension:
      row.suspended_by === null
        ? null
        : { by: row.suspended_by, reason: row.suspension_reason ?? "" },
    version: row.version,
    allowed_actions: allowedActions(firmLifecycle, row.connection_state),
  };
}

/** The account as it is read: the number masked. */
export function viewBank({ bank_last4, bank_ifsc, bank_name }: FirmRow): Firm["bank"] {
  if (bank_last4 === null || bank_ifsc === null || bank_name === null) return null;
  return { account_no_masked: maskAccountNo(bank_last4), ifsc: bank_ifsc, name: bank_name };
}
