import { dropQuestions } from "../inquiries/ask-outside.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfCredit } from "./change-of-credit.ts";
import { claimFreeOfDesk, lockFreeOfDesk } from "./deal-store.ts";
import { leaveBooks } from "./leave-books.ts";
import { creditLifecycle } from "./rules.ts";
import { type CreditRow, lockFreeOfFirm, setCredits } from "./store.ts";

/** A firm that leaves takes its credits with it: all that no deal has, as one set. */
export async function withdrawAllCredits(
  tx: Tx,
  _actor: Actor,
  { firmId }: { readonly firmId: string },
  now: Date,
): Promise<Change[]> {
  return await withdraw(tx, await lockFreeOfFirm(tx, firmId), { reason: "firm_left", now });
}

/** Locks all that no deal has of a desk's firms, for who locks more before it withdraws them. */
export async function lockFreeCredits(tx: Tx, deskId: string): Promise<void> {
  await lockFreeOfDesk(tx, deskId);
}

/**
 * A sandbox desk begins anew: all that no deal has of all its firms. What was free is locked, and what
 * became free since is so by this transaction; what others hold now has come since.
 */
export async function withdrawAllOfDesk(tx: Tx, deskId: string, now: Date): Promise<Change[]> {
  return await withdraw(tx, await claimFreeOfDesk(tx, deskId), { reason: "sandbox_reset", now });
}

async function withdraw(
  tx: Tx,
  free: readonly CreditRow[],
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<Change[]> {
  if (free.length === 0) return [];
  const before = new Map(free.map((row) => [row.credit_id, row]));
  const withdrawn = await setCredits(
    tx,
    free.map((row) => ({
      ...row,
      state: advance(creditLifecycle, row.state, "withdraw"),
      reason,
      as_of: now,
    })),
    now,
  );
  await leaveBooks(
    tx,
    withdrawn.map((after) => ({ before: before.get(after.credit_id), after })),
    now,
  );
  await dropQuestions(
    tx,
    free.filter(({ state }) => state === "declared").map(({ credit_id }) => credit_id),
  );
  return withdrawn.map((after) =>
    changeOfCredit({
      action: "withdraw",
      before: before.get(after.credit_id) ?? null,
      after,
      event: "credit.withdrawn",
      data: { reason },
    }),
  );
}
