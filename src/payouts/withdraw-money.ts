// Withdrawals: a firm asks for its money, or it is offboarded, which pays out its balance. A firm that
// owes has none (`ledger/dues.ts`). A withdrawal that the bank returned is not sent to the same
// account again automatically: the firm must change the account, or the operator must resend it.

import { spendKeyLimits } from "../access/money-limits.ts";
import { findPayees, noBankAccount } from "../firms/bank-accounts.ts";
import { describeGated, requireVisibleFirm, lockVisibleFirm } from "../firms/find-firms.ts";
import type { Blocker, LeavingFirm } from "../firms/offboard-firm.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import { refuseWithoutWithdrawals } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import { asAmount, type PaiseSum } from "../kernel/money.ts";
import {
  type ClockAdvance,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import { readBalances } from "../ledger/read-books.ts";
import { assertWritten, balanceMoved } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey } from "../platform/http/idempotency.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { passSecondKey, type PermittedCall } from "../secondkeys/gate.ts";
import { withdrawnWithinMs } from "../secondkeys/rules.ts";
import { refuseInsufficient, refuseFirmState, refuseUnfunded } from "./move-payout.ts";
import { viewPayout } from "./read-payouts.ts";
import { resolveAccount, type Payee } from "./rules.ts";
import { schedulePayouts } from "./schedule-payouts.ts";
import type { Payout, WithdrawMoneyBody } from "./schema.ts";
import { movePayoutsEarlier } from "./store.ts";
import { findLastWithdrawal, findPayout, listUnfinished, sumWithdrawn } from "./store.ts";

/**
 * Pays a firm's available money to its account, by a payout with the usual holds.
 */
export async function withdrawMoney(
  ctx: Context,
  call: PermittedCall,
  asked: { readonly firm_id: string } & WithdrawMoneyBody,
): Promise<Creation<Payout>> {
  const now = ctx.now();
  const { caller } = call;
  const { environment, deskId } = caller;
  const { firm_id: firmId, amount_paise: paise } = asked;
  return await ctx.db.transaction(
    async (tx): Promise<Creation<Payout>> => {
      await requireVisibleFirm(tx, caller, firmId);
      refuseWithoutWithdrawals(caller);
      const payoutId = newId("pay", now);
      const earlier = await claimIdempotencyKey(tx, {
        call,
        operation: "withdrawMoney",
        body: asked,
        idField: "payout_id",
        newId: payoutId,
        now,
      });
      if (earlier) {
        const row = await findPayout(tx, { deskId, firmId }, earlier);
        if (!row) throw new Error("a payout stays");
        return { outcome: "replayed", resource: viewPayout(row, []) };
      }
      const firm = await lockVisibleFirm(tx, caller, firmId);
      refuseFirmState(firm);
      const since = new Date(now.getTime() - withdrawnWithinMs);
      const withdrawn = await sumWithdrawn(tx, { deskId, firmId, since });
      const passed = await passSecondKey(
        tx,
        { actor: toActor(call), permit: call.permit },
        { ...describeGated(firm), kind: "withdrawal", paise: withdrawn + paise, payoutId },
        now,
      );
      await spendKeyLimits(tx, caller, { deals: [paise], now });
      const payee = (await tx.run(findPayees([firmId], now))).get(firmId);
      if (!payee || !resolveAccount(payee, environment)) throw noBankAccount();
      const [balance] = await readBalances(tx, environment, [firmId]);
      refuseInsufficient(balance, paise);
      const earning = { environment, deskId, firmId, settlementId: null, lines: [] };
      const { payouts, entries, changes } = await schedulePayouts(
        tx,
        [{ ...earning, payoutId, withdrawnPaise: paise }],
        now,
      );
      const [row] = payouts;
      if (!row || row.paise !== paise) throw balanceMoved();
      const written = await postEntries(tx, entries, now);
      refuseUnfunded(written);
      assertWritten(written);
      await recordChanges(tx, toActor(call), [...changes, ...passed], now);
      return { outcome: call.dryRun ? "dry_run" : "created", resource: viewPayout(row, []) };
    },
    { rollBack: call.dryRun },
  );
}

/** The balance and the dues of a firm, which keep it from leaving. */
export async function listMoneyLeft(tx: Tx, firm: LeavingFirm): Promise<Blocker[]> {
  const { available, dues } = await sumMoneyLeft(tx, firm);
  const href = `/v1/positions?firm_id=${firm.firmId}`;
  const blocker = (type: string, amount: PaiseSum): Blocker[] =>
    amount > 0 ? [{ type, id: firm.firmId, href, amount_paise: asAmount(amount) }] : [];
  return [...blocker("balance", available), ...blocker("dues", dues)];
}

/** Pays out the balance; the caller records the changes last. */
export async function drainMoney(
  tx: Tx,
  _actor: Actor,
  firm: LeavingFirm,
  now: Date,
): Promise<readonly Change[]> {
  const { environment, deskId, firmId } = firm;
  const { available } = await sumMoneyLeft(tx, firm);
  const payee = (await tx.run(findPayees([firmId], now))).get(firmId);
  const isPaid = available > 0 && payee && !(await wasReturned(tx, firm, payee));
  const earning = { environment, deskId, firmId, settlementId: null, lines: [] };
  const { entries, changes } = await schedulePayouts(
    tx,
    isPaid ? [{ ...earning, withdrawnPaise: available }] : [],
    now,
  );
  assertWritten(await postEntries(tx, entries, now));
  return changes;
}

/** The unfinished payouts, which keep a firm from leaving. */
export async function listUnfinishedPayouts(
  tx: Tx,
  deskId: string,
  firmId: string,
): Promise<Blocker[]> {
  const rows = await listUnfinished(tx, deskId, firmId);
  return rows.map(({ payout_id, paise }) => ({
    type: "payout",
    id: payout_id,
    href: `/v1/payouts/${payout_id}`,
    amount_paise: paise,
  }));
}

export async function movePayoutDeadlines(
  tx: Tx,
  clockAdvance: ClockAdvance,
  cursor: Cursor,
): Promise<MovedSet> {
  return toMovedSet(await movePayoutsEarlier(tx, clockAdvance, cursor), cursor);
}

async function sumMoneyLeft(tx: Tx, { environment, firmId }: LeavingFirm) {
  const [balance] = await readBalances(tx, environment, [firmId]);
  return {
    available: asAmount(balance?.available_paise ?? 0),
    dues: asAmount(balance?.dues_paise ?? 0),
  };
}

async function wasReturned(
  tx: Tx,
  { environment, deskId, firmId }: LeavingFirm,
  payee: Payee,
): Promise<boolean> {
  const last = await findLastWithdrawal(tx, deskId, firmId);
  const account = resolveAccount(payee, environment);
  if (last?.state !== "returned") return false;
  return last.ifsc === (account?.ifsc ?? null) && last.last4 === (account?.last4 ?? null);
}
