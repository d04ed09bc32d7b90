import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { entriesAbout } from "../ledger/read-books.ts";
import { assertWritten } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import { type Tx, violatedConstraint } from "../platform/postgres.ts";
import { earnAgain } from "./decide-payouts.ts";
import { schedulePayouts } from "./schedule-payouts.ts";
import {
  listLines,
  listPayoutsById,
  lockPayoutChain,
  lockPayouts,
  type PayoutRow,
} from "./store.ts";

/** Money that came back goes out again, as another payout with the same lines. */
export async function resendPayout(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  payoutId: string,
): Promise<PayoutRow> {
  const now = ctx.now();
  const resending = ctx.db.transaction(async (tx) => {
    const [known] = await listPayoutsById(tx, [payoutId]);
    if (!known) throw new Failure("not_found", `no payout ${payoutId}`);
    if (known.settlement_id !== null) await lockPayoutChain(tx, known.settlement_id);
    const [row] = await lockPayouts(tx, [payoutId]);
    if (!row) throw new Error("a payout stays");
    const lines = await listLines(tx, [payoutId]);
    const earning = earnAgain(row, { lines, isReversed: await isReversed(tx, row) });
    const { payouts, entries, changes } = await schedulePayouts(tx, [earning], now);
    const written = await postEntries(tx, entries, now);
    if (written.some((item) => !item.ok && item.refusal.reason === "insufficient_funds")) {
      throw new Failure("conflict", "the firm has spent the money since", {
        detail: { reason: "insufficient_funds" },
      });
    }
    assertWritten(written);
    await recordChanges(tx, operator, changes, now);
    const [resent] = payouts;
    if (!resent) throw new Error("one earning is one payout");
    return resent;
  });
  return await resending.catch((error: unknown) => {
    if (violatedConstraint(error) !== "payouts_resent_once") throw error;
    throw new Failure("conflict", "this payout was sent again before", {
      detail: { reason: "already_resent" },
    });
  });
}

async function isReversed(
  tx: Tx,
  { environment, settlement_id: subject }: PayoutRow,
): Promise<boolean> {
  if (subject === null) return false;
  return (await entriesAbout(tx, { environment, kind: "reversal", subject })).length > 0;
}
