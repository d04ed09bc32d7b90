// Parses a bank's CSV. The format is data: it names the heading of each column. A row that cannot be
// parsed refuses the whole file.

import { parseDay, parseRupees } from "../credits/read-report.ts";
import { type Failure, unprocessable } from "../kernel/failure.ts";
import { type IstDay, istDayStart, parseInstant } from "../kernel/time.ts";
import { openPace } from "../platform/heavy/pace.ts";
import { readCsv } from "../platform/read-csv.ts";
import type { StatementLine } from "./rules.ts";

/** The headings of a bank's statement. */
export type StatementFormat = {
  readonly name: string;
  readonly day: string;
  readonly reference: string;
  readonly narration: string;
  /** Two columns, one for each direction; or one with the amount and one that says CR or DR. */
  readonly debit?: string | undefined;
  readonly credit?: string | undefined;
  readonly amount?: string | undefined;
  readonly direction?: string | undefined;
  readonly balance?: string | undefined;
  /** The time of day of the line, in IST. */
  readonly time?: string | undefined;
  readonly remitter_name?: string | undefined;
  readonly remitter_account?: string | undefined;
};

export const genericStatement: StatementFormat = {
  name: "generic",
  day: "date",
  reference: "reference",
  narration: "description",
  debit: "debit",
  credit: "credit",
  balance: "balance",
  remitter_name: "remitter_name",
  remitter_account: "remitter_account",
};

const formatFields = [
  "name",
  "day",
  "reference",
  "narration",
  "debit",
  "credit",
  "amount",
  "direction",
  "balance",
  "time",
  "remitter_name",
  "remitter_account",
] as const satisfies readonly (keyof StatementFormat)[];

const linesMax = 20_000;
const textLengthMax = 100;

/** Parses an operator's format; throws for the first problem. */
export function parseStatementFormat(value: unknown): StatementFormat {
  const wrong = (path: string, problem: string) => unprocessable({ path, problem });
  if (typeof value !== "object" || value === null) throw wrong("format", "must be an object");
  const given = Object.entries(value);
  for (const [field, text] of given) {
    if (!formatFields.some((known) => known === field)) {
      throw wrong(`format.${field}`, `is none of ${formatFields.join(", ")}`);
    }
    if (typeof text !== "string" || text === "" || text.length > textLengthMax) {
      throw wrong(`format.${field}`, "must be a short text");
    }
  }
  const format = Object.fromEntries(given) as Partial<StatementFormat>;
  for (const field of ["name", "day", "reference", "narration"] as const) {
    if (format[field] === undefined) throw wrong(`format.${field}`, "is required");
  }
  const isSplit = format.debit !== undefined && format.credit !== undefined;
  const isOne = format.amount !== undefined && format.direction !== undefined;
  if (isSplit === isOne) {
    throw wrong("format", "must have debit and credit, or amount and direction");
  }
  return format as StatementFormat; // Checked field by field.
}

export type ParsedStatement = {
  readonly lines: readonly StatementLine[];
  readonly openingPaise: number | null;
  readonly closingPaise: number | null;
};

export async function parseStatement(
  text: string,
  format: StatementFormat,
): Promise<ParsedStatement> {
  const { records } = await readCsv(text, { recordsMax: linesMax + 2, pace: openPace() });
  const [heading, ...rows] = records;
  if (heading?.problem) throw badRow(heading.row, heading.problem);
  if (!heading || rows.length === 0) throw badRow(1, "has no lines");
  if (rows.length > linesMax) throw badRow(1, `has more than ${linesMax} lines`);
  const names = heading.cells.map((cell) => cell.trim().toLowerCase());
  const at = (column: string | undefined): number =>
    column === undefined ? -1 : names.indexOf(column.trim().toLowerCase());
  for (const field of formatFields) {
    const column = format[field];
    if (field !== "name" && column !== undefined && at(column) < 0) {
      throw badRow(heading.row, `has no column "${column}"`);
    }
  }
  const lines = rows.map(({ row, cells, problem }, index): StatementLine => {
    if (problem) throw badRow(row, problem);
    const cell = (column: string | undefined) => (cells[at(column)] ?? "").trim();
    const day = parseDay(cell(format.day));
    if (day === undefined) throw badRow(row, `has no day: "${cell(format.day)}"`);
    const balance = format.balance === undefined ? "" : cell(format.balance);
    return {
      ordinal: index + 1,
      day,
      valueAt: parseTime(day, format.time === undefined ? "" : cell(format.time), row),
      ...parseAmount(cell, format, row),
      reference: cell(format.reference),
      narration: cell(format.narration),
      remitterName: cell(format.remitter_name),
      remitterAccount: format.remitter_account === undefined ? null : cell(format.remitter_account),
      balancePaise: balance === "" ? null : parseSignedPaise(balance, row),
    };
  });
  return { lines, ...checkBalances(lines) };
}

function parseAmount(
  cell: (column: string | undefined) => string,
  format: StatementFormat,
  row: number,
): Pick<StatementLine, "direction" | "paise"> {
  if (format.amount !== undefined) {
    const direction = /^c/i.test(cell(format.direction)) ? "credit" : "debit";
    if (!/^(cr|dr|credit|debit|c|d)$/i.test(cell(format.direction))) {
      throw badRow(row, "says neither credit nor debit");
    }
    return { direction, paise: parsePaise(cell(format.amount), row) };
  }
  const isNothing = (text: string) => text === "" || /^0+(\.0+)?$/.test(text) || text === "-";
  const debit = cell(format.debit);
  const credit = cell(format.credit);
  if (isNothing(debit) === isNothing(credit)) throw badRow(row, "has not one amount");
  return isNothing(debit)
    ? { direction: "credit", paise: parsePaise(credit, row) }
    : { direction: "debit", paise: parsePaise(debit, row) };
}

const timeForm = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/;

/** The start of the day where the line has no time. */
function parseTime(day: IstDay, text: string, row: number): Date {
  if (text === "") return istDayStart(day);
  const at = timeForm.test(text)
    ? parseInstant(`${day}T${text.padEnd(8, ":00")}+05:30`)
    : undefined;
  if (!at) throw badRow(row, `has no time: "${text}"`);
  return at;
}

function parsePaise(text: string, row: number): number {
  const paise = parseRupees(text);
  if (paise === undefined) throw badRow(row, `has no amount: "${text}"`);
  return paise;
}

function parseSignedPaise(text: string, row: number): number {
  if (/^-?0+(\.0+)?$/.test(text)) return 0;
  const isBelow = text.startsWith("-");
  const paise = parsePaise(isBelow ? text.slice(1) : text, row);
  return isBelow ? -paise : paise;
}

/** Where the file has balances, each line must add up to the next. */
function checkBalances(lines: readonly StatementLine[]) {
  let before: number | null = null;
  for (const [index, line] of lines.entries()) {
    const { balancePaise } = line;
    if (balancePaise === null) return { openingPaise: null, closingPaise: null };
    if (before !== null && before + toSignedPaise(line) !== balancePaise) {
      throw badRow(index + 2, "does not lead from the balance above to its own");
    }
    before = balancePaise;
  }
  const [first] = lines;
  const after = first?.balancePaise ?? null;
  const openingPaise = first && after !== null ? after - toSignedPaise(first) : null;
  return { openingPaise, closingPaise: before };
}

function toSignedPaise({ direction, paise }: StatementLine): number {
  return direction === "credit" ? paise : -paise;
}

function badRow(row: number, problem: string): Failure {
  return unprocessable({ path: `row ${row}`, problem });
}
