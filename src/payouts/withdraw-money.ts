import { recordChanges } from "../events/record-changes.ts";
import { firmOfCaller, lockFirmOfCaller } from "../firms/firm-of-caller.ts";
import { payeesOf } from "../firms/payees.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import { spendKeyLimits } from "../keys/spend-key-limits.ts";
import { balancesOf } from "../ledger/read-books.ts";
import { assertWritten } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Creation } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import { claimIdempotencyKey } from "../platform/idempotency.ts";
import { noAccount, refuseShort, refuseState, refuseUnfunded } from "./refusals.ts";
import { accountOf } from "./rules.ts";
import { schedulePayouts } from "./schedule-payouts.ts";
import type { Payout, WithdrawMoneyBody } from "./schema.ts";
import { findPayout } from "./store.ts";
import { viewPayout } from "./view-payout.ts";

/**
 * Pays a firm's available money to its account, by a payout that is held for the reasons of any
 * other. The firm is locked before its balance is looked at, so that two withdrawals of a firm that
 * owes us something do not each count on the money that covers it.
 */
export async function withdrawMoney(
  ctx: Context,
  call: Call,
  { firmId, ...body }: { readonly firmId: string } & WithdrawMoneyBody,
): Promise<Creation<Payout>> {
  const now = ctx.now();
  const { caller } = call;
  const { environment, deskId } = caller;
  const paise = body.amount_paise;
  return await ctx.db.transaction(
    async (tx): Promise<Creation<Payout>> => {
      await firmOfCaller(tx, caller, firmId);
      const payoutId = newId("pay", now);
      const earlier = await claimIdempotencyKey(tx, {
        call,
        operation: "withdrawMoney",
        body: { ...body, firm_id: firmId },
        idField: "payout_id",
        newId: payoutId,
        now,
      });
      if (earlier) {
        const row = await findPayout(tx, { deskId, firmId }, earlier);
        if (!row) throw new Error("a payout stays");
        return { outcome: "replayed", resource: viewPayout(row, []) };
      }
      refuseState(await lockFirmOfCaller(tx, caller, firmId));
      await spendKeyLimits(tx, caller, { deals: [paise], now });
      const payee = (await payeesOf(tx, [firmId], now)).get(firmId);
      if (!payee || !accountOf(payee, environment)) throw noAccount();
      const [balance] = await balancesOf(tx, environment, [firmId]);
      refuseShort(balance, paise);
      const earning = { environment, deskId, firmId, settlementId: null, lines: [] };
      const { payouts, entries, changes } = await schedulePayouts(
        tx,
        [{ ...earning, payoutId, withdrawnPaise: paise }],
        now,
      );
      const written = await postEntries(tx, entries, now);
      refuseUnfunded(written);
      assertWritten(written);
      await recordChanges(tx, actorOf(call), changes, now);
      const [row] = payouts;
      if (!row) throw new Error("one earning is one payout");
      return { outcome: call.dryRun ? "tried" : "created", resource: viewPayout(row, []) };
    },
    { rollBack: call.dryRun },
  );
}
