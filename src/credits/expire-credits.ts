import { recordChanges } from "../events/record-changes.ts";
import { dropQuestions } from "../inquiries/ask-outside.ts";
import type { Actor } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/offenders.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfCredit } from "./change-of-credit.ts";
import { leaveBooks } from "./leave-books.ts";
import { creditLifecycle, daysLeft, expiryDueOn, warningOf } from "./rules.ts";
import { claimExpiring, type CreditRow, setCredits } from "./store.ts";

const setSizeMax = 1_000;
const clock: Actor = { kind: "worker", id: "clock", requestId: null };

/**
 * One set of credits whose day has come: a warning, or the end. A credit is usable to the end of its
 * last day, IST. One that is first seen late gets the warning that fits, not those it missed.
 */
export async function expireCredits(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = ctx.now();
  const today = istDay(now);
  const expire = async (tx: Tx, due: readonly CreditRow[]): Promise<void> => {
    const before = new Map(due.map((row) => [row.credit_id, row]));
    const placed = await setCredits(
      tx,
      due.map((row) => placementOf(row, today)),
      now,
    );
    await leaveBooks(
      tx,
      placed.map((after) => ({ before: before.get(after.credit_id), after })),
      now,
    );
    const ended = due.filter((row) => row.state === "declared" && row.expires_on < today);
    if (ended.length > 0) {
      await dropQuestions(
        tx,
        ended.map(({ credit_id }) => credit_id),
      );
    }
    await recordChanges(
      tx,
      clock,
      placed.map((after) =>
        changeOfCredit({
          action: after.state === "expired" ? "expire" : "warn",
          before: before.get(after.credit_id) ?? null,
          after,
          event: after.state === "expired" ? "credit.expired" : "credit.expiring",
          ...(after.state !== "expired" && {
            data: { days_left: daysLeft(after.expires_on, today), warning_days: after.expiry_told },
          }),
        }),
      ),
      now,
    );
  };
  const done = await workInParts(offenders, (choice, claimed) =>
    ctx.db.transaction(async (tx) => {
      const due = await claimExpiring(tx, today, { limit: setSizeMax, ...choice });
      claimed(due.map((row) => row.credit_id));
      if (due.length > 0) await expire(tx, due);
      return due.length;
    }),
  );
  return done === setSizeMax ? "more" : "idle";
}

function placementOf(row: CreditRow, today: IstDay): CreditRow {
  if (row.expires_on < today) {
    const state = advance(creditLifecycle, row.state, "expire");
    return { ...row, state, state_before_suspension: null };
  }
  const told = warningOf(row.expires_on, today) ?? null;
  return { ...row, expiry_told: told, expiry_due_on: expiryDueOn(row.expires_on, told) };
}
