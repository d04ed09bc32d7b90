import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Entry, Resolution } from "../ledger/rules.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { dropQuestions } from "../inquiries/ask-outside.ts";
import { changeOfPayout } from "./change-of-payout.ts";
import { bouncedEntry, endOf, type Shown, showPayout } from "./decide-payouts.ts";
import type { PayoutToLeave } from "./plan-remittances.ts";
import { listByUtr, lockRemitted, setPayouts } from "./store.ts";

/** What a bank's statement shows of a remittance, by the payout that names it. */
export type ShownRemittance = { readonly leadId: string } & Shown;

/** What is left for the caller: what to write in the books with its own, and the changes to record. */
export type AnsweredRemittances = {
  readonly resolutions: readonly Resolution[];
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/** The payouts of remittances, locked until the bank's word about them is written. */
export async function lockRemittedPayouts(
  tx: Tx,
  leadIds: readonly string[],
): Promise<readonly PayoutToLeave[]> {
  return leadIds.length === 0 ? [] : await lockRemitted(tx, leadIds);
}

/** Applies what the bank shows, in its order: what was paid may have come back below. */
export async function answerRemittances(
  tx: Tx,
  locked: readonly PayoutToLeave[],
  shown: readonly ShownRemittance[],
  now: Date,
): Promise<AnsweredRemittances> {
  const current = new Map(locked.map((row) => [row.payout_id, row]));
  const resolutions: Resolution[] = [];
  const entries: Entry[] = [];
  const changes: Change[] = [];
  for (const { leadId, ...said } of shown) {
    for (const before of current.values()) {
      if (before.remitted_with !== leadId) continue;
      const moved = showPayout(before, said, now);
      current.set(before.payout_id, moved.after);
      changes.push(changeOfPayout(moved));
      if (moved.action === "bounce") entries.push(bouncedEntry(moved.after));
      else resolutions.push(endOf(moved.after));
    }
  }
  const touched = new Set(shown.map(({ leadId }) => leadId));
  const rows = [...current.values()].filter((row) => touched.has(row.remitted_with ?? ""));
  if (rows.length > 0) await setPayouts(tx, rows);
  return { resolutions, entries, changes };
}

/** Nobody needs to be asked any more about what the statement has shown. */
export async function dropAnswered(tx: Tx, leadIds: readonly string[]): Promise<void> {
  if (leadIds.length > 0) await dropQuestions(tx, leadIds);
}

/** Remittances that left by the bank's own references: what names each, and what it came to. */
export async function remittancesByUtr(
  db: Db,
  environment: Environment,
  utrs: readonly string[],
): Promise<ReadonlyMap<string, { readonly leadId: string; readonly paise: number }>> {
  if (utrs.length === 0) return new Map();
  const rows = await listByUtr(db, environment, utrs);
  return new Map(
    rows.map(({ utr, payout_id, paise, remitted_paise }) => [
      utr ?? "",
      { leadId: payout_id, paise: remitted_paise ?? paise },
    ]),
  );
}
