import { recordChanges } from "../events/record-changes.ts";
import { firmOfDesk } from "../firms/firm-of-desk.ts";
import { dropQuestions } from "../inquiries/ask-outside.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { changeOfCredit } from "./change-of-credit.ts";
import { holderOf } from "./holder-of.ts";
import { leaveBooks } from "./leave-books.ts";
import { creditLifecycle, normalScripNo } from "./rules.ts";
import type { Credit } from "./schema.ts";
import { findCredit, lockCredits, setCredits } from "./store.ts";
import { viewCredit } from "./view-credit.ts";

/** The firm takes its credit off the desk; it may declare it again. */
export async function withdrawCredit(ctx: Context, call: Call, scripNo: string): Promise<Credit> {
  return await endHolding(ctx, call, scripNo, "withdraw");
}

/** The firm has paid duty with its credit. */
export async function useCredit(ctx: Context, call: Call, scripNo: string): Promise<Credit> {
  return await endHolding(ctx, call, scripNo, "use");
}

/** Doing it twice is no conflict: a caller that lost the first answer gets it again. */
async function endHolding(
  ctx: Context,
  call: Call,
  scripNo: string,
  action: "withdraw" | "use",
): Promise<Credit> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const number = normalScripNo(scripNo);
      const found = number && (await findCredit(tx, holderOf(call.caller), number));
      const [row] = found ? await lockCredits(tx, [found.credit_id]) : [];
      if (!row) throw notFound();
      const firm = await firmOfDesk(tx, row.desk_id, row.firm_id);
      const view = { firmState: firm.connection_state, today: istDay(now) };
      if (row.state === creditLifecycle.moves[action].to) return viewCredit(row, view);
      const state = advance(creditLifecycle, row.state, action);
      const [after] = await setCredits(tx, [{ ...row, state, as_of: now }], now);
      if (!after) throw new Error("a locked credit keeps its version");
      const event = action === "withdraw" && ({ event: "credit.withdrawn" } as const);
      const change = changeOfCredit({ action, before: row, after, ...event });
      await leaveBooks(tx, [{ before: row, after }], now);
      if (row.state === "declared") await dropQuestions(tx, [row.credit_id]);
      await recordChanges(tx, actorOf(call), [change], now);
      return viewCredit(after, view);
    },
    { rollBack: call.dryRun },
  );
}
