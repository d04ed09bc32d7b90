import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { lockGroupOfDesk } from "./group-of-desk.ts";
import { refuseMembers, refuseSubAccount } from "./rules.ts";
import type { Group } from "./schema.ts";
import { deleteGroup as deleteRow } from "./store.ts";
import { groupChange, viewGroup } from "./view-group.ts";

/** Ends a group without members; the answer is what it was. */
export async function deleteGroup(ctx: Context, call: Call, groupId: string): Promise<Group> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(caller);
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockGroupOfDesk(tx, caller, groupId);
      refuseMembers(before);
      await deleteRow(tx, caller.deskId, groupId);
      const deleted = groupChange("group.deleted", { before, after: null });
      await recordChanges(tx, actorOf(call), [deleted], now);
      return viewGroup(before);
    },
    { rollBack: call.dryRun },
  );
}
