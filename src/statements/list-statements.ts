import { firmOfCaller } from "../firms/firm-of-caller.ts";
import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import type { Caller } from "../kernel/caller.ts";
import { addPaise } from "../kernel/sums.ts";
import { type IstMonth, istMonth, istTimestamp } from "../kernel/time.ts";
import { balancesOf } from "../ledger/read-books.ts";
import { lastEntryNo } from "../ledger/read-money.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { openingOf, statementNo } from "./account-for.ts";
import { firstPeriodOf } from "./find-statement.ts";
import { nextPeriod, periodsBetween, spanOf } from "../kernel/months.ts";
import { stateOf } from "./rules.ts";
import type { ListStatementsQuery, StatementList, StatementSummary } from "./schema.ts";
import { type FrozenRow, listFrozen } from "./store.ts";

/** Every month from the first that the books know of to the running one. */
export async function listStatements(
  ctx: Context,
  caller: Caller,
  { firm_id: firmId = caller.firmId }: ListStatementsQuery,
): Promise<StatementList> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await firmOfCaller(tx, caller, firmId);
      const frozen = await listFrozen(tx, firmId);
      const open = await openOf(tx, firm, { last: frozen[0], now });
      return { statements: [...open, ...frozen.map(viewFrozen)] };
    },
    { snapshot: true },
  );
}

/** Those that are not final yet: what one opens with is what the one before it closes with. */
async function openOf(
  db: Db,
  firm: FirmOfDesk,
  { last, now }: { readonly last: FrozenRow | undefined; readonly now: Date },
): Promise<StatementSummary[]> {
  const first = last ? nextPeriod(last.period) : await firstPeriodOf(db, firm.firm_id, now);
  const [balance] = await balancesOf(db, firm.environment, [firm.firm_id]);
  let closing = balance ? addPaise(balance.posted_paise, balance.commission_paise) : 0;
  const open: StatementSummary[] = [];
  for (const period of periodsBetween(first, istMonth(now)).toReversed()) {
    const { opening } = await openingOf(db, firm, period);
    const openingPaise = addPaise(opening.cash_paise, opening.commission_paise);
    open.push({
      ...nameOf(firm.firm_id, period),
      status: stateOf(period, now),
      opening_paise: openingPaise,
      closing_paise: closing,
      frozen_at: null,
      digest: null,
      version: await lastEntryNo(db, firm.firm_id, spanOf(period).from),
    });
    closing = openingPaise;
  }
  return open;
}

function viewFrozen(row: FrozenRow): StatementSummary {
  return {
    ...nameOf(row.firm_id, row.period),
    status: "final",
    opening_paise: row.opening_paise,
    closing_paise: row.closing_paise,
    frozen_at: istTimestamp(row.frozen_at),
    digest: row.digest.toString("hex"),
    version: row.seen_entry_no,
  };
}

function nameOf(firmId: string, period: IstMonth) {
  const statement_no = statementNo(firmId, period);
  return { statement_no, firm_id: firmId, period, allowed_actions: [] };
}
