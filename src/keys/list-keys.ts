import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import { spellOutReach } from "./rules.ts";
import type { Key, ListKeysQuery } from "./schema.ts";
import { countKeys, listKeys as listRows } from "./store.ts";
import { viewKey } from "./view-key.ts";

export async function listKeys(
  ctx: Context,
  caller: Caller,
  query: ListKeysQuery,
): Promise<Page<Key>> {
  const now = ctx.now();
  const reach = spellOutReach(caller);
  const question = { list: "keys", desk: caller.deskId, reader: caller.keyId };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db, caller.deskId, reach, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countKeys(ctx.db, caller.deskId, reach)),
    positionOf: (row) => ({ at: row.created_at, id: row.key_id }),
  });
  return { ...page, rows: page.rows.map((row) => viewKey(row, now)) };
}
