import { recordChanges } from "../events/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/house.ts";
import { type IstDay, isCalendarDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import {
  type GstRate,
  type RateRow,
  refuseEarly,
  refuseGst,
  refuseTds,
  type TdsRate,
} from "./rules.ts";
import { upsertRate } from "./store.ts";

/** A line from a day on: its rate, or that there is none. */
export type SetTax = { readonly environment: Environment; readonly from: IstDay } & (
  | { readonly line: "gst"; readonly rate: GstRate | null }
  | { readonly line: "tds"; readonly rate: TdsRate | null }
);

const blank = {
  cgst_bps: null,
  sgst_bps: null,
  igst_bps: null,
  house_state: null,
  section: null,
  rate_bps: null,
  threshold_paise: null,
  with_crosses: null,
} as const;

export async function setTax(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  tax: SetTax,
): Promise<RateRow> {
  const now = ctx.now();
  const { environment, line, from } = tax;
  if (!isCalendarDay(from)) throw unprocessable({ path: "from", problem: "must be a day" });
  refuseEarly(environment, from, istDay(now));
  if (tax.rate && tax.line === "gst") refuseGst(tax.rate);
  if (tax.rate && tax.line === "tds") refuseTds(tax.rate);
  const is_on = tax.rate !== null;
  const row: RateRow = { environment, line, effective_from: from, is_on, ...blank, ...tax.rate };
  await ctx.db.transaction(async (tx) => {
    await upsertRate(tx, row, now);
    await recordChanges(tx, actor, [changeOfTax(row)], now);
  });
  return row;
}

/** A rate is everybody's, so its changes are on the operator's own desk. */
function changeOfTax(after: RateRow): Change {
  const { environment, line, effective_from } = after;
  const house = houseFirmId[environment];
  return {
    environment,
    deskId: house,
    firmId: house,
    action: "tax.set",
    entity: { type: "tax", id: `${line}:${effective_from}`, version: 1, href: "/v1/statements" },
    before: null,
    after,
  };
}
