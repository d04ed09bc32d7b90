// One firm's money over time, for whoever gives account of it.

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
} from "./statement-store.ts";

export type MoneyPosting = MoneyRow;
export type MoneySpan = Span;

type FirmKey = { readonly environment: Environment; readonly firmId: string };

/** What a firm has with us, what of it it earned as a desk, and what it owes the house. */
export type MoneySums = {
  readonly cash_paise: PaiseSum;
  readonly commission_paise: PaiseSum;
  readonly dues_paise: PaiseSum;
};

export type MoneyPage = {
  /** Each entry's effect on each account, in the order in which they took effect. */
  readonly postings: readonly MoneyPosting[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: EntryPlace | undefined;
};

/** So many entries are read by one statement: reading more holds up everybody else. */
const numbersAtOnce = 500;

/**
 * What moved in a span, so many entries of it by their time. Entries of one time are on one page
 * unless they alone fill it.
 */
export async function moneyIn(
  db: Db,
  firm: FirmKey,
  { limit, after, ...span }: Span & { readonly limit: number; readonly after?: EntryPlace },
): Promise<MoneyPage> {
  const found = await listFirmEntries(db, firm.firmId, span, { after, limit: limit + 1 });
  const entries = found.length > limit ? wholeTimes(found.slice(0, limit)) : found;
  const last = entries.at(-1);
  const numbers = entries.map(({ entry_no }) => entry_no).toSorted((a, b) => a - b);
  const postings: MoneyPosting[] = [];
  for (let from = 0; from < numbers.length; from += numbersAtOnce) {
    postings.push(...(await listMoney(db, firm, numbers.slice(from, from + numbersAtOnce))));
  }
  const isLast = last === undefined || entries.length === found.length;
  return { postings, next: isLast ? undefined : { at: last.at, entryNo: last.entry_no } };
}

/** Without those of the last time, of which there may be more; all when there is no other time. */
function wholeTimes<Entry extends { readonly at: Date }>(entries: readonly Entry[]): Entry[] {
  const last = entries.at(-1)?.at.getTime();
  const whole = entries.filter(({ at }) => at.getTime() !== last);
  return whole.length > 0 ? whole : [...entries];
}

/** A place in the books: what is numbered up to here is in them, once all that was under way ended. */
export type Cut = { readonly entryNo: number; readonly before: string };

/**
 * Entries are numbered by transactions that hold balances, and so are known by their ids: what has a
 * number by now belongs to one that is seen here. The number is read first.
 */
export async function takeCut(db: Db): Promise<Cut> {
  const entryNo = await findLastNumber(db);
  return { entryNo, before: await findNextTransaction(db) };
}

/** Whether everything up to the cut is in the books or will never be. */
export async function isCutSettled(db: Db, { before }: Cut): Promise<boolean> {
  return await findWhetherEnded(db, before);
}

/** What a span adds to each of a firm's accounts. */
export async function moneyAdded(db: Db, firm: FirmKey, span: Span): Promise<MoneySums> {
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

/** When the books first say something of a firm; undefined when they never did. */
export async function firstEntryAt(db: Db, firmId: string): Promise<Date | undefined> {
  return await findFirstEntryAt(db, firmId);
}

export async function lastEntryNo(db: Db, firmId: string, since: Date): Promise<number> {
  return await findLastEntryNo(db, firmId, since);
}

/** Firms that have or had money with us, a page at a time. */
export async function firmsWithMoney(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly firms: readonly FirmKey[]; readonly next: string | undefined }> {
  const rows = await listMoneyAccounts(db, after, limit);
  const firms = new Map(rows.map(({ firm_id, environment }) => [firm_id, environment]));
  return {
    firms: [...firms].map(([firmId, environment]) => ({ firmId, environment })),
    next: rows.length === limit ? rows.at(-1)?.balance : undefined,
  };
}
