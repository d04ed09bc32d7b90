import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import { refuseSubAccount } from "./rules.ts";
import type { Group, ListGroupsQuery } from "./schema.ts";
import { countGroups, listGroups as listRows } from "./store.ts";
import { viewGroup } from "./view-group.ts";

export async function listGroups(
  ctx: Context,
  caller: Caller,
  query: ListGroupsQuery,
): Promise<Page<Group>> {
  refuseSubAccount(caller);
  const question = { list: "groups", desk: caller.deskId };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db, caller.deskId, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countGroups(ctx.db, caller.deskId)),
    positionOf: (row) => ({ at: row.created_at, id: row.group_id }),
  });
  return { ...page, rows: page.rows.map(viewGroup) };
}
