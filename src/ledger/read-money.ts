// One firm's money over time, for statements.

import type { Environment } from "../kernel/caller.ts";
import { addPaise, negatePaise, type PaiseSum } from "../kernel/money.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  type EntryPlace,
  findFirstEntryAt,
  findLastEntryNo,
  findLastNumber,
  findNextTransaction,
  findWhetherEnded,
  listFirmEntries,
  listMoney,
  listMoneyAccounts,
  type MoneyRow,
  type Span,
  sumMoney,
  type OwnedFirm,
} from "./statement-store.ts";

type MoneyPosting = MoneyRow;

/** A firm's cash, commission and dues. */
export type MoneySums = {
  readonly cash_paise: PaiseSum;
  readonly commission_paise: PaiseSum;
  readonly dues_paise: PaiseSum;
};

export type MoneyPage = {
  /** In the order in which the entries took effect. */
  readonly postings: readonly MoneyPosting[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: EntryPlace | undefined;
};

/** Bounds one statement, so that it does not hold up others. */
const entriesPerStatement = 500;

/** A page of the postings of a span, by time. Entries of one time are on one page if they fit. */
export async function readMoney(
  db: Db,
  firm: OwnedFirm,
  { limit, after, ...span }: Span & { readonly limit: number; readonly after?: EntryPlace },
): Promise<MoneyPage> {
  const found = await listFirmEntries(db, firm.firmId, span, { after, limit: limit + 1 });
  const entries = found.length > limit ? dropLastTime(found.slice(0, limit)) : found;
  const last = entries.at(-1);
  const numbers = entries.map(({ entry_no }) => entry_no).toSorted((a, b) => a - b);
  const postings: MoneyPosting[] = [];
  for (let from = 0; from < numbers.length; from += entriesPerStatement) {
    postings.push(...(await listMoney(db, firm, numbers.slice(from, from + entriesPerStatement))));
  }
  const isLast = last === undefined || entries.length === found.length;
  return { postings, next: isLast ? undefined : { at: last.at, entryNo: last.entry_no } };
}

/** An entry number, and the transaction id before which all must have ended for the cut to be settled. */
export type Cut = { readonly entryNo: number; readonly before: string };

/**
 * A transaction that numbers entries has locked balances, so it has a transaction id. The number is
 * read first: every entry up to it belongs to a transaction below the id that is read next.
 */
export async function takeCut(db: Db): Promise<Cut> {
  const entryNo = await findLastNumber(db);
  return { entryNo, before: await findNextTransaction(db) };
}

/** Whether every entry up to the cut is committed or rolled back. */
export async function isCutSettled(db: Db, { before }: Cut): Promise<boolean> {
  return await findWhetherEnded(db, before);
}

/** The sum of a span's postings on each of a firm's accounts. */
export async function sumMoneyOver(db: Db, firm: OwnedFirm, span: Span): Promise<MoneySums> {
  return sumByAccount(await sumMoney(db, firm, span));
}

export function sumByAccount(
  postings: readonly Pick<MoneyPosting, "account_kind" | "paise">[],
): MoneySums {
  const of = (kind: MoneyPosting["account_kind"]) =>
    postings.reduce<PaiseSum>(
      (sum, row) => (row.account_kind === kind ? addPaise(sum, row.paise) : sum),
      0,
    );
  return {
    cash_paise: of("firm_cash"),
    commission_paise: of("desk_commission"),
    dues_paise: negatePaise(of("firm_dues")),
  };
}

/** The time of a firm's first entry. */
export async function readFirstEntryAt(db: Db, firmId: string): Promise<Date | undefined> {
  return await findFirstEntryAt(db, firmId);
}

export async function readLastEntryNo(db: Db, firmId: string, since: Date): Promise<number> {
  return await findLastEntryNo(db, firmId, since);
}

/** Firms that have or had money with us, a page at a time. */
export async function listFirmsWithMoney(
  db: Db,
  environment: Environment,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly firmIds: readonly string[]; readonly next: string | undefined }> {
  const rows = await listMoneyAccounts(db, environment, { after, limit });
  return {
    firmIds: [...new Set(rows.map(({ firm_id }) => firm_id))],
    next: rows.length === limit ? rows.at(-1)?.balance : undefined,
  };
}

/** Drops the entries of the last time, which may have more on the next page, unless it is the only one. */
function dropLastTime<Entry extends { readonly at: Date }>(entries: readonly Entry[]): Entry[] {
  const last = entries.at(-1)?.at.getTime();
  const whole = entries.filter(({ at }) => at.getTime() !== last);
  return whole.length > 0 ? whole : [...entries];
}
