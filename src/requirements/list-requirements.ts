import { firmOfCaller } from "../firms/firm-of-caller.ts";
import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import type { ListRequirementsQuery, Requirement } from "./schema.ts";
import { countRequirements, listRequirements as listRows } from "./store.ts";
import { viewRequirement } from "./view-requirement.ts";

export async function listRequirements(
  ctx: Context,
  caller: Caller,
  { firmId, ...query }: { readonly firmId: string } & ListRequirementsQuery,
): Promise<Page<Requirement>> {
  const { desk_id: deskId } = await firmOfCaller(ctx.db, caller, firmId);
  const firm = { deskId, firmId };
  const filter = { scheme: query.scheme ?? null, dueBefore: query.due_before ?? null };
  const question = {
    list: "requirements",
    desk: deskId,
    firm: firmId,
    scheme: query.scheme,
    due_before: query.due_before,
  };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db.planned, firm, { ...request, ...filter });
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countRequirements(ctx.db.planned, firm, filter)),
    positionOf: (row) => ({ at: row.created_at, id: row.requirement_id }),
  });
  return { ...page, rows: page.rows.map(viewRequirement) };
}
