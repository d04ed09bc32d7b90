import { firmOfCaller } from "../firms/firm-of-caller.ts";
import type { Caller } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import { isCalendarDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { isOpen } from "./rules.ts";
import type { Credit, ListCreditsQuery } from "./schema.ts";
import { countCredits, listCredits as listRows } from "./store.ts";
import { viewCredit } from "./view-credit.ts";

export async function listCredits(
  ctx: Context,
  caller: Caller,
  firmId: string,
  query: ListCreditsQuery,
): Promise<Page<Credit>> {
  const { scheme, status, expiring_before: expiringBefore } = query;
  if (expiringBefore !== undefined && !isCalendarDay(expiringBefore)) throw noSuchDay();
  const firm = await firmOfCaller(ctx.db, caller, firmId);
  const question = { list: "credits", firm: firmId, scheme, status, before: expiringBefore };
  const request = openPage(query, question, ctx.cursorKey);
  const filter = {
    scheme: scheme ?? null,
    status: status ?? null,
    isOpen: status !== undefined && isOpen(status),
    expiringBefore: expiringBefore ?? null,
  };
  const rows = await listRows(ctx.db.planned, firmId, filter, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countCredits(ctx.db.planned, firmId, filter)),
    positionOf: (row) => ({ at: row.created_at, id: row.credit_id }),
  });
  const view = { firmState: firm.connection_state, today: istDay(ctx.now()) };
  return { ...page, rows: page.rows.map((row) => viewCredit(row, view)) };
}

function noSuchDay(): Failure {
  const fields = [{ path: "expiring_before", problem: "must be a day as YYYY-MM-DD" }];
  return new Failure("validation_error", "expiring_before: must be a day as YYYY-MM-DD", {
    form: "transport",
    detail: { fields },
  });
}
