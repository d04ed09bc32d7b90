import { lockPayees, type PayeeFirm, payeesOf } from "../firms/payees.ts";
import type { Environment } from "../kernel/caller.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { accountOf, holdOf, type Rail, railOf } from "./rules.ts";
import { listScheduled, lockPayouts, type PayoutRow } from "./store.ts";

/** A payout as other slices know it. */
export type PayoutToLeave = PayoutRow;

/** What one payee would get now, as one amount. */
export type PlannedRemittance = {
  readonly firmId: string;
  readonly rail: Rail;
  readonly paise: number;
  readonly ifsc: string;
  readonly last4: string;
  readonly payouts: readonly PayoutToLeave[];
};

/** What is due and cannot leave, and why. */
export type KeptHere = {
  readonly payoutId: string;
  readonly paise: number;
  readonly reason: string;
};

export type RemittancePlan = {
  readonly remittances: readonly PlannedRemittance[];
  readonly kept: readonly KeptHere[];
};

/** How many payouts a run takes at most; what is over comes with the next. */
const payoutsMax = 5_000;

/** What would leave now; nothing is locked. */
export async function previewRemittances(
  db: Db,
  environment: Environment,
  now: Date,
): Promise<RemittancePlan> {
  const due = await listScheduled(db, environment, payoutsMax);
  const payees = await payeesOf(db, firmIdsOf(due), now);
  return planRemittances(due, payees, await ledgerIsSound(db, now));
}

/** The same of some payouts for money that leaves now: they, and what could hold them, are locked. */
export async function lockRemittances(
  tx: Tx,
  payoutIds: readonly string[],
  now: Date,
): Promise<RemittancePlan> {
  const due = (await lockPayouts(tx, payoutIds)).filter((row) => row.state === "scheduled");
  const payees = await lockPayees(tx, firmIdsOf(due), now);
  return planRemittances(due, payees, await ledgerIsSound(tx, now));
}

function firmIdsOf(rows: readonly PayoutRow[]): string[] {
  return [...new Set(rows.map((row) => row.firm_id))];
}

function planRemittances(
  due: readonly PayoutRow[],
  payees: ReadonlyMap<string, PayeeFirm>,
  ledgerSound: boolean,
): RemittancePlan {
  const remittances: PlannedRemittance[] = [];
  const kept: KeptHere[] = [];
  for (const [firmId, payouts] of Map.groupBy(due, (row) => row.firm_id)) {
    const payee = payees.get(firmId);
    const environment = payouts[0]?.environment ?? "live";
    const account = payee && accountOf(payee, environment);
    const hold = payee && holdOf(payee, { environment, ledgerSound });
    if (!account || hold) {
      const reason = hold?.reason ?? "no_bank_account";
      kept.push(...payouts.map(({ payout_id, paise }) => ({ payoutId: payout_id, paise, reason })));
      continue;
    }
    const paise = payouts.reduce((sum, row) => sum + row.paise, 0);
    remittances.push({ firmId, rail: railOf(paise), paise, ...account, payouts });
  }
  return { remittances, kept };
}
