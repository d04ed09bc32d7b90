// How deals find, lock, reserve and release credits. `lock…` waits for other transactions, `claim…`
// skips what they have locked, `find…` takes no lock.

import type { Caller, Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { addDays, type IstDay } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import { type Db, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import {
  claimForSale as claimForSaleRows,
  claimLiveByNumber,
  type CreditForSale as Found,
  type DealtRow,
  findLiveByNumber,
  type ListedCredit,
  listForSale,
  listListedOfFirm,
  lockForSale as lockForSaleRows,
  lockLiveByNumber,
  lockReserved,
  releaseReserved as releaseRows,
  type Reservation,
  reserveCredits as reserveRows,
  type ReservedNumber,
} from "./deal-store.ts";
import { resolveScripNo, normalizeScripNo } from "./rules.ts";
import type { CreditRow } from "./store.ts";

export type { ListedCredit };

/** A credit as deals see it. */
export type DealtCredit = DealtRow;

/** A credit with the start of its holding. */
export type LockedCredit = DealtRow & Pick<CreditRow, "created_at">;

/** Credits by id, locked. */
export async function lockForSale(
  tx: Tx,
  creditIds: readonly string[],
): Promise<ReadonlyMap<string, DealtCredit>> {
  if (creditIds.length === 0) return new Map();
  const rows = await lockForSaleRows(tx, [...new Set(creditIds)]);
  return new Map(rows.map((row) => [row.credit_id, row]));
}

/** The same, skipping locked ones: matching never waits for a credit. */
export function claimForSale(
  creditIds: readonly string[],
): Query<ReadonlyMap<string, DealtCredit>> {
  if (creditIds.length === 0) return known(new Map());
  return claimForSaleRows([...new Set(creditIds)]).map(
    (rows) => new Map(rows.map((row) => [row.credit_id, row])),
  );
}

/** The live holdings of these numbers, of any firm, locked. */
export async function lockOffered(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
): Promise<ReadonlyMap<string, LockedCredit>> {
  if (scripNos.length === 0) return new Map();
  const rows = await lockLiveByNumber(tx, environment, scripNos);
  return new Map(rows.map((row) => [row.scrip_no, row]));
}

/** The same without waiting: the free ones, and the numbers that are locked elsewhere. */
export async function claimOffered(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
): Promise<{ readonly free: readonly LockedCredit[]; readonly held: readonly string[] }> {
  if (scripNos.length === 0) return { free: [], held: [] };
  const rows = await claimLiveByNumber(tx, environment, scripNos);
  return {
    free: rows.flatMap((row) => (row.credit_id === null ? [] : [row])),
    held: rows.flatMap((row) => (row.credit_id === null ? [row.asked] : [])),
  };
}

/** The same without a lock. */
export async function findOffered(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<ReadonlyMap<string, DealtCredit>> {
  if (scripNos.length === 0) return new Map();
  const rows = await findLiveByNumber(db, environment, scripNos);
  return new Map(rows.map((row) => [row.scrip_no, row]));
}

/** An order by amount considers at most this many credits of a firm, the largest. */
const candidatesMax = 2_000;

/** A firm's listed credits with enough days left, without a lock: check again once locked. */
export function findDeliverable({
  firmId,
  scheme,
  daysMin,
  today,
}: {
  readonly firmId: string;
  readonly scheme: Scheme;
  readonly daysMin: number;
  readonly today: IstDay;
}): Query<readonly ListedCredit[]> {
  const expiresFrom = addDays(today, daysMin);
  return listListedOfFirm({ firmId, scheme, expiresFrom, limit: candidatesMax });
}

/** Reserves locked, listed credits: one reservation per credit. */
export function reserveCredits(reservations: readonly Reservation[], now: Date): Query<void> {
  if (reservations.length === 0) return known(undefined);
  return reserveRows(reservations, now).map((reserved) => {
    if (reserved !== reservations.length) throw new Error("a locked credit stays listed");
  });
}

/** Releases credits of deals or orders; the clock expires those past their last day. */
export async function releaseCredits(
  tx: Tx,
  released: readonly ReservedNumber[],
  now: Date,
): Promise<void> {
  if (released.length === 0) return;
  const held = await lockReserved(tx, released);
  await releaseRows(
    tx,
    held.map((row) => row.credit_id),
    now,
  );
}

/** A credit found by its number. */
export type FoundCredit = Found;

/** Resolves each caller's scrip number, in one statement; undefined when the caller has none. */
export function findForSale(
  asked: readonly {
    readonly caller: Caller;
    readonly scripNo: string;
    /** Only holdings of this firm, among those that the caller sees. */
    readonly firmId?: string | null;
  }[],
): Query<readonly (FoundCredit | undefined)[]> {
  const numbersByDesk = new Map<string, Set<string>>();
  const names = asked.map(({ caller: { deskId }, scripNo: text }) => {
    const scripNo = normalizeScripNo(text);
    if (scripNo === undefined) return undefined;
    const numbers = numbersByDesk.get(deskId) ?? new Set();
    numbersByDesk.set(deskId, numbers.add(scripNo));
    return toKey(deskId, scripNo);
  });
  if (numbersByDesk.size === 0) return known(asked.map(() => undefined));
  return listForSale(numbersByDesk).map((rows) => {
    const held = Map.groupBy(rows, (row) => toKey(row.desk_id, row.scrip_no));
    return asked.map(({ caller, firmId = null }, at) =>
      resolveScripNo(held.get(names[at] ?? "") ?? [], visibleTo(caller).firmId ?? firmId),
    );
  });
}

/** Keyed by desk too, so that no caller of the set finds another desk's credit. */
function toKey(deskId: string, scripNo: string): string {
  return `${deskId} ${scripNo}`;
}
