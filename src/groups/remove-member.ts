import { recordChanges } from "../events/record-changes.ts";
import { lockMembership, membershipChange, setGroup } from "../firms/set-group.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { MemberOfGroup } from "./add-member.ts";
import { groupOfDesk, lockGroupOfDesk } from "./group-of-desk.ts";
import { refuseSubAccount } from "./rules.ts";
import type { Group } from "./schema.ts";
import { setGroupChanged } from "./store.ts";
import { groupChange, viewGroup } from "./view-group.ts";

/** Takes a firm out of a group. One that is not in it is taken out without a change. */
export async function removeMember(
  ctx: Context,
  call: Call,
  { groupId, firmId }: MemberOfGroup,
): Promise<Group> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(caller);
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await lockMembership(tx, caller.deskId, firmId);
      const before = await lockGroupOfDesk(tx, caller, groupId);
      if (firm.group_id !== groupId) return viewGroup(before);
      const left = await setGroup(tx, firm, null, now);
      await setGroupChanged(tx, caller.deskId, { groupId, now });
      const after = await groupOfDesk(tx, caller, groupId);
      const changes = [
        membershipChange({ before: firm, after: left }),
        groupChange("group.member_removed", { before, after }),
      ];
      await recordChanges(tx, actorOf(call), changes, now);
      return viewGroup(after);
    },
    { rollBack: call.dryRun },
  );
}
