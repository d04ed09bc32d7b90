import { createHash } from "node:crypto";

import { requireAnyFirm, requireVisibleFirm, type FirmOfDesk } from "../firms/find-firms.ts";
import type { Caller } from "../kernel/caller.ts";
import { readDeskClock } from "../kernel/clock-advance.ts";
import { notFound, unprocessable } from "../kernel/failure.ts";
import { readExactJson } from "../kernel/json.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { readLongJson } from "../kernel/long-json.ts";
import { addPaise } from "../kernel/money.ts";
import { isPeriod, nextPeriod, periodsBetween, periodSpan } from "../kernel/months.ts";
import { type IstMonth, istMonth, istTimestamp } from "../kernel/time.ts";
import { readBalances } from "../ledger/read-books.ts";
import { readFirstEntryAt, readLastEntryNo } from "../ledger/read-money.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace, type Pace, runPaced } from "../platform/heavy/pace.ts";
import type { Document } from "../platform/http/documents.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { findStatementHead, accountFor, buildStatementNo, findOpening } from "./account-for.ts";
import { formatStatement, tooManyLines } from "./format-statement.ts";
import { linesMax, openState, partMax } from "./statement-rules.ts";
import type {
  ListStatementsQuery,
  Statement,
  StatementList,
  StatementQuery,
  StatementSummary,
} from "./statement-schema.ts";
import { findClockAhead, findStatement, type FrozenRow, listFrozen, listPages } from "./store.ts";

export async function readStatement(
  ctx: Pick<Context, "db" | "replica" | "now" | "heavy">,
  caller: Caller,
  {
    period,
    letterhead,
    firm_id: firmId = caller.firmId,
    format = "json",
    after_line: afterLine,
    limit,
    gone,
  }: StatementQuery & {
    readonly period: string;
    readonly letterhead: Letterhead;
    readonly gone: AbortSignal;
  },
): Promise<Document<Statement>> {
  const now = ctx.now();
  const isPart = afterLine !== undefined || limit !== undefined;
  if (isPart && format === "pdf") {
    throw unprocessable({ path: "format", problem: "must not be pdf for a part" });
  }
  const part = isPart ? { afterLine: afterLine ?? 0, limit: limit ?? partMax } : undefined;
  const asked = { by: caller, signal: gone };
  const read = (pace: Pace) =>
    readAtReplica(ctx, ({ db }) =>
      db.transaction(
        async (tx) => {
          const firm = await requireVisibleFirm(tx, caller, firmId);
          const terms = { period, letterhead, now: await readClock(tx, firm, now), part, pace };
          return await findOrBuildStatement(tx, firm, terms);
        },
        { snapshot: true },
      ),
    );
  const statement = await ctx.heavy.inPieces("statement", read, asked);
  return await formatStatement(ctx.heavy, statement, { format, ...asked });
}

/** A sandbox desk's own clock, which closes its months early so that month ends can be rehearsed. */
async function readClock(db: Db, { environment, desk_id }: FirmOfDesk, now: Date): Promise<Date> {
  if (environment === "live") return now;
  return readDeskClock(now, await findClockAhead(db, desk_id));
}

/** The month of the firm's first entry; the running month when there is none. */
async function findFirstPeriod(db: Db, firmId: string, now: Date): Promise<string> {
  const first = await readFirstEntryAt(db, firmId);
  return istMonth(first ?? now);
}

/** A range of a statement's lines. */
type Part = { readonly afterLine: number; readonly limit: number };

/** A final statement as stored. It has page digests when its lines are stored as pages. */
export type StoredStatement = Statement & { readonly page_digests?: readonly string[] };

type StatementRequest = {
  readonly period: string;
  readonly letterhead: Letterhead;
  readonly now: Date;
  /** All lines unless given. */
  readonly part?: Part | undefined;
  readonly pace?: Pace;
};

/** The stored statement if final, otherwise built from the books; not found outside the firm's months. */
async function findOrBuildStatement(
  db: Db,
  firm: FirmOfDesk,
  { period, letterhead, now, part, pace = openPace() }: StatementRequest,
): Promise<Statement> {
  if (!isPeriod(period) || period > istMonth(now)) throw notFound("period");
  const frozen = await findStatement(db, firm.firm_id, period);
  if (!frozen) {
    if (period < (await findFirstPeriod(db, firm.firm_id, now))) throw notFound("period");
    const head = await findStatementHead(db, { firm, period, letterhead, now });
    const made = await accountFor(db, { firm, period, letterhead: head, now }, pace);
    if (!made) {
      const message = `more than ${linesMax} lines are too many at once: wait until it is final`;
      throw tooManyLines(message, { linesMax });
    }
    return takePart(made, part);
  }
  if (!frozen.is_whole) throw tamperedError(frozen);
  // The digest proves that the freezer wrote it.
  const kept = (await runPaced(readLongJson(frozen.body, "lines"), pace)) as StoredStatement;
  const { page_digests: digests, ...read } = kept;
  const line_count = read.line_count ?? read.lines.length; // Early statements lack it.
  const statement = { ...read, line_count, digest: frozen.digest.toString("hex") };
  if (!digests) return takePart(statement, part);
  if (!part) {
    const instead = "ask for parts with after_line, as json, csv or xlsx";
    const message = `${line_count} lines are too many at once: ${instead}`;
    throw tooManyLines(message, { lines: line_count, linesMax });
  }
  return { ...statement, lines: await readStoredLines(db, { frozen, digests, pace }, part) };
}

function takePart(statement: Statement, part: Part | undefined): Statement {
  if (!part) return statement;
  const { afterLine, limit } = part;
  return { ...statement, lines: statement.lines.slice(afterLine, afterLine + limit) };
}

async function readStoredLines(
  db: Db,
  {
    frozen,
    digests,
    pace,
  }: { readonly frozen: FrozenRow; readonly digests: readonly string[]; readonly pace: Pace },
  { afterLine, limit }: Part,
): Promise<Statement["lines"]> {
  const from = Math.floor(afterLine / partMax);
  const below = Math.min(Math.ceil((afterLine + limit) / partMax), digests.length);
  const { firm_id: firmId, period, seen_entry_no: seenEntryNo } = frozen;
  const pages = await listPages(db, { firmId, period, seenEntryNo }, { from, below });
  if (pages.length !== Math.max(below - from, 0)) throw tamperedError(frozen);
  const read = ({ page_no, body }: (typeof pages)[number]) => {
    if (hashPage(body) !== digests[page_no]) throw tamperedError(frozen);
    return readExactJson(body) as Statement["lines"];
  };
  const lines = await mapPaced(pages, read, pace);
  const first = afterLine - from * partMax;
  return lines.flat().slice(first, first + limit);
}

export function hashPage(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

function tamperedError({ firm_id, period }: FrozenRow): Error {
  return new Error(`the statement ${firm_id} ${period} was tampered with`);
}

/** Any firm's statement, for the operator. */
export async function showStatement(
  ctx: Pick<Context, "db" | "now">,
  {
    firmId,
    period,
    letterhead,
  }: { readonly firmId: string; readonly period: string; readonly letterhead: Letterhead },
): Promise<Statement> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await requireAnyFirm(tx, firmId);
      const clock = await readClock(tx, firm, now);
      return await findOrBuildStatement(tx, firm, { period, letterhead, now: clock });
    },
    { snapshot: true },
  );
}

/** Every month from the firm's first entry to the running one. */
export async function listStatements(
  ctx: Context,
  caller: Caller,
  { firm_id: firmId = caller.firmId }: ListStatementsQuery,
): Promise<StatementList> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await requireVisibleFirm(tx, caller, firmId);
      const frozen = await listFrozen(tx, firmId);
      const clock = await readClock(tx, firm, now);
      const open = await listOpen(tx, firm, { last: frozen[0], now: clock });
      return { statements: [...open, ...frozen.map(viewFrozen)] };
    },
    { snapshot: true },
  );
}

/** Statements that are not final. The opening balance of one is the closing balance of the one before. */
async function listOpen(
  db: Db,
  firm: FirmOfDesk,
  { last, now }: { readonly last: FrozenRow | undefined; readonly now: Date },
): Promise<StatementSummary[]> {
  const first = last ? nextPeriod(last.period) : await findFirstPeriod(db, firm.firm_id, now);
  const [balance] = await readBalances(db, firm.environment, [firm.firm_id]);
  let closing = balance ? addPaise(balance.posted_paise, balance.commission_paise) : 0;
  const open: StatementSummary[] = [];
  for (const period of periodsBetween(first, istMonth(now)).toReversed()) {
    const { opening } = await findOpening(db, firm, period);
    const openingPaise = addPaise(opening.cash_paise, opening.commission_paise);
    open.push({
      ...identifyStatement(firm.firm_id, period),
      status: openState(period, now),
      opening_paise: openingPaise,
      closing_paise: closing,
      frozen_at: null,
      digest: null,
      version: await readLastEntryNo(db, firm.firm_id, periodSpan(period).from),
    });
    closing = openingPaise;
  }
  return open;
}

function viewFrozen(row: FrozenRow): StatementSummary {
  return {
    ...identifyStatement(row.firm_id, row.period),
    status: "final",
    opening_paise: row.opening_paise,
    closing_paise: row.closing_paise,
    frozen_at: istTimestamp(row.frozen_at),
    digest: row.digest.toString("hex"),
    version: row.seen_entry_no,
  };
}

function identifyStatement(firmId: string, period: IstMonth) {
  const statement_no = buildStatementNo(firmId, period);
  return { statement_no, firm_id: firmId, period, allowed_actions: [] };
}
