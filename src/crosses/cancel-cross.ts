import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { actOnCross } from "./act-on-cross.ts";
import { endCrosses } from "./end-crosses.ts";
import { moveFor } from "./rules.ts";
import type { Cross } from "./schema.ts";

/** Takes a proposal back, leaves an agreement, or, for the seller, gives the buyer its money back. */
export async function cancelCross(ctx: Context, call: Call, crossId: string): Promise<Cross> {
  const action = "cancel";
  return await actOnCross(ctx, call, { crossId, action }, async (tx, acting) => {
    const { cross, standing, now } = acting;
    const side = standing.sides.includes("sell") ? "by_seller" : "by_buyer";
    const reason = cross.state === "proposed" ? null : side;
    return await endCrosses(tx, [{ cross, move: moveFor(action, standing), action, reason }], now);
  });
}
