import type { OnLost } from "../credits/apply-registry-news.ts";
import { endCrosses, type Ending } from "./end-crosses.ts";
import { claimByCredits, type CrossRow } from "./store.ts";

/** What customs takes from a cross, the cross cannot deliver: it ends, and money in it goes back. */
export const loseCredits: OnLost = async (tx, _actor, { environment, credits }, now) => {
  const crosses = await claimByCredits(
    tx,
    environment,
    credits.map(({ scripNo }) => scripNo),
  );
  return await endCrosses(tx, crosses.map(endingOf), now);
};

function endingOf(cross: CrossRow): Ending {
  const move = cross.state === "funded" ? "refund" : "lose";
  return { cross, move, action: move, reason: "credit_unavailable" };
}
