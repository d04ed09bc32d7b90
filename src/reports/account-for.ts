import type { FirmOfDesk } from "../firms/find-firms.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import { addPaise, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import { type IstMonth, istTimestamp } from "../kernel/time.ts";
import { lastEntryNo, moneyAdded, moneyIn, type MoneySums, sumsOf } from "../ledger/read-money.ts";
import { paymentsById } from "../payouts/move-payout.ts";
import { openPace, type Pace, runPaced } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { dealtLegs } from "../settlement/past-deals.ts";
import { taxesBySettlement } from "../settlement/taxes.ts";
import { nextPeriod, spanOf } from "../kernel/months.ts";
import {
  type Facts,
  type Line,
  linesMax,
  makeLines,
  type Posting,
  stateOf,
  type Total,
  totalsOf,
} from "./statement-rules.ts";
import type { Statement } from "./statement-schema.ts";
import { findLatestBefore, type FrozenRow } from "./statement-store.ts";

/** Whose account it is, over which month, and on whose paper. */
export type Account = {
  readonly firm: FirmOfDesk;
  readonly period: IstMonth;
  readonly letterhead: Letterhead;
  readonly now: Date;
  /** What is numbered beyond this does not count; everything that is in the books unless given. */
  readonly upTo?: number;
};

/** The statement of a month from the books, as it stands now; undefined when it is too long. */
export async function accountFor(
  db: Db,
  account: Account,
  pace: Pace = openPace(),
): Promise<Statement | undefined> {
  const { firm, period, upTo } = account;
  const { opening, late } = await openingOf(db, firm, period);
  const { from, to } = spanOf(period);
  const span = { from, to, late, upTo, limit: linesMax };
  const { postings, next } = await moneyIn(db, ofFirm(firm), span);
  if (next) return undefined;
  const openingPaise = balanceIn(opening);
  const facts = await factsOf(db, firm.firm_id, postings);
  const lines = await runPaced(makeLines(openingPaise, postings, facts), pace);
  return statementOf(account, {
    opening,
    added: sumsOf(postings),
    lines,
    lineCount: lines.length,
    totals: totalsOf(lines),
    version: upTo ?? (await lastEntryNo(db, firm.firm_id, from)),
  });
}

/** What a statement says of the books. */
export type Accounted = {
  readonly opening: MoneySums;
  readonly added: MoneySums;
  readonly lines: readonly Line[];
  readonly lineCount: number;
  readonly totals: readonly Total[];
  readonly version: number;
};

export function statementOf(
  { firm, period, letterhead, now }: Account,
  { opening, added, lines, lineCount, totals, version }: Accounted,
): Statement {
  const { from, to } = spanOf(period);
  const closing = sumOf(opening, added);
  return {
    statement_no: statementNo(firm.firm_id, period),
    firm_id: firm.firm_id,
    period,
    status: stateOf(period, now),
    from: istTimestamp(from),
    to: istTimestamp(to),
    as_of: istTimestamp(now),
    firm: { legal_name: firm.legal_name, pan: firm.pan, gstin: firm.gstin },
    house: { ...letterhead, address: [...letterhead.address] },
    opening_paise: balanceIn(opening),
    lines: lines.map((line) => ({ ...line, scrip_nos: [...line.scrip_nos] })),
    line_count: lineCount,
    totals: [...totals],
    closing_paise: balanceIn(closing),
    commission_paise: closing.commission_paise,
    dues_paise: closing.dues_paise,
    frozen_at: null,
    digest: null,
    version,
    allowed_actions: [],
  };
}

/** Cash and what was earned as a desk; what is owed stands beside it. */
export function balanceIn({ cash_paise, commission_paise }: MoneySums): PaiseSum {
  return addPaise(cash_paise, commission_paise);
}

export function statementNo(firmId: string, period: IstMonth): string {
  return `${period}/${firmId.slice("frm_".length).toUpperCase()}`;
}

/**
 * What the last final statement closed with, and what moved between it and the month. Directly after
 * a final statement, what came too late for that one is in this month.
 */
export async function openingOf(db: Db, firm: FirmOfDesk, period: IstMonth) {
  const last = await findLatestBefore(db, firm.firm_id, period);
  const { from } = spanOf(period);
  if (!last) {
    return { opening: await moneyAdded(db, ofFirm(firm), { from: null, to: from }) };
  }
  const frozen = spanOf(last.period);
  const late = { from: frozen.from, afterEntryNo: last.seen_entry_no };
  if (nextPeriod(last.period) === period) return { opening: closingOf(last), late };
  const since = await moneyAdded(db, ofFirm(firm), { from: frozen.to, to: from, late });
  return { opening: sumOf(closingOf(last), since) };
}

function closingOf({ closing_paise, commission_paise, dues_paise }: FrozenRow): MoneySums {
  const cash_paise = subtractPaise(closing_paise, commission_paise);
  return { cash_paise, commission_paise, dues_paise };
}

export function sumOf(one: MoneySums, other: MoneySums): MoneySums {
  return {
    cash_paise: addPaise(one.cash_paise, other.cash_paise),
    commission_paise: addPaise(one.commission_paise, other.commission_paise),
    dues_paise: addPaise(one.dues_paise, other.dues_paise),
  };
}

export function ofFirm({ firm_id, environment }: FirmOfDesk) {
  return { firmId: firm_id, environment };
}

export async function factsOf(
  db: Db,
  firmId: string,
  postings: readonly Posting[],
): Promise<Facts> {
  const subjects = (kinds: readonly Posting["kind"][]) => [
    ...new Set(postings.filter(({ kind }) => kinds.includes(kind)).map(({ subject }) => subject)),
  ];
  const dealt = subjects(["deal_hold", "deal_settlement", "reversal", "commission", "tax"]);
  return {
    firmId,
    legs: await dealtLegs(db, dealt),
    taxes: await taxesBySettlement(db, dealt),
    payments: await paymentsById(db, subjects(["payout"])),
  };
}
