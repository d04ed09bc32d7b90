import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { assertWritten } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import { violatedConstraint } from "../platform/postgres.ts";
import { schedulePayouts } from "./schedule-payouts.ts";
import { listLines, lockPayouts, type PayoutRow } from "./store.ts";

/** Money that came back goes out again, as another payout with the same lines. */
export async function resendPayout(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  payoutId: string,
): Promise<PayoutRow> {
  const now = ctx.now();
  const resending = ctx.db.transaction(async (tx) => {
    const [row] = await lockPayouts(tx, [payoutId]);
    if (!row) throw new Failure("not_found", `no payout ${payoutId}`);
    refuseUnreturned(row);
    const lines = await listLines(tx, [payoutId]);
    const earning = {
      environment: row.environment,
      deskId: row.desk_id,
      firmId: row.firm_id,
      settlementId: row.settlement_id,
      resendOf: payoutId,
      lines: lines.map(({ order_id, scrip_no, paise }) => ({ order_id, scrip_no, paise })),
    };
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

function refuseUnreturned({ state, reason }: PayoutRow): void {
  if (state !== "returned") {
    throw new Failure("conflict", `a payout that is ${state} is not sent again`, {
      detail: { reason: "wrong_state", state, allowed_actions: [] },
    });
  }
  if (reason === "reversed") {
    throw new Failure("conflict", "the deal that it paid for was reversed", {
      detail: { reason: "settlement_reversed" },
    });
  }
}
