import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { actOnCross } from "./act-on-cross.ts";
import { bindAnswerer } from "./bind-answerer.ts";
import { changesOfCross } from "./change-of-cross.ts";
import { moveCross } from "./move-cross.ts";
import { moveFor } from "./rules.ts";
import type { Cross } from "./schema.ts";
import { setCrosses } from "./store.ts";

/** The firm's answer, whichever of its desks gives it: nobody can accept afterwards. */
export async function declineCross(ctx: Context, call: Call, crossId: string): Promise<Cross> {
  const action = "decline";
  return await actOnCross(ctx, call, { crossId, action }, async (tx, acting) => {
    const { cross, standing, now } = acting;
    const move = moveFor(action, standing);
    const after = moveCross(bindAnswerer(cross, call.caller.deskId), move, { now });
    await setCrosses(tx, [after]);
    return changesOfCross({ action, before: cross, after });
  });
}
