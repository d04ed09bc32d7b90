import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import { groupOfDesk } from "./group-of-desk.ts";
import { refuseSubAccount } from "./rules.ts";
import type { ListGroupsQuery, Member } from "./schema.ts";
import { listMembers as listRows } from "./store.ts";

export async function listMembers(
  ctx: Context,
  caller: Caller,
  { groupId, ...query }: { readonly groupId: string } & ListGroupsQuery,
): Promise<Page<Member>> {
  refuseSubAccount(caller);
  const group = await groupOfDesk(ctx.db, caller, groupId);
  const question = { list: "members", desk: caller.deskId, group: groupId };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db, { deskId: caller.deskId, groupId }, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: request.total ?? group.member_count,
    positionOf: (row) => ({ at: row.created_at, id: row.firm_id }),
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
