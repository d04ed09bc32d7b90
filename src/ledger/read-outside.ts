import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/sums.ts";
import type { Db } from "../platform/postgres.ts";
import { findOutsideBalance, listOutsideEntries } from "./outside-store.ts";

/** What the banks' side of the books comes to: below zero by what is with us. */
export async function outsideBalance(db: Db, environment: Environment): Promise<PaiseSum> {
  return await findOutsideBalance(db, environment);
}

/** An entry that took effect, and what it added to our account with the bank. */
export type OutsideEntry = {
  readonly kind: string;
  readonly subject: string;
  readonly paise: number;
};

/** Every entry that moved money between us and the bank, the oldest first. */
export async function outsideEntries(db: Db, environment: Environment): Promise<OutsideEntry[]> {
  return await listOutsideEntries(db, environment);
}
