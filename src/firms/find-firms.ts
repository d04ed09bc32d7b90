// How firms are found: by the caller that sees them, by desk, by id across desks. `require…`
// refuses with 404 when there is none; `Requester` is the one who asks for a change of a firm.

import { type Actor, toActor, operator } from "../kernel/actor.ts";
import type { Call, Caller, Environment } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { isVisible, type Visibility, visibleTo } from "../kernel/visibility.ts";
import type { Db, Query, Tx } from "../platform/postgres/postgres.ts";
import type { Ownership } from "./rules.ts";
import {
  findDeskOfFirm,
  findFirm,
  type FirmRow,
  listFirmsById,
  listIdentities,
  listOwnerships,
  lockFirm,
  lockFirmsForShare,
} from "./store.ts";

/** A firm that the service's own records refer to; a missing one is a fault. */
export async function loadFirm(db: Db, firmId: string): Promise<FirmOfDesk> {
  const [firm] = await listFirmsById(db, [firmId]);
  if (!firm) throw new Error(`${firmId} is in the books and not among the firms`);
  return firm;
}

/** A firm that the caller can see. */
export async function requireVisibleFirm(db: Db, caller: Caller, firmId: string): Promise<FirmRow> {
  if (!isVisible(visibleTo(caller), { deskId: caller.deskId, firmId })) throw notFound();
  return await requireFirmOfDesk(db, caller.deskId, firmId);
}

/** The same, locked. */
export async function lockVisibleFirm(tx: Tx, caller: Caller, firmId: string): Promise<FirmRow> {
  await requireVisibleFirm(tx, caller, firmId);
  const firm = await lockFirm(tx, caller.deskId, firmId);
  if (!firm) throw notFound();
  return firm;
}

/** Refuses new business for a firm that has left its desk; such a firm stays readable. */
export function refuseOffboarded({ connection_state }: Pick<FirmRow, "connection_state">): void {
  if (connection_state !== "offboarded") return;
  throw new Failure("conflict", "the firm has left your desk", {
    detail: { reason: "firm_offboarded", state: connection_state, allowed_actions: [] },
  });
}

/** A firm as other rooms see it. */
export type FirmOfDesk = FirmRow;

/** A firm of this desk. */
export async function requireFirmOfDesk(db: Db, deskId: string, firmId: string): Promise<FirmRow> {
  const firm = isId("frm", firmId) ? await findFirm(db, deskId, firmId) : undefined;
  if (!firm) throw notFound();
  return firm;
}

/** A firm of any desk, for the operator. */
export async function requireAnyFirm(db: Db, firmId: string): Promise<FirmRow> {
  const [firm] = await listFirmsById(db, [firmId]);
  if (!firm) throw noFirm(firmId);
  return firm;
}

/** The refusal of an operator's act on a firm of no desk. */
export function noFirm(firmId: string): Failure {
  return new Failure("not_found", `no firm ${firmId}`);
}

export async function findEnvironment(db: Db, firmId: string): Promise<Environment | undefined> {
  const [firm] = await listFirmsById(db, [firmId]);
  return firm?.environment;
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

/** The PANs of firms: two firms of one PAN are one company, whatever their desks. */
export async function findPans(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (firmIds.length === 0) return new Map();
  const rows = await db.run(listIdentities(firmIds));
  return new Map(rows.map((row) => [row.firm_id, row.pan]));
}

export function findIecs(firmIds: readonly string[]): Query<ReadonlyMap<string, string | null>> {
  return listIdentities(firmIds).map((rows) => new Map(rows.map((row) => [row.firm_id, row.iec])));
}

export async function findTaxpayers(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, Pick<FirmRow, "pan" | "gstin">>> {
  if (firmIds.length === 0) return new Map();
  const rows = await listFirmsById(db, firmIds);
  return new Map(rows.map(({ firm_id, pan, gstin }) => [firm_id, { pan, gstin }]));
}

/** Who asks for a change of a firm: a caller, the operator or a worker. */
export type Requester = {
  readonly actor: Actor;
  readonly visible: Visibility;
  readonly dryRun: boolean;
};

export function toRequester(call: Call): Requester {
  return { actor: toActor(call), visible: visibleTo(call.caller), dryRun: call.dryRun };
}

/** The operator belongs to no desk and acts on the desk of the firm. */
export async function toOperatorRequester(
  { db }: { readonly db: Db },
  firmId: string,
  actor = operator,
): Promise<Requester> {
  const deskId = (await findDeskOfFirm(db, firmId)) ?? "";
  return { actor, visible: { deskId, firmId: null }, dryRun: false };
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
