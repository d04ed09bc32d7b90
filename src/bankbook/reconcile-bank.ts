import type { Environment } from "../kernel/caller.ts";
import { addPaise, negatePaise, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import { readOutsideEntries, readOutsideBalance } from "../ledger/outside.ts";
import type { Context } from "../platform/context.ts";
import { listAllExplained } from "./store.ts";
import { findTotals } from "./totals-store.ts";

/** A known difference between the bank and the books. */
type Difference = { readonly what: string; readonly amount_paise: PaiseSum };

export type Reconciled = {
  /** The last day of the statements with balances; null before the first. */
  readonly as_of: string | null;
  /** The bank's closing balance. */
  readonly bank_paise: PaiseSum | null;
  /** The balance in the books. */
  readonly books_paise: PaiseSum;
  readonly difference_paise: PaiseSum | null;
  /** The parts of the difference. */
  readonly differences: readonly Difference[];
  readonly unexplained_paise: PaiseSum | null;
  /** The number of lines in the queue. */
  readonly queued: number;
};

const differencesMax = 100;

/**
 * Compares the bank's closing balance with the bank account in the books. It names each difference: the
 * balance before the first statement, gaps between statements, and entries without a bank line.
 */
export async function reconcileBank(
  ctx: Pick<Context, "db">,
  environment: Environment,
): Promise<Reconciled> {
  const books = negatePaise(await readOutsideBalance(ctx.db, environment));
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
  const unseen = (await readOutsideEntries(ctx.db, environment)).filter(
    ({ kind, subject }) => !explained.has(`${kind} ${subject}`),
  );
  const between = subtractPaise(closing_paise, addPaise(opening_paise, lines_paise));
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
