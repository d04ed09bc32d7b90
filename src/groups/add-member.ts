import { recordChanges } from "../events/record-changes.ts";
import { refuseOffboarded } from "../firms/firm-of-caller.ts";
import { lockMembership, membershipChange, setGroup } from "../firms/set-group.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { groupOfDesk, lockGroupOfDesk } from "./group-of-desk.ts";
import { mustJoin, refuseSubAccount } from "./rules.ts";
import type { Group } from "./schema.ts";
import { setGroupChanged } from "./store.ts";
import { groupChange, viewGroup } from "./view-group.ts";

export type MemberOfGroup = { readonly groupId: string; readonly firmId: string };

/** Puts a firm into a group. A member is put in again without a change. */
export async function addMember(
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
      if (!mustJoin(before, firm.group_id)) return viewGroup(before);
      refuseOffboarded(firm);
      const joined = await setGroup(tx, firm, groupId, now);
      await setGroupChanged(tx, caller.deskId, { groupId, now });
      const after = await groupOfDesk(tx, caller, groupId);
      const changes = [
        membershipChange({ before: firm, after: joined }),
        groupChange("group.member_added", { before, after }),
      ];
      await recordChanges(tx, actorOf(call), changes, now);
      return viewGroup(after);
    },
    { rollBack: call.dryRun },
  );
}
