import type { Tx } from "../platform/postgres.ts";
import type { OnEnded } from "../settlement/conclude-legs.ts";
import { changesOfCross } from "./change-of-cross.ts";
import { moveCross } from "./move-cross.ts";
import { lockBySettlements, setCrosses } from "./store.ts";

/** Who then locks credits of these settlements can still have their crosses follow them. */
export async function lockCrossesOf(tx: Tx, settlementIds: readonly string[]): Promise<void> {
  await lockBySettlements(tx, settlementIds);
}

/**
 * A cross ends as its settlement does: settled with whatever was delivered, failed when nothing was.
 * Joins the transaction that ended the settlements. Whoever holds a released cross waits for nothing
 * else, so it can be waited for here.
 */
export const followSettlements: OnEnded = async (tx, _actor, ended, now) => {
  // A buyer's side has all the legs, so it ends with the settlement.
  const bought = ended.filter(({ side }) => side === "buy");
  const states = new Map(bought.map(({ settlementId, state }) => [settlementId, state]));
  if (states.size === 0) return [];
  const crosses = await lockBySettlements(tx, [...states.keys()]);
  if (crosses.length === 0) return [];
  const moved = crosses.map((before) => {
    const isFailed = states.get(before.settlement_id ?? "") === "failed";
    const action = isFailed ? "fail" : "settle";
    const reason = isFailed ? "settlement_failed" : null;
    return { action, before, after: moveCross(before, action, { reason, now }) };
  });
  await setCrosses(
    tx,
    moved.map(({ after }) => after),
  );
  return moved.flatMap(changesOfCross);
};
