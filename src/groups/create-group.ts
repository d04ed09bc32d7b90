import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import type { Creation } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import { claimIdempotencyKey } from "../platform/idempotency.ts";
import type { Tx } from "../platform/postgres.ts";
import { naming } from "./group-of-desk.ts";
import { refuseSubAccount } from "./rules.ts";
import type { CreateGroupBody, Group } from "./schema.ts";
import { findGroup, type GroupRow, insertGroup } from "./store.ts";
import { groupChange, viewGroup } from "./view-group.ts";

export async function createGroup(
  ctx: Context,
  call: Call,
  body: CreateGroupBody,
): Promise<Creation<Group>> {
  const now = ctx.now();
  refuseSubAccount(call.caller);
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
  return await naming(ctx, { deskId: row.desk_id, name: row.name }, () =>
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
          return { outcome: "replayed", resource: await createdEarlier(tx, call, createdBefore) };
        }
        await insertGroup(tx, row);
        const created = groupChange("group.created", { before: null, after: row });
        await recordChanges(tx, actorOf(call), [created], now);
        return { outcome: call.dryRun ? "tried" : "created", resource: viewGroup(row) };
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** What the key created may be gone by now; creating it again is not what a retry asks for. */
async function createdEarlier(tx: Tx, { caller }: Call, groupId: string): Promise<Group> {
  const row = await findGroup(tx, caller.deskId, groupId);
  if (row) return viewGroup(row);
  throw new Failure("conflict", "the group this idempotency key created has been deleted", {
    detail: { reason: "deleted", group_id: groupId },
  });
}
