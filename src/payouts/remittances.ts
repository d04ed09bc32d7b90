import { sumParts, splitByAmount } from "../kernel/money.ts";
import { lockPayees, type PayeeFirm, findPayees } from "../firms/bank-accounts.ts";
import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import type { Entry, Resolution } from "../ledger/rules.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import type { RailLimits } from "../taxes/tax-rules.ts";
import { findRailLimits } from "../taxes/taxes.ts";
import {
  buildBounceEntry,
  buildResolution,
  instructTogether,
  type MovedPayout,
  type StatementOutcome,
  applyStatementOutcome,
} from "./decide-payouts.ts";
import { buildPayoutChange, movePayout } from "./move-payout.ts";
import { resolveAccount, findHold, type Rail, chooseRail } from "./rules.ts";
import {
  listByUtr,
  listWaiting,
  lockPayouts,
  lockRemitted,
  type PayoutRow,
  setPayouts,
} from "./store.ts";

/** A payout as other rooms know it. */
export type RemittedPayout = PayoutRow;

/** The due payouts of one payee as one amount. */
export type PlannedRemittance = {
  readonly firmId: string;
  readonly rail: Rail;
  readonly paise: number;
  readonly accountId: string | null;
  readonly ifsc: string;
  readonly last4: string;
  readonly payouts: readonly RemittedPayout[];
};

/** A due payout that cannot leave, and why. */
export type KeptPayout = {
  readonly payoutId: string;
  readonly paise: number;
  readonly reason: string;
};

type RemittancePlan = {
  readonly remittances: readonly PlannedRemittance[];
  readonly kept: readonly KeptPayout[];
};

type PayoutsOf = { readonly environment: Environment; readonly payoutIds: readonly string[] };

/** The most payouts of one run; the rest waits for the next. */
const payoutsMax = 5_000;

/** The remittances that would leave now; locks nothing. */
export async function previewRemittances(
  db: Db,
  environment: Environment,
  now: Date,
): Promise<RemittancePlan> {
  const due = await listWaiting(db, { environment, state: "scheduled" }, payoutsMax);
  const payees = await db.run(findPayees(listFirmIds(due), now));
  const limits = await db.run(findRailLimits(environment, now));
  return planRemittances(due, payees, { limits, ledgerSound: await ledgerIsSound(db, now) });
}

/** Plans remittances of these payouts, with the payouts and their payees locked. */
export async function lockRemittances(
  tx: Tx,
  { environment, payoutIds }: PayoutsOf,
  now: Date,
): Promise<RemittancePlan> {
  const due = (await lockPayouts(tx, payoutIds)).filter((row) => row.state === "scheduled");
  const payees = await lockPayees(tx, listFirmIds(due), now);
  const limits = await tx.run(findRailLimits(environment, now));
  return planRemittances(due, payees, { limits, ledgerSound: await ledgerIsSound(tx, now) });
}

/** Moves locked remittances to `instructed`. The first payout of each is its lead. */
export async function instructPayouts(
  tx: Tx,
  environment: Environment,
  planned: readonly PlannedRemittance[],
  now: Date,
): Promise<{ readonly leadIds: readonly string[]; readonly changes: readonly Change[] }> {
  const limits = await tx.run(findRailLimits(environment, now));
  const moved = planned.map(({ accountId, ifsc, last4, payouts }) =>
    instructTogether(
      payouts.map((row) => ({ ...row, ifsc, last4, account_id: accountId })),
      limits,
      now,
    ),
  );
  const changes = await storeMoved(tx, moved.flat());
  return { leadIds: moved.map(([first]) => first?.after.payout_id ?? ""), changes };
}

/** Makes instructed payouts of a voided file due again. */
export async function releaseInstructed(
  tx: Tx,
  { environment, payoutIds: leadIds }: PayoutsOf,
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<readonly Change[]> {
  const instructed = await lockRemitted(tx, leadIds);
  const limits = await tx.run(findRailLimits(environment, now));
  const moved = instructed
    .filter((row) => row.state === "instructed")
    .map((before): MovedPayout => {
      const freed = movePayout(before, "void", { reason, now });
      const after = { ...freed, rail: chooseRail(before.paise, limits) };
      return { action: "void", before, after };
    });
  return await storeMoved(tx, moved);
}

/** What a bank's statement shows of a remittance, by the payout that names it. */
export type ShownRemittance = { readonly leadId: string } & StatementOutcome;

/** What is left for the caller: what to write in the books with its own, and the changes to record. */
type AnsweredRemittances = {
  readonly resolutions: readonly Resolution[];
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/** The payouts of remittances, locked until the bank's word about them is written. */
export async function lockRemittedPayouts(
  tx: Tx,
  leadIds: readonly string[],
): Promise<readonly RemittedPayout[]> {
  return leadIds.length === 0 ? [] : await lockRemitted(tx, leadIds);
}

/** Applies what the bank shows, in its order: what was paid may have come back below. */
export async function answerRemittances(
  tx: Tx,
  locked: readonly RemittedPayout[],
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
      const moved = applyStatementOutcome(before, said, now);
      current.set(before.payout_id, moved.after);
      changes.push(buildPayoutChange(moved));
      if (moved.action === "bounce") entries.push(buildBounceEntry(moved.after));
      else resolutions.push(buildResolution(moved.after));
    }
  }
  const touched = new Set(shown.map(({ leadId }) => leadId));
  const rows = [...current.values()].filter((row) => touched.has(row.remitted_with ?? ""));
  if (rows.length > 0) await setPayouts(tx, rows);
  return { resolutions, entries, changes };
}

type FoundRemittance = {
  readonly leadId: string;
  readonly firmId: string;
  readonly paise: number;
};

/** Sent remittances by UTR: their lead payout and sum. */
export async function findRemittancesByUtr(
  db: Db,
  environment: Environment,
  utrs: readonly string[],
): Promise<ReadonlyMap<string, FoundRemittance>> {
  if (utrs.length === 0) return new Map();
  const rows = await listByUtr(db, environment, utrs);
  return new Map(
    rows.map(({ utr, payout_id, firm_id: firmId, paise, remitted_paise }) => [
      utr ?? "",
      { leadId: payout_id, firmId, paise: remitted_paise ?? paise },
    ]),
  );
}

function listFirmIds(rows: readonly PayoutRow[]): string[] {
  return [...new Set(rows.map((row) => row.firm_id))];
}

function planRemittances(
  due: readonly PayoutRow[],
  payees: ReadonlyMap<string, PayeeFirm>,
  { limits, ledgerSound }: { readonly limits: RailLimits; readonly ledgerSound: boolean },
): RemittancePlan {
  const remittances: PlannedRemittance[] = [];
  const kept: KeptPayout[] = [];
  for (const [firmId, payouts] of Map.groupBy(due, (row) => row.firm_id)) {
    const payee = payees.get(firmId);
    const environment = payouts[0]?.environment ?? "live";
    const account = payee && resolveAccount(payee, environment);
    const hold = payee && findHold(payee, { environment, ledgerSound });
    if (!account || hold) {
      const reason = hold?.reason ?? "no_bank_account";
      kept.push(...payouts.map(({ payout_id, paise }) => ({ payoutId: payout_id, paise, reason })));
      continue;
    }
    for (const together of splitByAmount(payouts)) {
      const paise = sumParts(together.map((row) => row.paise));
      const rail = chooseRail(paise, limits);
      remittances.push({ firmId, rail, paise, ...account, payouts: together });
    }
  }
  return { remittances, kept };
}

async function storeMoved(tx: Tx, moved: readonly MovedPayout[]): Promise<readonly Change[]> {
  if (moved.length === 0) return [];
  await setPayouts(
    tx,
    moved.map(({ after }) => after),
  );
  return moved.map(buildPayoutChange);
}
