import { createHash } from "node:crypto";

import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { readExactJson } from "../kernel/json.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import { istMonth } from "../kernel/time.ts";
import { firstEntryAt } from "../ledger/read-money.ts";
import type { Pace } from "../platform/pace.ts";
import type { Db } from "../platform/postgres.ts";
import { accountFor } from "./account-for.ts";
import { isPeriod } from "../kernel/months.ts";
import { linesMax, partMax } from "./rules.ts";
import type { Statement } from "./schema.ts";
import { findStatement, type FrozenRow, listPages } from "./store.ts";

/** The first month that there is a statement of; the running one when the books say nothing yet. */
export async function firstPeriodOf(db: Db, firmId: string, now: Date): Promise<string> {
  const first = await firstEntryAt(db, firmId);
  return istMonth(first ?? now);
}

/** Which of a statement's lines are wanted. */
export type Part = { readonly afterLine: number; readonly limit: number };

/** What a final statement is kept as; the digests are there where its lines are kept in pages. */
export type KeptStatement = Statement & { readonly page_digests?: readonly string[] };

type Wanted = {
  readonly period: string;
  readonly letterhead: Letterhead;
  readonly now: Date;
  /** All lines unless given. */
  readonly part?: Part | undefined;
  readonly pace?: Pace;
};

/** As it was kept once it is final, from the books until then; not found outside the firm's months. */
export async function statementOf(
  db: Db,
  firm: FirmOfDesk,
  { period, letterhead, now, part, pace }: Wanted,
): Promise<Statement> {
  if (!isPeriod(period) || period > istMonth(now)) throw notFound();
  const frozen = await findStatement(db, firm.firm_id, period);
  if (!frozen) {
    if (period < (await firstPeriodOf(db, firm.firm_id, now))) throw notFound();
    const made = await accountFor(db, { firm, period, letterhead, now }, pace);
    if (!made) throw tooLong(`more than ${linesMax}`, "wait until it is final");
    return partOf(made, part);
  }
  if (!frozen.is_whole) throw changed(frozen);
  // Written by the freezer, as its digest proves.
  const { page_digests: digests, ...read } = readExactJson(frozen.body) as KeptStatement;
  const line_count = read.line_count ?? read.lines.length; // Older ones do not say.
  const kept = { ...read, line_count, digest: frozen.digest.toString("hex") };
  if (!digests) return partOf(kept, part);
  if (!part) throw tooLong(line_count, "ask for parts with after_line, as json or csv");
  return { ...kept, lines: await keptLines(db, { frozen, digests }, part) };
}

function partOf(statement: Statement, part: Part | undefined): Statement {
  if (!part) return statement;
  const { afterLine, limit } = part;
  return { ...statement, lines: statement.lines.slice(afterLine, afterLine + limit) };
}

async function keptLines(
  db: Db,
  { frozen, digests }: { readonly frozen: FrozenRow; readonly digests: readonly string[] },
  { afterLine, limit }: Part,
): Promise<Statement["lines"]> {
  const from = Math.floor(afterLine / partMax);
  const below = Math.min(Math.ceil((afterLine + limit) / partMax), digests.length);
  const { firm_id: firmId, period, seen_entry_no: seenEntryNo } = frozen;
  const pages = await listPages(db, { firmId, period, seenEntryNo }, { from, below });
  const isWhole = pages.every(({ page_no, body }) => digestOfPage(body) === digests[page_no]);
  if (!isWhole || pages.length !== Math.max(below - from, 0)) throw changed(frozen);
  const lines = pages.flatMap(({ body }) => readExactJson(body) as Statement["lines"]);
  const first = afterLine - from * partMax;
  return lines.slice(first, first + limit);
}

export function digestOfPage(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

function changed({ firm_id, period }: FrozenRow): Error {
  return new Error(`the statement ${firm_id} ${period} was changed`);
}

function tooLong(lines: number | string, instead: string): Failure {
  return new Failure("conflict", `${lines} lines are too many at once: ${instead}`, {
    detail: { reason: "too_many_lines", lines_max: linesMax },
  });
}
