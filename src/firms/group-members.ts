import { recordChanges } from "../journal/record-changes.ts";
import { type Change, toActor } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { closePage, openPage, type Page } from "../kernel/page.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { refuseOffboarded } from "./find-firms.ts";
import { mustJoin, sumPositions } from "./group-rules.ts";
import type { Group, GroupPositions, ListGroupsQuery, Member } from "./group-schema.ts";
import { listMembers as listRows, lockGroup, setGroupChanged, sumMembers } from "./group-store.ts";
import { buildGroupChange, requireGroup, lockGroupOfDesk, viewGroup } from "./groups.ts";
import { type GroupMove, lockMembership, buildMembershipChange, setGroup } from "./update-firm.ts";

type MemberOfGroup = { readonly groupId: string; readonly firmId: string };

/** Adds a firm to a group; does nothing when it is a member already. */
export async function addMember(
  ctx: Context,
  call: Call,
  { groupId, firmId }: MemberOfGroup,
): Promise<Group> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(visibleTo(caller), "act for a group");
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await lockMembership(tx, caller.deskId, firmId);
      const before = await lockGroupOfDesk(tx, caller, groupId);
      if (!mustJoin(before, firm.group_id)) return viewGroup(before);
      refuseOffboarded(firm);
      const joined = await setGroup(tx, firm, groupId, now);
      await setGroupChanged(tx, caller.deskId, { groupId, now });
      const after = await requireGroup(tx, caller, groupId);
      const changes = [
        buildMembershipChange({ before: firm, after: joined }),
        buildGroupChange("group.member_added", { before, after }),
      ];
      await recordChanges(tx, toActor(call), changes, now);
      return viewGroup(after);
    },
    { rollBack: call.dryRun },
  );
}

/** Removes a firm from a group; does nothing when it is no member. */
export async function removeMember(
  ctx: Context,
  call: Call,
  { groupId, firmId }: MemberOfGroup,
): Promise<Group> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(visibleTo(caller), "act for a group");
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await lockMembership(tx, caller.deskId, firmId);
      const before = await lockGroupOfDesk(tx, caller, groupId);
      if (firm.group_id !== groupId) return viewGroup(before);
      const left = await setGroup(tx, firm, null, now);
      await setGroupChanged(tx, caller.deskId, { groupId, now });
      const after = await requireGroup(tx, caller, groupId);
      const changes = [
        buildMembershipChange({ before: firm, after: left }),
        buildGroupChange("group.member_removed", { before, after }),
      ];
      await recordChanges(tx, toActor(call), changes, now);
      return viewGroup(after);
    },
    { rollBack: call.dryRun },
  );
}

export async function listMembers(
  ctx: Context,
  caller: Caller,
  { groupId, ...query }: { readonly groupId: string } & ListGroupsQuery,
): Promise<Page<Member>> {
  refuseSubAccount(visibleTo(caller), "act for a group");
  const group = await requireGroup(ctx.db, caller, groupId);
  const question = { list: "members", desk: caller.deskId, group: groupId };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db, { deskId: caller.deskId, groupId }, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: request.total ?? group.member_count,
    toPosition: (row) => ({ at: row.created_at, id: row.firm_id }),
  });
  return {
    ...page,
    rows: page.rows.map(({ firm_id, legal_name, connection_state }) => ({
      firm_id,
      legal_name,
      connection_state,
    })),
  };
}

/**
 * Updates the groups when a firm's own `group_id` is set by registration or update; the caller
 * writes the firm afterwards. A group of another desk is refused by the firm's foreign key.
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
    const before = await requireGroup(tx, { deskId }, groupId);
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
    changes.push(buildGroupChange(action, { before, after }));
  }
  return changes;
}

/** The credits of the members against the duty they will owe, from one snapshot. */
export async function readGroupPositions(
  ctx: Context,
  caller: Caller,
  groupId: string,
): Promise<GroupPositions> {
  const now = ctx.now();
  refuseSubAccount(visibleTo(caller), "act for a group");
  const { deskId } = caller;
  const members = isId("grp", groupId)
    ? await sumMembers(ctx.db, { deskId, groupId }, istDay(now))
    : undefined;
  if (!members) throw notFound();
  return { group_id: groupId, as_of: istTimestamp(now), ...sumPositions(members) };
}
