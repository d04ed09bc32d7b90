import type { OnLost } from "../credits/apply-registry-news.ts";
import { endCrosses, type Ending } from "./end-crosses.ts";
import { type CrossRow, listByCredits, lockCrosses } from "./store.ts";

/** What customs takes from a cross, the cross cannot deliver: it ends, and money in it goes back. */
export const loseCredits: OnLost = {
  list: async (db, { environment, scripNos }) => await listByCredits(db, environment, scripNos),
  async lock(tx, crossIds) {
    await lockCrosses(tx, crossIds);
  },
  async follow(tx, _actor, { environment, credits }, now) {
    const scripNos = credits.map(({ scripNo }) => scripNo);
    const crossIds = await listByCredits(tx, environment, scripNos);
    if (crossIds.length === 0) return [];
    const crosses = await lockCrosses(tx, crossIds);
    return await endCrosses(tx, crosses.map(endingOf), now);
  },
};

function endingOf(cross: CrossRow): Ending {
  const move = cross.state === "funded" ? "refund" : "lose";
  return { cross, move, action: move, reason: "credit_unavailable" };
}
