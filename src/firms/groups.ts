// Groups and their members. A group is a column of the firm. Its positions read members, credits by
// scheme and expiry bucket, and coming duty in one statement, so all figures are of one moment, and
// are added up exactly.

import type { Static } from "typebox";

import { recordChanges } from "../journal/record-changes.ts";
import { type Change, toActor } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey, createdWasDeleted } from "../platform/http/idempotency.ts";
import { type Db, type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import { readNewest } from "../platform/postgres/list.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { refuseOffboarded } from "./find-firms.ts";
import { listGroupActions, mustJoin, refuseMembers, sumPositions } from "./group-rules.ts";
import {
  type CreateGroupBody,
  Group,
  GroupParams,
  type GroupPositions,
  Member,
  type MemberParams,
  type UpdateGroupBody,
} from "./group-schema.ts";
import {
  deleteGroup as deleteRow,
  findGroup,
  findGroupByName,
  groupNameConstraint,
  type GroupRow,
  insertGroup,
  listGroupRows,
  listMemberRows,
  lockGroup,
  type Membership,
  setGroupChanged,
  setGroupName,
  sumMembers,
} from "./group-store.ts";
import { buildMembershipChange, type GroupMove, lockMembership, setGroup } from "./update-firm.ts";

export async function createGroup(
  ctx: Context,
  call: Call,
  body: CreateGroupBody,
): Promise<Creation<Group>> {
  const now = ctx.now();
  refuseSubAccount(visibleTo(call.caller), "act for a group");
  const row: GroupRow = {
    group_id: newId("grp", now),
    environment: call.caller.environment,
    desk_id: call.caller.deskId,
    name: body.name,
    member_count: 0,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  return await catchNameConflict(ctx, { deskId: row.desk_id, name: row.name }, () =>
    ctx.db.transaction(
      async (tx): Promise<Creation<Group>> => {
        const createdBefore = await claimIdempotencyKey(tx, {
          call,
          operation: "createGroup",
          body,
          idField: "group_id",
          newId: row.group_id,
          now,
        });
        if (createdBefore) {
          return {
            outcome: "replayed",
            resource: await findCreatedEarlier(tx, call, createdBefore),
          };
        }
        await insertGroup(tx, row);
        const created = buildGroupChange("group.created", { before: null, after: row });
        await recordChanges(tx, toActor(call), [created], now);
        return { outcome: call.dryRun ? "dry_run" : "created", resource: viewGroup(row) };
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** Renames a group; does nothing when it has the name already. */
export async function updateGroup(
  ctx: Context,
  call: Call,
  { group_id: groupId, name }: Static<typeof GroupParams> & UpdateGroupBody,
): Promise<Group> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(visibleTo(caller), "act for a group");
  return await catchNameConflict(ctx, { deskId: caller.deskId, name }, () =>
    ctx.db.transaction(
      async (tx) => {
        const before = await lockGroupOfDesk(tx, caller, groupId);
        if (before.name === name) return viewGroup(before);
        await setGroupName(tx, caller.deskId, { groupId, name, now });
        const after = await requireGroup(tx, caller, groupId);
        const renamed = buildGroupChange("group.updated", { before, after });
        await recordChanges(tx, toActor(call), [renamed], now);
        return viewGroup(after);
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** Deletes a group without members and returns it as it was. */
export async function deleteGroup(ctx: Context, call: Call, groupId: string): Promise<Group> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(visibleTo(caller), "act for a group");
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockGroupOfDesk(tx, caller, groupId);
      refuseMembers(before);
      await deleteRow(tx, caller.deskId, groupId);
      const deleted = buildGroupChange("group.deleted", { before, after: null });
      await recordChanges(tx, toActor(call), [deleted], now);
      return viewGroup(before);
    },
    { rollBack: call.dryRun },
  );
}

export async function readGroup(ctx: Context, caller: Caller, groupId: string): Promise<Group> {
  refuseSubAccount(visibleTo(caller), "act for a group");
  return viewGroup(await requireGroup(ctx.db, caller, groupId));
}

export const groupsOfDesk = deskPages({
  name: "groups",
  of: Group,
  order: "Newest first.",
  read: async (ctx, caller, query) => {
    refuseSubAccount(visibleTo(caller), "act for a group");
    const { deskId } = caller;
    const question = { list: "groups", desk: deskId };
    const page = await readNewest(ctx, { query, question }, listGroupRows(deskId));
    return { ...page, rows: page.rows.map(viewGroup) };
  },
});

type MemberOfGroup = Static<typeof MemberParams>;

/** Adds a firm to a group; does nothing when it is a member already. */
export async function addMember(ctx: Context, call: Call, member: MemberOfGroup): Promise<Group> {
  return await changeMember(ctx, call, {
    ...member,
    action: "group.member_added",
    decideGroup: (group, firm) => {
      if (!mustJoin(group, firm.group_id)) return firm.group_id;
      refuseOffboarded(firm);
      return member.group_id;
    },
  });
}

/** Removes a firm from a group; does nothing when it is no member. */
export async function removeMember(
  ctx: Context,
  call: Call,
  member: MemberOfGroup,
): Promise<Group> {
  return await changeMember(ctx, call, {
    ...member,
    action: "group.member_removed",
    decideGroup: (_, { group_id }) => (group_id === member.group_id ? null : group_id),
  });
}

type MemberChange = MemberOfGroup & {
  readonly action: "group.member_added" | "group.member_removed";
  /** The group that the firm is in afterwards. */
  readonly decideGroup: (group: GroupRow, firm: Membership) => string | null;
};

async function changeMember(
  ctx: Context,
  call: Call,
  { group_id: groupId, firm_id: firmId, action, decideGroup }: MemberChange,
): Promise<Group> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(visibleTo(caller), "act for a group");
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await lockMembership(tx, caller.deskId, firmId);
      const before = await lockGroupOfDesk(tx, caller, groupId);
      const newGroupId = decideGroup(before, firm);
      if (newGroupId === firm.group_id) return viewGroup(before);
      const changed = await setGroup(tx, firm, newGroupId, now);
      await setGroupChanged(tx, caller.deskId, { groupId, now });
      const after = await requireGroup(tx, caller, groupId);
      const changes = [buildMembershipChange(changed), buildGroupChange(action, { before, after })];
      await recordChanges(tx, toActor(call), changes, now);
      return viewGroup(after);
    },
    { rollBack: call.dryRun },
  );
}

export const membersOfGroup = deskPages({
  name: "members",
  params: GroupParams,
  of: Member,
  order: "Newest firm first.",
  read: async (ctx, caller, { group_id: groupId, ...query }) => {
    refuseSubAccount(visibleTo(caller), "act for a group");
    await requireGroup(ctx.db, caller, groupId);
    const { deskId } = caller;
    const question = { list: "members", desk: deskId, group: groupId };
    const page = await readNewest(ctx, { query, question }, listMemberRows(deskId, groupId));
    const rows = page.rows.map(({ created_at: _at, ...member }) => member);
    return { ...page, rows };
  },
});

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
  if (!members) throw notFound("group_id");
  return { group_id: groupId, as_of: istTimestamp(now), ...sumPositions(members) };
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

/** A group of the caller's desk. */
export async function requireGroup(
  db: Db,
  { deskId }: Pick<Caller, "deskId">,
  groupId: string,
): Promise<GroupRow> {
  const row = isId("grp", groupId) ? await findGroup(db, deskId, groupId) : undefined;
  if (!row) throw notFound("group_id");
  return row;
}

/** A retry whose group was deleted meanwhile is refused: a retry never creates a second group. */
async function findCreatedEarlier(tx: Tx, { caller }: Call, groupId: string): Promise<Group> {
  const row = await findGroup(tx, caller.deskId, groupId);
  if (row) return viewGroup(row);
  throw createdWasDeleted("group", groupId);
}

function viewGroup(row: GroupRow): Group {
  return {
    group_id: row.group_id,
    name: row.name,
    member_count: row.member_count,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: listGroupActions(row),
  };
}

/** The same, locked. It is read after the lock, so that its number of members is current. */
async function lockGroupOfDesk(
  tx: Tx,
  caller: Pick<Caller, "deskId">,
  groupId: string,
): Promise<GroupRow> {
  const locked = isId("grp", groupId) && (await lockGroup(tx, caller.deskId, groupId));
  if (!locked) throw notFound("group_id");
  return await requireGroup(tx, caller, groupId);
}

/** Runs a write that names a group, and turns the unique violation into a conflict. */
async function catchNameConflict<Result>(
  ctx: Context,
  { deskId, name }: { readonly deskId: string; readonly name: string },
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (violatedConstraint(error) !== groupNameConstraint) throw error;
    const holder = await findGroupByName(ctx.db, deskId, name);
    throw new Failure("conflict", "a group of your desk has this name", {
      detail: { reason: "name_taken", ...(holder && { group_id: holder.group_id }) },
    });
  }
}

/** A change of a group for the audit trail; there is no event for it. */
function buildGroupChange(
  action: string,
  { before, after }: { readonly before: GroupRow | null; readonly after: GroupRow | null },
): Change {
  const row = after ?? before;
  if (!row) throw new Error("a change has a row before or after it");
  return {
    environment: row.environment,
    deskId: row.desk_id,
    firmId: row.desk_id,
    action,
    entity: {
      type: "group",
      id: row.group_id,
      version: row.version,
      href: `/v1/groups/${row.group_id}`,
    },
    after: after && viewGroup(after),
  };
}
