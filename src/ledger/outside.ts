import type { Environment } from "../kernel/caller.ts";
import { isHouse } from "../kernel/ids.ts";
import type { PaiseSum } from "../kernel/money.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { findOutsideBalance, listOutsideEntries } from "./statement-store.ts";
import { type Account, accountName, assertWritten, type Entry } from "./rules.ts";
import { listOwners } from "./store.ts";
import { postEntries } from "./write-books.ts";

/** The balance of `external_bank`: minus the money on our bank account. */
export async function readOutsideBalance(db: Db, environment: Environment): Promise<PaiseSum> {
  return await findOutsideBalance(db, environment);
}

/** A posted entry, and what it added to our bank account. */
type OutsideEntry = {
  readonly kind: string;
  readonly subject: string;
  readonly paise: number;
};

/** Every posted entry of `external_bank`, oldest first. */
export async function readOutsideEntries(
  db: Db,
  environment: Environment,
): Promise<OutsideEntry[]> {
  return await listOutsideEntries(db, environment);
}

/** A holding that has ended without a deal. */
type CreditExit = {
  readonly environment: Environment;
  readonly creditId: string;
  readonly firmId: string;
  readonly scripNo: string;
};

/**
 * Moves credits of ended holdings out of the books, so that the next holder can bring them in again.
 * Most were never in the books, and nothing is written for those. The holdings are locked, so nobody
 * else moves their credits.
 */
export async function exitCredits(tx: Tx, exits: readonly CreditExit[], now: Date): Promise<void> {
  const entries: Entry[] = [];
  for (const [environment, left] of Map.groupBy(exits, (exit) => exit.environment)) {
    const owners = await listOwners(
      tx,
      environment,
      left.map(({ scripNo }) => scripNo),
    );
    const accounts = new Map(owners.map((owner) => [owner.scrip_no, owner.account]));
    for (const exit of left) {
      const from = creditsAccount(exit.firmId);
      if (accounts.get(exit.scripNo) === accountName(from))
        entries.push(buildExitEntry(exit, from));
    }
  }
  if (entries.length > 0) assertWritten(await postEntries(tx, entries, now));
}

function buildExitEntry({ environment, creditId, scripNo }: CreditExit, from: Account): Entry {
  return {
    environment,
    kind: "credit_exit",
    subject: creditId,
    phase: "posted",
    movements: [{ from, to: { kind: "external_customs" }, scripNo }],
  };
}

function creditsAccount(firmId: string): Account {
  return isHouse(firmId) ? { kind: "house_credits" } : { kind: "firm_credits", firmId };
}
