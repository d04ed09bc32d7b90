// A group is a column of the firm. Its positions read members, credits by scheme and expiry bucket, and
// coming duty in one statement, so all figures are of one moment, and are added up exactly.

import { recordChanges } from "../journal/record-changes.ts";
import { type Change, toActor } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { closePage, countOnce, openPage, type Page } from "../kernel/page.ts";
import { istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey, createdWasDeleted } from "../platform/http/idempotency.ts";
import { type Db, type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import { listGroupActions, refuseMembers } from "./group-rules.ts";
import type { CreateGroupBody, Group, ListGroupsQuery, UpdateGroupBody } from "./group-schema.ts";
import {
  countGroups,
  deleteGroup as deleteRow,
  findGroup,
  findGroupByName,
  groupNameConstraint,
  type GroupRow,
  insertGroup,
  listGroups as listRows,
  lockGroup,
  setGroupName,
} from "./group-store.ts";

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
        return { outcome: call.dryRun ? "tried" : "created", resource: viewGroup(row) };
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** A retry whose group was deleted meanwhile is refused: a retry never creates a second group. */
async function findCreatedEarlier(tx: Tx, { caller }: Call, groupId: string): Promise<Group> {
  const row = await findGroup(tx, caller.deskId, groupId);
  if (row) return viewGroup(row);
  throw createdWasDeleted("group", groupId);
}

/** Renames a group; does nothing when it has the name already. */
export async function updateGroup(
  ctx: Context,
  call: Call,
  { groupId, name }: { readonly groupId: string } & UpdateGroupBody,
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

export async function listGroups(
  ctx: Context,
  caller: Caller,
  query: ListGroupsQuery,
): Promise<Page<Group>> {
  refuseSubAccount(visibleTo(caller), "act for a group");
  const question = { list: "groups", desk: caller.deskId };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db, caller.deskId, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await countOnce(request, () => countGroups(ctx.db, caller.deskId)),
    toPosition: (row) => ({ at: row.created_at, id: row.group_id }),
  });
  return { ...page, rows: page.rows.map(viewGroup) };
}

export function viewGroup(row: GroupRow): Group {
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

/** A change of a group for the audit trail; there is no event for it. */
export function buildGroupChange(
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
    before: before && viewGroup(before),
    after: after && viewGroup(after),
  };
}

/** A group of the caller's desk. */
export async function requireGroup(
  db: Db,
  { deskId }: Pick<Caller, "deskId">,
  groupId: string,
): Promise<GroupRow> {
  const row = isId("grp", groupId) ? await findGroup(db, deskId, groupId) : undefined;
  if (!row) throw notFound();
  return row;
}

/** The same, locked. It is read after the lock, so that its number of members is current. */
export async function lockGroupOfDesk(
  tx: Tx,
  caller: Pick<Caller, "deskId">,
  groupId: string,
): Promise<GroupRow> {
  const locked = isId("grp", groupId) && (await lockGroup(tx, caller.deskId, groupId));
  if (!locked) throw notFound();
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
