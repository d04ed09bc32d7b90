import type { Office } from "../kernel/working-days.ts";
import type { Context } from "../platform/context.ts";
import type { CalendarDay, DayStatus } from "./rules.ts";
import { listDays } from "./store.ts";

export async function listCalendar(
  ctx: Pick<Context, "db">,
  search: { readonly office: Office | null; readonly year: number | null },
): Promise<readonly (CalendarDay & { readonly status: DayStatus })[]> {
  return await listDays(ctx.db, search);
}
