import { firmOfDesk } from "../firms/firm-of-desk.ts";
import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { holderOf } from "./holder-of.ts";
import { normalScripNo } from "./rules.ts";
import type { Credit } from "./schema.ts";
import { findCredit } from "./store.ts";
import { viewCredit } from "./view-credit.ts";

/** The desk's own holding of a number: its live one, otherwise its latest. */
export async function readCredit(ctx: Context, caller: Caller, scripNo: string): Promise<Credit> {
  const number = normalScripNo(scripNo);
  const row = number && (await findCredit(ctx.db, holderOf(caller), number));
  if (!row) throw notFound();
  const firm = await firmOfDesk(ctx.db, caller.deskId, row.firm_id);
  return viewCredit(row, { firmState: firm.connection_state, today: istDay(ctx.now()) });
}
