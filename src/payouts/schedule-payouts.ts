import { payeesOf } from "../firms/payees.ts";
import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Entry } from "../ledger/rules.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfPayout } from "./change-of-payout.ts";
import { accountOf, holdOf, type Payee, railOf } from "./rules.ts";
import { insertLines, insertPayouts, type PayoutLineRow, type PayoutRow } from "./store.ts";

/** What a firm has to get out of a settlement, and which orders it comes from. */
export type Earning = {
  readonly environment: Environment;
  readonly deskId: string;
  readonly firmId: string;
  readonly settlementId: string;
  readonly resendOf?: string;
  readonly lines: readonly Omit<PayoutLineRow, "payout_id">[];
};

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

function payoutOf(earning: Earning, payee: Payee, now: Date): PayoutRow {
  const { environment } = earning;
  const paise = earning.lines.reduce((sum, line) => sum + line.paise, 0);
  const account = accountOf(payee, environment);
  // Whether the books hold is asked when the money is sent.
  const hold = holdOf(payee, { environment, ledgerSound: true });
  const state = hold ? "held" : "scheduled";
  const reason = hold?.reason ?? null;
  return {
    payout_id: newId("pay", now),
    environment,
    desk_id: earning.deskId,
    firm_id: earning.firmId,
    settlement_id: earning.settlementId,
    resend_of: earning.resendOf ?? null,
    paise,
    rail: railOf(paise),
    ifsc: account?.ifsc ?? null,
    last4: account?.last4 ?? null,
    state,
    reason,
    held_until: hold?.until ?? null,
    utr: null,
    look_at: now,
    history: [{ status: state, at: istTimestamp(now), reason }],
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

function entryOf({ environment, payout_id, firm_id, paise }: PayoutRow): Entry {
  return {
    environment,
    kind: "payout",
    subject: payout_id,
    phase: "pending",
    movements: [
      { from: { kind: "firm_cash", firmId: firm_id }, to: { kind: "external_bank" }, paise },
    ],
  };
}
