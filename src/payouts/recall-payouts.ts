import { recordChanges } from "../events/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { assertWritten, type Resolution } from "../ledger/rules.ts";
import { resolveEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { movePayout } from "./move-payout.ts";
import { changeOfPayout } from "./change-of-payout.ts";
import { lockPayouts, lockPayoutsOf, type PayoutRow, setPayouts } from "./store.ts";

/** What is left for the caller: the resolutions to write with its own, and the changes to record. */
export type RecalledPayouts = {
  readonly resolutions: readonly Resolution[];
  readonly changes: readonly Change[];
  /** What became each firm's balance again. */
  readonly paiseByFirm: ReadonlyMap<string, number>;
};

/**
 * Calls back what a settlement pays out and has not been sent. Refused while money is between here
 * and its bank: nobody knows yet whose it is.
 */
export async function recallPayoutsOf(
  tx: Tx,
  settlementId: string,
  now: Date,
): Promise<RecalledPayouts> {
  const rows = await lockPayoutsOf(tx, settlementId);
  const underWay = rows.find((row) => row.state === "sent");
  if (underWay) {
    throw new Failure("conflict", `the payout ${underWay.payout_id} is with the bank`, {
      detail: { reason: "payout_sent", payout_id: underWay.payout_id },
    });
  }
  const unsent = rows.filter((row) => row.state === "scheduled" || row.state === "held");
  return await recall(tx, unsent, "reversed", now);
}

/** The operator keeps money here that has not been sent. */
export async function recallPayout(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { payoutId, reason }: { readonly payoutId: string; readonly reason: string },
): Promise<void> {
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    const [row] = await lockPayouts(tx, [payoutId]);
    if (!row) throw new Failure("not_found", `no payout ${payoutId}`);
    const { resolutions, changes } = await recall(tx, [row], reason, now);
    assertWritten(await resolveEntries(tx, resolutions, now));
    await recordChanges(tx, operator, changes, now);
  });
}

async function recall(
  tx: Tx,
  unsent: readonly PayoutRow[],
  reason: string,
  now: Date,
): Promise<RecalledPayouts> {
  const recalled = unsent.map((before) => ({
    action: "recall" as const,
    before,
    after: movePayout(before, "recall", { reason, now }),
  }));
  if (recalled.length > 0) {
    await setPayouts(
      tx,
      recalled.map(({ after }) => after),
    );
  }
  const paiseByFirm = new Map<string, number>();
  for (const { firm_id, paise } of unsent) {
    paiseByFirm.set(firm_id, (paiseByFirm.get(firm_id) ?? 0) + paise);
  }
  return {
    resolutions: unsent.map(({ environment, payout_id }) => ({
      environment,
      kind: "payout",
      subject: payout_id,
      as: "voided",
    })),
    changes: recalled.map(changeOfPayout),
    paiseByFirm,
  };
}
