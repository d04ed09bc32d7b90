import type { Change } from "../kernel/actor.ts";
import type { Tx } from "../platform/postgres.ts";
import { endCrosses, type Ending } from "./end-crosses.ts";
import { type CrossRow, lockOpenWithin } from "./store.ts";

/** What a desk proposed and what is open among its own firms, locked before credits are. */
export async function lockCrossesWithin(tx: Tx, deskId: string): Promise<readonly CrossRow[]> {
  return await lockOpenWithin(tx, deskId);
}

/** A desk gives up on these. */
export async function giveUpCrosses(
  tx: Tx,
  { crosses, reason }: { readonly crosses: readonly CrossRow[]; readonly reason: string },
  now: Date,
): Promise<readonly Change[]> {
  const endingOf = (cross: CrossRow): Ending => ({
    cross,
    move: cross.state === "funded" ? "refund" : "cancel",
    action: "cancel",
    reason,
  });
  return await endCrosses(tx, crosses.map(endingOf), now);
}
