import { recordChanges } from "../events/record-changes.ts";
import type { Answered } from "../inquiries/rules.ts";
import type { Actor } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfCredit } from "./change-of-credit.ts";
import { creditLifecycle, isLive } from "./rules.ts";
import { type CreditRow, lockOpenByNumber, setCredits } from "./store.ts";
import { rejectRivals } from "./take-declarations.ts";

/**
 * What the registry found about claims: confirmed ones are listed, the others rejected. A claim to
 * a number with a live holding is rejected even when it is confirmed: the holding must end first,
 * so that a scrip never has two.
 */
export async function applyHoldings(
  tx: Tx,
  actor: Actor,
  answered: readonly Answered<"credit_holding">[],
  now: Date,
): Promise<void> {
  const changes = [];
  for (const environment of new Set(answered.map((inquiry) => inquiry.environment))) {
    const asked = answered.filter((inquiry) => inquiry.environment === environment);
    const numbers = [...new Set(asked.map(({ facts }) => facts.scrip_no))];
    const open = await lockOpenByNumber(tx, environment, numbers);
    const judged = judge(asked, open);
    if (judged.length === 0) continue;
    const before = new Map(open.map((row) => [row.credit_id, row]));
    const placed = await setCredits(tx, judged, now);
    changes.push(
      ...placed.map((after) =>
        changeOfCredit({
          action: after.state === "listed" ? "confirm" : "reject",
          before: before.get(after.credit_id) ?? null,
          after,
          ...(after.state === "listed" && { event: "credit.listed" }),
        }),
      ),
      ...(await rejectRivals(tx, placed, now)),
    );
  }
  await recordChanges(tx, actor, changes, now);
}

function judge(
  asked: readonly Answered<"credit_holding">[],
  open: readonly CreditRow[],
): CreditRow[] {
  const claims = new Map(open.map((row) => [row.credit_id, row]));
  const taken = new Set(open.filter(({ state }) => isLive(state)).map((row) => row.scrip_no));
  return asked.flatMap(({ subject_id, answer, as_of }) => {
    const claim = claims.get(subject_id);
    if (claim?.state !== "declared") return [];
    const wins = answer.held && !taken.has(claim.scrip_no);
    if (wins) taken.add(claim.scrip_no);
    const state = advance(creditLifecycle, claim.state, wins ? "confirm" : "reject");
    const reason = answer.held ? "held_elsewhere" : answer.reason;
    return [{ ...claim, state, reason: wins ? null : reason, as_of }];
  });
}
