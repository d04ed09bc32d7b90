// What tests that move money need: accounts by a short name, entries with a subject of their own,
// and the proof afterwards that the books hold.

import assert from "node:assert/strict";

import { checkLedger } from "../../src/ledger/check-ledger.ts";
import type { Account, Entry } from "../../src/ledger/rules.ts";
import { assertWritten } from "../../src/ledger/rules.ts";
import { postEntries } from "../../src/ledger/write-books.ts";
import type { Environment } from "../../src/kernel/caller.ts";
import type { Service } from "./service.ts";

/** To be called at the end of every test that moves money or credits. */
export async function assertLedgerSound({ ctx }: Pick<Service, "ctx">): Promise<void> {
  const { firstBreak } = await checkLedger(ctx);
  assert.equal(firstBreak, null, JSON.stringify(firstBreak));
}

export const bank: Account = { kind: "external_bank" };

export function cashOf(firmId: string): Account {
  return { kind: "firm_cash", firmId };
}

export function creditsOf(firmId: string): Account {
  return { kind: "firm_credits", firmId };
}

let subjects = 0;

/** An entry in the sandbox about something that no other entry is about. */
export function entryOf(
  kind: Entry["kind"],
  phase: Entry["phase"],
  movements: Entry["movements"],
  environment: Environment = "sandbox",
): Entry {
  return { environment, kind, subject: `subject_${++subjects}`, phase, movements };
}

/** Gives a firm money, as if it had paid in. */
export async function payIn({ ctx }: Pick<Service, "ctx">, firmId: string, paise: number) {
  const deposit = entryOf("deposit", "posted", [{ from: bank, to: cashOf(firmId), paise }]);
  const now = ctx.now();
  assertWritten(await ctx.db.transaction(async (tx) => await postEntries(tx, [deposit], now)));
}
