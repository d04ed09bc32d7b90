import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import { boundFirm } from "./doer.ts";
import { plainIdentifier } from "./rules.ts";
import type { Firm, ListFirmsQuery } from "./schema.ts";
import { countFirms, type FirmFilter, listFirms as listRows } from "./store.ts";
import { viewFirm } from "./view-firm.ts";

export async function listFirms(
  ctx: Context,
  caller: Caller,
  query: ListFirmsQuery,
): Promise<Page<Firm>> {
  const now = ctx.now();
  const filter: FirmFilter = {
    connectionState: query.connection_state ?? null,
    role: query.role ?? null,
    groupId: query.group_id ?? null,
    externalId: query.external_id ?? null,
    iec: query.iec === undefined ? null : plainIdentifier(query.iec),
    firmId: boundFirm(caller),
  };
  const question = { list: "firms", desk: caller.deskId, ...askedBy(filter) };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db.planned, caller.deskId, filter, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countFirms(ctx.db.planned, caller.deskId, filter)),
    positionOf: (row) => ({ at: row.created_at, id: row.firm_id }),
  });
  return { ...page, rows: page.rows.map((row) => viewFirm(row, now)) };
}

function askedBy(filter: FirmFilter): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [name, value ?? undefined]),
  );
}
