// What a desk and its firms file is made of the books and of nothing else:
//
//   deals, deposits, payouts ──┬──▶ ledger_firm_entries ──┬──▶ earnings
//   commission, reversals ─────┘    one firm, in order    ├──▶ a statement, until it is final
//                                                         └──▶ worker `statements`: text and digest
//
// `statement-rules.ts` turns postings into lines; this file finds the opening balance and the facts;
// `freeze-statements.ts` makes months final. A final statement is read as it was kept, and not shown if
// its digest no longer fits. Pages that an interrupted run left are deleted when the statement is kept;
// a trigger refuses to delete those of a statement. JSON comes first: PDF and CSV are made from it.

import type { FirmOfDesk } from "../firms/find-firms.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { findLetterhead } from "../house/read-house.ts";
import { addPaise, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import { dayMs, istDay, type IstMonth, istTimestamp } from "../kernel/time.ts";
import {
  readLastEntryNo,
  sumMoneyOver,
  readMoney,
  type MoneySums,
  sumByAccount,
} from "../ledger/read-money.ts";
import { findPaymentsById } from "../payouts/move-payout.ts";
import { openPace, type Pace, runPaced } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { listLegsBySettlement } from "../settlement/read-settlements.ts";
import { findTaxesBySettlement } from "../taxes/taxes.ts";
import { nextPeriod, periodSpan } from "../kernel/months.ts";
import {
  type StatementFacts,
  type Line,
  linesMax,
  makeLines,
  openState,
  type Posting,
  sumByKind,
  type Total,
} from "./statement-rules.ts";
import type { Statement } from "./statement-schema.ts";
import { findLatestBefore, type FrozenRow } from "./store.ts";

/** The firm, month and letterhead of a statement. */
export type StatementSubject = {
  readonly firm: FirmOfDesk;
  readonly period: IstMonth;
  readonly letterhead: Letterhead;
  readonly now: Date;
  /** The last entry number that counts; all entries by default. */
  readonly upTo?: number;
};

/** Builds the statement of a month from the books; undefined when it has too many lines. */
export async function accountFor(
  db: Db,
  account: StatementSubject,
  pace: Pace = openPace(),
): Promise<Statement | undefined> {
  const { firm, period, upTo } = account;
  const { opening, late } = await findOpening(db, firm, period);
  const { from, to } = periodSpan(period);
  const span = { from, to, late, upTo, limit: linesMax };
  const { postings, next } = await readMoney(db, firmKey(firm), span);
  if (next) return undefined;
  const openingPaise = sumBalance(opening);
  const facts = await loadFacts(db, firm.firm_id, postings);
  const lines = await runPaced(makeLines(openingPaise, postings, facts), pace);
  return buildStatement(account, {
    opening,
    added: sumByAccount(postings),
    lines,
    lineCount: lines.length,
    totals: sumByKind(lines),
    version: upTo ?? (await readLastEntryNo(db, firm.firm_id, from)),
  });
}

/** A statement has the house's head of its last day, or of today while its month is open. */
export async function findStatementHead(
  db: Db,
  { firm, period, letterhead, now }: StatementSubject,
): Promise<Letterhead> {
  const last = istDay(new Date(Math.min(periodSpan(period).to.getTime() - 1, now.getTime())));
  return await findLetterhead(db, { environment: firm.environment, on: last }, letterhead);
}

/** The figures of a statement, from the books. */
type AccountFigures = {
  readonly opening: MoneySums;
  readonly added: MoneySums;
  readonly lines: readonly Line[];
  readonly lineCount: number;
  readonly totals: readonly Total[];
  readonly version: number;
};

export function buildStatement(
  { firm, period, letterhead, now }: StatementSubject,
  { opening, added, lines, lineCount, totals, version }: AccountFigures,
): Statement {
  const { from, to } = periodSpan(period);
  const closing = addSums(opening, added);
  return {
    statement_no: buildStatementNo(firm.firm_id, period),
    firm_id: firm.firm_id,
    period,
    status: openState(period, now),
    from: istTimestamp(from),
    to: istTimestamp(to),
    as_of: istTimestamp(now),
    firm: { legal_name: firm.legal_name, pan: firm.pan, gstin: firm.gstin },
    house: { ...letterhead, address: [...letterhead.address] },
    opening_paise: sumBalance(opening),
    lines: lines.map((line) => ({ ...line, scrip_nos: [...line.scrip_nos] })),
    line_count: lineCount,
    totals: [...totals],
    closing_paise: sumBalance(closing),
    commission_paise: closing.commission_paise,
    dues_paise: closing.dues_paise,
    frozen_at: null,
    digest: null,
    version,
    allowed_actions: [],
  };
}

/** Cash and commission. Dues are shown apart. */
export function sumBalance({ cash_paise, commission_paise }: MoneySums): PaiseSum {
  return addPaise(cash_paise, commission_paise);
}

export function buildStatementNo(firmId: string, period: IstMonth): string {
  return `${period}/${firmId.slice("frm_".length).toUpperCase()}`;
}

/**
 * The closing balance of the last final statement, plus the postings between it and the month. A month
 * directly after a final statement also contains the postings that came too late for that one.
 */
export async function findOpening(db: Db, firm: FirmOfDesk, period: IstMonth) {
  const last = await findLatestBefore(db, firm.firm_id, period);
  const { from: begins } = periodSpan(period);
  if (!last) {
    return { opening: await sumMoneyOver(db, firmKey(firm), { from: null, to: begins }) };
  }
  const frozen = periodSpan(last.period);
  // A sandbox desk may close a month long before it is over: what comes then has an earlier time.
  const writtenFrom = new Date(last.frozen_at.getTime() - dayMs);
  const from = writtenFrom < frozen.from ? writtenFrom : frozen.from;
  const late = { from, afterEntryNo: last.seen_entry_no };
  if (nextPeriod(last.period) === period) return { opening: toClosing(last), late };
  const since = await sumMoneyOver(db, firmKey(firm), { from: frozen.to, to: begins, late });
  return { opening: addSums(toClosing(last), since) };
}

function toClosing({ closing_paise, commission_paise, dues_paise }: FrozenRow): MoneySums {
  const cash_paise = subtractPaise(closing_paise, commission_paise);
  return { cash_paise, commission_paise, dues_paise };
}

export function addSums(one: MoneySums, other: MoneySums): MoneySums {
  return {
    cash_paise: addPaise(one.cash_paise, other.cash_paise),
    commission_paise: addPaise(one.commission_paise, other.commission_paise),
    dues_paise: addPaise(one.dues_paise, other.dues_paise),
  };
}

export function firmKey({ firm_id, environment }: FirmOfDesk) {
  return { firmId: firm_id, environment };
}

export async function loadFacts(
  db: Db,
  firmId: string,
  postings: readonly Posting[],
): Promise<StatementFacts> {
  const subjects = (kinds: readonly Posting["kind"][]) => [
    ...new Set(postings.filter(({ kind }) => kinds.includes(kind)).map(({ subject }) => subject)),
  ];
  const dealt = subjects(["deal_hold", "deal_settlement", "reversal", "commission", "tax"]);
  return {
    firmId,
    legs: await listLegsBySettlement(db, dealt),
    taxes: await findTaxesBySettlement(db, dealt),
    payments: await findPaymentsById(db, subjects(["payout"])),
  };
}
