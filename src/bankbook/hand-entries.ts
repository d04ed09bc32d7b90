// Money that a person entered under its UTR. The bank's line of the same UTR explains it and adds
// nothing; while no line does, a line that has the UTR cannot be assigned or sent back. Payments that
// left are entered so, too.

import { sumPaise } from "../kernel/money.ts";
import type { Environment } from "../kernel/caller.ts";
import { entriesAbout } from "../ledger/read-books.ts";
import {
  findDepositsByReference,
  recordBankReferences,
  referenceUsed,
} from "../payouts/deposits.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { type BankLineRow, listExplained } from "./store.ts";

export type HandEntry = {
  readonly reference: string;
  readonly firm_id: string;
  readonly paise: number;
};

/** The UTRs of a line that brought money, the likeliest first. */
export function listCreditUtrs({ direction, utr, other_utrs }: BankLineRow): string[] {
  return direction === "debit" || utr === null ? [] : [utr, ...other_utrs];
}

/** The entries of the books that a line explains, as `kind subject`. */
export async function findExplained(
  db: Db,
  environment: Environment,
  subjects: readonly string[],
): Promise<Set<string>> {
  if (subjects.length === 0) return new Set();
  return new Set(await listExplained(db, environment, subjects));
}

/** Deposits that were entered by hand under these references and that no line explains. */
export async function findHandEntries(
  db: Db,
  environment: Environment,
  references: readonly string[],
): Promise<Map<string, HandEntry>> {
  const known = await findDepositsByReference(db, environment, [...new Set(references)]);
  const explained = await findExplained(db, environment, [...known.keys()]);
  return new Map(
    [...known]
      .filter(([reference]) => !explained.has(`deposit ${reference}`))
      .map(([reference, { firm_id, paise }]) => [reference, { reference, firm_id, paise }]),
  );
}

/**
 * Records the UTRs of lines, so that nobody enters their money by hand from now on, and finds the
 * deposits that were entered before.
 */
export async function claimUtrs(
  tx: Tx,
  environment: Environment,
  lines: readonly BankLineRow[],
): Promise<Map<string, HandEntry>> {
  const claims = lines.flatMap((line) =>
    listCreditUtrs(line).map((reference) => ({ environment, reference, line_id: line.line_id })),
  );
  await recordBankReferences(tx, claims);
  return await findHandEntries(
    tx,
    environment,
    claims.map(({ reference }) => reference),
  );
}

/** A line is decided about once the money that was entered under its UTR is explained or taken back. */
export async function refuseEnteredByHand(db: Db, line: BankLineRow): Promise<void> {
  const entered = await findHandEntries(db, line.environment, listCreditUtrs(line));
  for (const entry of entered.values()) {
    const { reference, firm_id } = entry;
    const message = `${reference} was entered by hand for ${firm_id}: reverse that deposit first`;
    throw referenceUsed(reference, entry, message);
  }
}

/** A payment that an operator recorded under the UTR, such as a commission. */
export async function findManualPayment(
  tx: Tx,
  { environment, direction, utr, paise }: BankLineRow,
): Promise<string | undefined> {
  if (direction !== "debit" || utr === null) return undefined;
  const [entry] = await entriesAbout(tx, { environment, kind: "payout", subject: utr });
  const amount = entry && sumPaise(entry.movements.map((movement) => movement.amount));
  return amount === paise ? utr : undefined;
}
