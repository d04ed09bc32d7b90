import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import { findCommissionRates } from "../settlement/commissions.ts";
import { entriesPerLeg } from "../settlement/commission-rules.ts";
import type { Caller } from "../kernel/caller.ts";
import { refuseDays } from "../kernel/query-time.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { sumPaise } from "../kernel/money.ts";
import { addDays, istDay, istDayStart } from "../kernel/time.ts";
import { readBalances } from "../ledger/read-books.ts";
import type { Context } from "../platform/context.ts";
import type { Earnings, EarningsQuery, Grouping } from "./position-schema.ts";
import { type EarningRow, listEarnings } from "./store.ts";

const daysMax = 366;

/** Summed from the commission entries in the books, so that it agrees with the desk's statement. */
export async function readEarnings(
  ctx: Context,
  caller: Caller,
  { by = "day", ...query }: EarningsQuery,
): Promise<Earnings> {
  refuseSubAccount(visibleTo(caller), "read the desk's earnings");
  const to = query.to ?? istDay(ctx.now());
  const from = query.from ?? `${to.slice(0, 7)}-01`;
  refuseDays({ from, to }, daysMax);
  const { deskId, environment } = caller;
  const span = { from: istDayStart(from), to: istDayStart(addDays(to, 1)) };
  return await ctx.db.transaction(
    async (tx) => {
      const desk = { deskId, environment };
      const rows = await listEarnings(tx, desk, { by, ...span, entriesPerLeg });
      const rates = await findCommissionRates(tx, [deskId]);
      const [balance] = await readBalances(tx, environment, [deskId]);
      return {
        by,
        from,
        to,
        earnings: rows.map((row) => viewEarning(by, row)),
        commission_paise: sumPaise(rows.map((row) => row.commission_paise)),
        commission_bps: rates.get(deskId) ?? 0,
        balance_paise: balance?.commission_paise ?? 0,
        version: balance?.version ?? 0,
        allowed_actions: [],
      };
    },
    { snapshot: true },
  );
}

function viewEarning(by: Grouping, { earned_by, ...sums }: EarningRow) {
  switch (by) {
    case "day":
      return { day: earned_by, ...sums };
    case "firm":
      return { firm_id: earned_by, ...sums };
    case "scheme":
      return { scheme: earned_by as Scheme, ...sums }; // The scheme column of legs.
  }
}
