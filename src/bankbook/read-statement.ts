// Parses a bank's file, CSV or a workbook. The format is data: it names the heading of each column, and
// how days and signs are written. A row that cannot be parsed refuses the whole file.

import { parseDay, parseRupees } from "../credits/read-report.ts";
import type { ReportRecord, ReportSource } from "../credits/report-rules.ts";
import { type Failure, unprocessable } from "../kernel/failure.ts";
import { isCalendarDay, type IstDay, istDayStart, parseInstant } from "../kernel/time.ts";
import { openPace } from "../platform/heavy/pace.ts";
import { readCsv } from "../platform/read-csv.ts";
import type { StatementLine } from "./rules.ts";

/** The order of day, month and year; without it, ISO days and those that begin with the day. */
export const dayForms = ["DMY", "MDY", "YMD"] as const;
type DayForm = (typeof dayForms)[number];
/** Which amounts have a minus. */
export const signs = ["debit_is_negative", "credit_is_negative"] as const;
type Sign = (typeof signs)[number];

/** The headings of a bank's statement. */
export type StatementFormat = {
  readonly name: string;
  readonly day: string;
  readonly reference: string;
  readonly narration: string;
  /**
   * Two columns, one for each direction; or one with the amount and one that says CR or DR; or one
   * whose sign says it.
   */
  readonly debit?: string | undefined;
  readonly credit?: string | undefined;
  readonly amount?: string | undefined;
  readonly direction?: string | undefined;
  readonly sign?: Sign | undefined;
  readonly day_form?: DayForm | undefined;
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
  "sign",
  "day_form",
  "balance",
  "time",
  "remitter_name",
  "remitter_account",
] as const satisfies readonly (keyof StatementFormat)[];

const linesMax = 20_000;
const textLengthMax = 100;
/** Above the heading a bank writes whose account it is. */
const headingRowsMax = 30;
const choices = { sign: signs, day_form: dayForms } as const;

function isChoice(field: string): field is keyof typeof choices {
  return field in choices;
}

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
    if (isChoice(field) && !choices[field].some((allowed) => allowed === text)) {
      throw wrong(`format.${field}`, `must be ${choices[field].join(" or ")}`);
    }
  }
  const format = Object.fromEntries(given) as Partial<StatementFormat>;
  for (const field of ["name", "day", "reference", "narration"] as const) {
    if (format[field] === undefined) throw wrong(`format.${field}`, "is required");
  }
  const isSplit = format.debit !== undefined && format.credit !== undefined;
  const isTold = format.direction !== undefined || format.sign !== undefined;
  const isBothTold = format.direction !== undefined && format.sign !== undefined;
  const isOne = format.amount !== undefined && isTold;
  if (isSplit === isOne || isBothTold) {
    const problem = "must have debit and credit, or amount and either direction or sign";
    throw wrong("format", problem);
  }
  return format as StatementFormat; // Checked field by field.
}

type ParsedStatement = {
  readonly lines: readonly StatementLine[];
  readonly openingPaise: number | null;
  readonly closingPaise: number | null;
};

export async function parseStatement(
  source: ReportSource,
  format: StatementFormat,
): Promise<ParsedStatement> {
  const recordsMax = headingRowsMax + linesMax + 1;
  const { records } =
    "sheet" in source ? source.sheet : await readCsv(source.csv, { recordsMax, pace: openPace() });
  const { heading, at, rows } = findHeading(records, format);
  if (heading.problem) throw badRow(heading.row, heading.problem);
  if (rows.length === 0) throw badRow(heading.row, "has no lines");
  if (rows.length > linesMax) throw badRow(heading.row, `has more than ${linesMax} lines`);
  const lines = rows.map(({ row, cells, problem }, index): StatementLine => {
    if (problem) throw badRow(row, problem);
    const cell = (column: string | undefined) => (cells[at(column)] ?? "").trim();
    const day = parseFormDay(cell(format.day), format.day_form);
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
  return { lines, ...checkBalances(lines, rows) };
}

/** The first row that has every column; without one the first row, whose lack is told. */
function findHeading(records: readonly ReportRecord[], format: StatementFormat) {
  const columns = formatFields.flatMap((field) =>
    field === "name" || isChoice(field) ? [] : (format[field] ?? []),
  );
  const [first] = records;
  if (!first) throw badRow(1, "has no lines");
  const found = records
    .slice(0, headingRowsMax)
    .findIndex((record) => findMissing(record, columns) === undefined);
  const heading = records[Math.max(found, 0)] ?? first;
  const missing = findMissing(heading, columns);
  if (!heading.problem && missing !== undefined) {
    throw badRow(heading.row, `has no column "${missing}"`);
  }
  const names = heading.cells.map(normalizeHeading);
  const at = (column: string | undefined): number =>
    column === undefined ? -1 : names.indexOf(normalizeHeading(column));
  return { heading, at, rows: records.slice(Math.max(found, 0) + 1) };
}

function findMissing({ cells }: ReportRecord, columns: readonly string[]): string | undefined {
  const names = new Set(cells.map(normalizeHeading));
  return columns.find((column) => !names.has(normalizeHeading(column)));
}

function normalizeHeading(text: string): string {
  return text.trim().toLowerCase();
}

const monthNames = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const dayParts = /^(\d{1,4})[/. -](\d{1,2}|[a-z]{3,9})[/. -](\d{1,4})(?:[ T]\d.*)?$/i;

function parseFormDay(text: string, form: DayForm | undefined): IstDay | undefined {
  if (form === undefined) return parseDay(text);
  const [, ...parts] = dayParts.exec(text) ?? [];
  const at = (letter: string) => parts[form.indexOf(letter)] ?? "";
  const named = monthNames.indexOf(at("M").slice(0, 3).toLowerCase()) + 1;
  const month = named > 0 ? String(named) : at("M");
  const year = at("Y").length === 2 ? `20${at("Y")}` : at("Y");
  const iso = `${year}-${month.padStart(2, "0")}-${at("D").padStart(2, "0")}`;
  return isCalendarDay(iso) ? iso : undefined;
}

function parseAmount(
  cell: (column: string | undefined) => string,
  format: StatementFormat,
  row: number,
): Pick<StatementLine, "direction" | "paise"> {
  if (format.amount !== undefined && format.sign !== undefined) {
    const signed = parseSignedPaise(cell(format.amount), row);
    if (signed === 0) throw badRow(row, "has no amount");
    const isDebit = signed < 0 === (format.sign === "debit_is_negative");
    return { direction: isDebit ? "debit" : "credit", paise: Math.abs(signed) };
  }
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
function checkBalances(lines: readonly StatementLine[], rows: readonly ReportRecord[]) {
  let before: number | null = null;
  for (const [index, line] of lines.entries()) {
    const { balancePaise } = line;
    if (balancePaise === null) return { openingPaise: null, closingPaise: null };
    if (before !== null && before + toSignedPaise(line) !== balancePaise) {
      throw badRow(rows[index]?.row ?? 0, "does not lead from the balance above to its own");
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
