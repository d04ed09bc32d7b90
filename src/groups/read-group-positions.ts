import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { positionsOf, refuseSubAccount } from "./rules.ts";
import type { GroupPositions } from "./schema.ts";
import { sumMembers } from "./store.ts";

/** What the members hold against the duty they will owe, all as of one moment. */
export async function readGroupPositions(
  ctx: Context,
  caller: Caller,
  groupId: string,
): Promise<GroupPositions> {
  const now = ctx.now();
  refuseSubAccount(caller);
  const { deskId } = caller;
  const members = isId("grp", groupId)
    ? await sumMembers(ctx.db, { deskId, groupId }, istDay(now))
    : undefined;
  if (!members) throw notFound();
  return { group_id: groupId, as_of: istTimestamp(now), ...positionsOf(members) };
}
