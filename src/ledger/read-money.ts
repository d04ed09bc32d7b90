// One firm's money over time, for whoever gives account of it.

import type { Environment } from "../kernel/caller.ts";
import { addPaise, negatePaise, type PaiseSum } from "../kernel/sums.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { accountName } from "./rules.ts";
import {
  findFirstEntryAt,
  findLastEntryNo,
  holdMoney,
  listMoney,
  listMoneyAccounts,
  moneyKinds,
  type MoneyRow,
  type Span,
  sumMoney,
} from "./statement-store.ts";

export type MoneyPosting = MoneyRow;
export type MoneySpan = Span;

type FirmOf = { readonly environment: Environment; readonly firmId: string };

/** What a firm has with us, what of it it earned as a desk, and what it owes the house. */
export type MoneySums = {
  readonly cash_paise: PaiseSum;
  readonly commission_paise: PaiseSum;
  readonly dues_paise: PaiseSum;
};

/** What moved in a span, each entry's effect on each account, in the order it took effect. */
export async function moneyIn(db: Db, firm: FirmOf, span: Span): Promise<MoneyPosting[]> {
  return await listMoney(db, firm, span);
}

/** What a span adds to each of a firm's accounts. */
export async function moneyAdded(db: Db, firm: FirmOf, span: Span): Promise<MoneySums> {
  return sumsOf(await sumMoney(db, firm, span));
}

export function sumsOf(
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

/** Keeps everybody from moving a firm's money until the transaction ends. */
export async function holdMoneyOf(tx: Tx, firmId: string): Promise<void> {
  await holdMoney(
    tx,
    moneyKinds.map((kind) => accountName({ kind, firmId })),
  );
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
): Promise<{ readonly firms: readonly FirmOf[]; readonly next: string | undefined }> {
  const rows = await listMoneyAccounts(db, after, limit);
  const firms = new Map(rows.map(({ firm_id, environment }) => [firm_id, environment]));
  return {
    firms: [...firms].map(([firmId, environment]) => ({ firmId, environment })),
    next: rows.length === limit ? rows.at(-1)?.balance : undefined,
  };
}
