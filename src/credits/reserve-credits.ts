// What a deal needs of credits: to lock what is sold, and to reserve it.

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

/** A credit as a deal knows it. */
export type DealtCredit = DealtRow;

/** A credit and since when its firm holds it. */
export type OfferedCredit = DealtRow & Pick<CreditRow, "created_at">;

/** The credits as they are now, which nobody else changes before the transaction ends. */
export async function lockForSale(
  tx: Tx,
  creditIds: readonly string[],
): Promise<ReadonlyMap<string, DealtCredit>> {
  if (creditIds.length === 0) return new Map();
  const rows = await lockForSaleRows(tx, [...new Set(creditIds)]);
  return new Map(rows.map((row) => [row.credit_id, row]));
}

/** The same without those that others hold: who matches waits for none of them. */
export async function claimForSale(
  tx: Tx,
  creditIds: readonly string[],
): Promise<ReadonlyMap<string, DealtCredit>> {
  if (creditIds.length === 0) return new Map();
  const rows = await claimForSaleRows(tx, [...new Set(creditIds)]);
  return new Map(rows.map((row) => [row.credit_id, row]));
}

/** The live holdings of these numbers by number, whoever's. */
export async function lockOffered(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
): Promise<ReadonlyMap<string, OfferedCredit>> {
  if (scripNos.length === 0) return new Map();
  const rows = await lockLiveByNumber(tx, environment, scripNos);
  return new Map(rows.map((row) => [row.scrip_no, row]));
}

/** The same without waiting, for who buys from the book: what is free, and the numbers that others hold. */
export async function claimOffered(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
): Promise<{ readonly free: readonly OfferedCredit[]; readonly held: readonly string[] }> {
  if (scripNos.length === 0) return { free: [], held: [] };
  const rows = await claimLiveByNumber(tx, environment, scripNos);
  return {
    free: rows.flatMap((row) => (row.credit_id === null ? [] : [row])),
    held: rows.flatMap((row) => (row.credit_id === null ? [row.asked] : [])),
  };
}

/** The same without a lock, for whoever only follows what is offered. */
export async function findOffered(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<ReadonlyMap<string, DealtCredit>> {
  if (scripNos.length === 0) return new Map();
  const rows = await findLiveByNumber(db, environment, scripNos);
  return new Map(rows.map((row) => [row.scrip_no, row]));
}

/** A firm has at most so many credits looked at for one order by amount: its largest. */
const candidatesMax = 2_000;

/** What a firm could deliver with at least so many days left; once locked, it is known what it can. */
export async function findDeliverable(
  db: Db,
  {
    firmId,
    scheme,
    daysMin,
    today,
  }: {
    readonly firmId: string;
    readonly scheme: Scheme;
    readonly daysMin: number;
    readonly today: IstDay;
  },
): Promise<readonly ListedCredit[]> {
  const expiresFrom = addDays(today, daysMin);
  return await listListedOfFirm(db, { firmId, scheme, expiresFrom, limit: candidatesMax });
}

/** One live reservation per credit: each must still be listed, as its lock holds it. */
export function reserveCredits(reservations: readonly Reservation[], now: Date): Query<void> {
  if (reservations.length === 0) return known(undefined);
  return reserveRows(reservations, now).map((reserved) => {
    if (reserved !== reservations.length) throw new Error("a locked credit stays listed");
  });
}

/** Lets credits go that a deal or an order had; what lapsed meanwhile expires by the clock. */
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

/** A credit that somebody means by its number. */
export type CreditForSale = Found;

/** What each caller means by a number, in one statement; undefined where it is none of theirs. */
export function findForSale(
  asked: readonly {
    readonly caller: Caller;
    readonly scripNo: string;
    /** Only a holding of this firm, within what the caller sees. */
    readonly firmId?: string | null;
  }[],
): Query<readonly (CreditForSale | undefined)[]> {
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

/** A number is known to its desk only: another's of the same set does not see it. */
function toKey(deskId: string, scripNo: string): string {
  return `${deskId} ${scripNo}`;
}
