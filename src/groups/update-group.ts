import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { groupOfDesk, lockGroupOfDesk, naming } from "./group-of-desk.ts";
import { refuseSubAccount } from "./rules.ts";
import type { Group, UpdateGroupBody } from "./schema.ts";
import { setGroupName } from "./store.ts";
import { groupChange, viewGroup } from "./view-group.ts";

/** Gives a group another name. The name it has already changes nothing. */
export async function updateGroup(
  ctx: Context,
  call: Call,
  { groupId, name }: { readonly groupId: string } & UpdateGroupBody,
): Promise<Group> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(caller);
  return await naming(ctx, { deskId: caller.deskId, name }, () =>
    ctx.db.transaction(
      async (tx) => {
        const before = await lockGroupOfDesk(tx, caller, groupId);
        if (before.name === name) return viewGroup(before);
        await setGroupName(tx, caller.deskId, { groupId, name, now });
        const after = await groupOfDesk(tx, caller, groupId);
        const renamed = groupChange("group.updated", { before, after });
        await recordChanges(tx, actorOf(call), [renamed], now);
        return viewGroup(after);
      },
      { rollBack: call.dryRun },
    ),
  );
}
