import type { Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import { type Db, type Tx, violatedConstraint } from "../platform/postgres.ts";
import {
  findGroup,
  findGroupByName,
  groupNameConstraint,
  type GroupRow,
  lockGroup,
} from "./store.ts";

/** A group of the caller's desk; not found when it is another desk's or nobody's. */
export async function groupOfDesk(
  db: Db,
  { deskId }: Pick<Caller, "deskId">,
  groupId: string,
): Promise<GroupRow> {
  const row = isId("grp", groupId) ? await findGroup(db, deskId, groupId) : undefined;
  if (!row) throw notFound();
  return row;
}

/** The same, locked. It is read after the lock is held, so that its members are those of now. */
export async function lockGroupOfDesk(
  tx: Tx,
  caller: Pick<Caller, "deskId">,
  groupId: string,
): Promise<GroupRow> {
  const locked = isId("grp", groupId) && (await lockGroup(tx, caller.deskId, groupId));
  if (!locked) throw notFound();
  return await groupOfDesk(tx, caller, groupId);
}

/** Runs a write that names a group, and says which group has the name when one has. */
export async function naming<Result>(
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
