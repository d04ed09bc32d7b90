import type { Change } from "../kernel/actor.ts";
import type { Tx } from "../platform/postgres.ts";
import { endCrosses, type Ending } from "./end-crosses.ts";
import { type CrossRow, lockOpenWithin } from "./store.ts";

/** A desk gives up on what it proposed and on what is open among its own firms. */
export async function giveUpCrosses(
  tx: Tx,
  { deskId, reason }: { readonly deskId: string; readonly reason: string },
  now: Date,
): Promise<{ readonly ended: number; readonly changes: readonly Change[] }> {
  const crosses = await lockOpenWithin(tx, deskId);
  const endingOf = (cross: CrossRow): Ending => ({
    cross,
    move: cross.state === "funded" ? "refund" : "cancel",
    action: "cancel",
    reason,
  });
  return {
    ended: crosses.length,
    changes: await endCrosses(tx, crosses.map(endingOf), now),
  };
}
