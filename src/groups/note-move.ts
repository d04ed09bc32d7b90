import type { GroupMove } from "../firms/set-group.ts";
import type { Change } from "../kernel/actor.ts";
import { isId } from "../kernel/ids.ts";
import type { Tx } from "../platform/postgres.ts";
import { groupOfDesk } from "./group-of-desk.ts";
import { mustJoin } from "./rules.ts";
import { lockGroup, setGroupChanged } from "./store.ts";
import { groupChange } from "./view-group.ts";

/**
 * The groups' side of a firm that is registered into one or corrected to be in another; the firm
 * itself is written afterwards. A group that is not the desk's is left to the firm's own check.
 */
export async function noteMove(
  tx: Tx,
  { deskId, from, to }: GroupMove,
  now: Date,
): Promise<Change[]> {
  const changes: Change[] = [];
  const groups = [from, to].filter((groupId) => groupId !== null);
  for (const groupId of groups.toSorted()) {
    if (!isId("grp", groupId) || !(await lockGroup(tx, deskId, groupId))) continue;
    const before = await groupOfDesk(tx, { deskId }, groupId);
    const joins = groupId === to;
    if (joins) mustJoin(before, null);
    await setGroupChanged(tx, deskId, { groupId, now });
    const after = {
      ...before,
      member_count: before.member_count + (joins ? 1 : -1),
      version: before.version + 1,
      updated_at: now,
    };
    const action = joins ? "group.member_added" : "group.member_removed";
    changes.push(groupChange(action, { before, after }));
  }
  return changes;
}
