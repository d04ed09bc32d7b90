import { payeesOf } from "../firms/payees.ts";
import type { Change } from "../kernel/actor.ts";
import type { Entry } from "../ledger/rules.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfPayout } from "./change-of-payout.ts";
import { type Earning, entryOf, payoutOf } from "./decide-payouts.ts";
import { insertLines, insertPayouts, type PayoutRow } from "./store.ts";

/** What is left for the caller: the entries to write with its own, and the changes to record. */
export type ScheduledPayouts = {
  readonly payouts: readonly PayoutRow[];
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/** Puts money on its way out: it is held in the books from here on. */
export async function schedulePayouts(
  tx: Tx,
  earnings: readonly Earning[],
  now: Date,
): Promise<ScheduledPayouts> {
  if (earnings.length === 0) return { payouts: [], entries: [], changes: [] };
  const firmIds = [...new Set(earnings.map(({ firmId }) => firmId))];
  const payees = await payeesOf(tx, firmIds, now);
  const payouts = earnings.map((earning) => {
    const payee = payees.get(earning.firmId);
    if (!payee) throw new Error("who earned something is a firm");
    return payoutOf(earning, payee, now);
  });
  await insertPayouts(tx, payouts);
  await insertLines(
    tx,
    payouts.flatMap(({ payout_id }, at) =>
      (earnings[at]?.lines ?? []).map((line) => ({ ...line, payout_id })),
    ),
  );
  return {
    payouts,
    entries: payouts.map(entryOf),
    changes: payouts.map((after) => changeOfPayout({ action: "schedule", before: null, after })),
  };
}
