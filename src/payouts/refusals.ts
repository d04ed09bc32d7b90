// Why money does not leave at its owner's word, in the order in which it is asked.

import type { FirmState } from "../firms/rules.ts";
import { Failure } from "../kernel/failure.ts";
import { subtractPaise } from "../kernel/sums.ts";
import type { FirmBalances } from "../ledger/read-books.ts";
import type { EntryRefusal, Written } from "../ledger/rules.ts";

/** A suspended firm may ask: its payout is held. */
const mayWithdraw: readonly FirmState[] = ["authorized", "suspended", "offboarding"];

export function refuseState({ connection_state }: { readonly connection_state: FirmState }): void {
  if (mayWithdraw.includes(connection_state)) return;
  throw new Failure("conflict", `the firm is ${connection_state}, not authorized`, {
    detail: { reason: "firm_not_authorized", state: connection_state },
  });
}

export function noAccount(): Failure {
  return new Failure("conflict", "the firm has given no bank account", {
    detail: { reason: "no_bank_account" },
  });
}

/** What is available covers what is asked for, and leaves what the firm owes. */
export function refuseShort(
  balance: Pick<FirmBalances, "available_paise" | "dues_paise"> | undefined,
  paise: number,
): void {
  const available = balance?.available_paise ?? 0;
  const dues = balance?.dues_paise ?? 0;
  const left = subtractPaise(available, paise);
  if (left < 0) throw tooLittle(available);
  if (left >= dues) return;
  throw new Failure("conflict", "the firm owes us what would be left", {
    detail: { reason: "dues_outstanding", available_paise: available, dues_paise: dues },
  });
}

/** The balance moved between the look and the entry. */
export function refuseUnfunded(written: readonly Written<EntryRefusal>[]): void {
  for (const result of written) {
    if (!result.ok && result.refusal.reason === "insufficient_funds") {
      throw tooLittle(result.refusal.availablePaise);
    }
  }
}

function tooLittle(available: number | bigint): Failure {
  return new Failure("conflict", `the firm has ${available} paise available`, {
    detail: { reason: "insufficient_funds", available_paise: available },
  });
}
