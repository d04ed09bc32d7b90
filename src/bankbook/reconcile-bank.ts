import type { Environment } from "../kernel/caller.ts";
import { addPaise, negatePaise, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import { outsideEntries, outsideBalance } from "../ledger/outside.ts";
import type { Context } from "../platform/context.ts";
import { findTotals, listAllExplained } from "./store.ts";

/** A difference between the bank and the books that has a name. */
export type Difference = { readonly what: string; readonly amount_paise: PaiseSum };

export type Reconciled = {
  /** The last day that a statement with balances covers; null before the first. */
  readonly as_of: string | null;
  /** What the bank says is on the account. */
  readonly bank_paise: PaiseSum | null;
  /** What the books say is on it. */
  readonly books_paise: PaiseSum;
  readonly difference_paise: PaiseSum | null;
  /** What the difference comes from; they sum to it. */
  readonly differences: readonly Difference[];
  readonly unexplained_paise: PaiseSum | null;
  /** How many lines of the bank wait for a person. */
  readonly queued: number;
};

const differencesMax = 100;

/**
 * The bank's closing balance against the outside account of the books. What the bank had before the
 * first statement, what lies between statements, and entries that no line of the bank explains yet are
 * named one by one.
 */
export async function reconcileBank(
  ctx: Pick<Context, "db">,
  environment: Environment,
): Promise<Reconciled> {
  const books = negatePaise(await outsideBalance(ctx.db, environment));
  const { opening_paise, closing_paise, as_of, lines_paise, queued } = await findTotals(
    ctx.db,
    environment,
  );
  if (closing_paise === null || opening_paise === null) {
    return {
      as_of: null,
      bank_paise: null,
      books_paise: books,
      difference_paise: null,
      differences: [],
      unexplained_paise: null,
      queued,
    };
  }
  const explained = new Set(await listAllExplained(ctx.db, environment));
  const unseen = (await outsideEntries(ctx.db, environment)).filter(
    ({ kind, subject }) => !explained.has(`${kind} ${subject}`),
  );
  const between = closing_paise - (opening_paise + lines_paise);
  const differences: Difference[] = [
    { what: "on the account before the first statement", amount_paise: opening_paise },
    { what: "between the statements that were imported", amount_paise: between },
    ...unseen.map(({ kind, subject, paise }) => ({
      what: `${kind} ${subject} is in the books and in no statement`,
      amount_paise: negatePaise(paise),
    })),
  ].filter(({ amount_paise }) => amount_paise !== 0);
  const difference = subtractPaise(closing_paise, books);
  const named = differences.reduce<PaiseSum>(
    (sum, { amount_paise }) => addPaise(sum, amount_paise),
    0,
  );
  return {
    as_of,
    bank_paise: closing_paise,
    books_paise: books,
    difference_paise: difference,
    differences: differences.slice(0, differencesMax),
    unexplained_paise: subtractPaise(difference, named),
    queued,
  };
}
