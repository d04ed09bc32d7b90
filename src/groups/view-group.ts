import type { Change } from "../kernel/actor.ts";
import { istTimestamp } from "../kernel/time.ts";
import { groupActions } from "./rules.ts";
import type { Group } from "./schema.ts";
import type { GroupRow } from "./store.ts";

export function viewGroup(row: GroupRow): Group {
  return {
    group_id: row.group_id,
    name: row.name,
    member_count: row.member_count,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: groupActions(row),
  };
}

/** A change of a group for the audit trail; nobody else is told of it. */
export function groupChange(
  action: string,
  { before, after }: { readonly before: GroupRow | null; readonly after: GroupRow | null },
): Change {
  const row = after ?? before;
  if (!row) throw new Error("a change is of something");
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
