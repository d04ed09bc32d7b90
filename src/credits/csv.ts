// Reports of the customs portal. Their headings and formats are not documented, so columns are
// found by aliases, and a row with an ambiguous value is refused:
//
//   text      ─parseCsv─▶  records of cells, each with its row number and any fault of its quoting
//   records   ─readReport─▶  one declaration or one refusal per row
//
// No text makes this throw: a hostile file is a file with refused rows.

import { Failure, type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { isCalendarDay } from "../kernel/time.ts";
import type { Declaration } from "./rules.ts";

export type CsvRecord = {
  /** The row number of a spreadsheet: the first record of the file is row 1. */
  readonly row: number;
  readonly cells: readonly string[];
  readonly problem: string | undefined;
};

export type ReportRow = { readonly row: number; readonly declared: Declaration | Failure };

export type Report = {
  readonly rows: readonly ReportRow[];
  /** Blank rows and the totals row. */
  readonly skipped: number;
};

/** The IEC that rows may name; null when the firm has none, undefined for any. */
type ReportIec = string | null | undefined;

export type CsvRecords = { readonly records: readonly CsvRecord[]; readonly blank: number };

const delimiters = [",", ";", "\t"] as const;

/**
 * Parses RFC 4180 records with any line ending and an optional byte order mark; quoting errors are
 * noted per record. Blank records are counted, not kept, and parsing stops after `recordsMax`.
 */
export function* parseCsv(text: string, recordsMax: number): Generator<void, CsvRecords> {
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  const delimiter = detectDelimiter(text);
  const records: CsvRecord[] = [];
  let cells: string[] = [];
  let problem: string | undefined;
  let row = 0;
  let at = start;
  while (at < text.length && records.length < recordsMax) {
    const read = readCell(text, at, delimiter);
    cells.push(read.value);
    problem ??= read.problem;
    at = read.end;
    if (text[at] === delimiter) {
      at += 1;
      // A delimiter at the end of the text opens one more cell.
      if (at < text.length) continue;
      cells.push("");
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    row += 1;
    if (problem || cells.some((cell) => cell.trim())) records.push({ row, cells, problem });
    cells = [];
    problem = undefined;
    yield;
  }
  return { records, blank: row - records.length };
}

/** The cell at a position, and the position of the delimiter, line end or end of text after it. */
function readCell(
  text: string,
  start: number,
  delimiter: string,
): { value: string; end: number; problem: string | undefined } {
  const ends = (at: number) =>
    at >= text.length || text[at] === delimiter || text[at] === "\n" || text[at] === "\r";
  let at = start;
  if (text[at] !== '"') {
    while (!ends(at)) at += 1;
    return { value: text.slice(start, at), end: at, problem: undefined };
  }
  let value = "";
  for (;;) {
    const close = text.indexOf('"', at + 1);
    if (close < 0) {
      return { value: "", end: text.length, problem: "a quotation mark is not closed" };
    }
    value += text.slice(at + 1, close);
    at = close + 1;
    if (text[at] !== '"') break;
    value += '"';
  }
  if (ends(at)) return { value, end: at, problem: undefined };
  while (!ends(at)) at += 1;
  return { value, end: at, problem: "text follows a closing quotation mark" };
}

/** The delimiter that splits the heading into the most cells. */
function detectDelimiter(text: string): string {
  const heading = text.slice(0, 4_096).split(/[\r\n]/, 1)[0] ?? "";
  const count = (delimiter: string) => heading.split(delimiter).length;
  return delimiters.reduce((best, next) => (count(next) > count(best) ? next : best));
}

const aliases = {
  scrip_no: [
    "scripno",
    "scripnumber",
    "scripid",
    "scrip",
    "escripno",
    "escripnumber",
    "escripid",
    "creditscripno",
    "creditscripnumber",
  ],
  scheme: ["scheme", "schemename", "schemecode", "schemetype", "scripscheme"],
  issued: [
    "amount",
    "scripamount",
    "issuedamount",
    "issueamount",
    "issued",
    "scripvalue",
    "originalamount",
    "totalamount",
    "issuedrupees",
  ],
  face: [
    "balance",
    "balanceamount",
    "scripbalance",
    "availablebalance",
    "currentbalance",
    "face",
    "facevalue",
    "facerupees",
  ],
  port: ["port", "portcode", "customsport", "customsstation", "location", "locationcode"],
  issued_on: [
    "issuedon",
    "issuedate",
    "issueddate",
    "dateofissue",
    "scripdate",
    "scripissuedate",
    "creationdate",
    "createdon",
    "generationdate",
  ],
  expires_on: [
    "expireson",
    "expirydate",
    "dateofexpiry",
    "expiry",
    "scripexpirydate",
    "validupto",
    "validtill",
    "validuntil",
    "validitydate",
  ],
  iec: ["iec", "iecno", "ieccode", "iecnumber", "importerexportercode"],
} as const satisfies Record<string, readonly string[]>;

type Column = keyof typeof aliases;
type Columns = Partial<Record<Column, number>>;

const columnsByTitle = new Map<string, Column>(
  Object.entries(aliases).flatMap(([column, names]) =>
    names.map((name): [string, Column] => [name, column as Column]),
  ),
);

/**
 * One declaration or refusal per row with content; yields after each, so that the caller can pause.
 * A report without the required columns is refused as a whole.
 */
export function* readReport(
  text: string,
  { iec, rowsMax }: { readonly iec: ReportIec; readonly rowsMax: number },
): Generator<void, Report> {
  // A heading, the rows, a totals row, and one more to see that there are too many.
  const { records, blank } = yield* parseCsv(text, rowsMax + 3);
  const [heading, ...filled] = records;
  const columns = findColumns(heading?.cells ?? []);
  const last = filled.at(-1);
  const hasTotals = last !== undefined && isTotalsRow(last, columns);
  const rows = hasTotals ? filled.slice(0, -1) : filled;
  if (rows.length > rowsMax) {
    throw new Failure("bad_request", `a report takes at most ${rowsMax} rows in one call`, {
      detail: { field: "csv", problem: `at most ${rowsMax} rows` },
    });
  }
  const width = heading?.cells.length ?? 0;
  const read: ReportRow[] = [];
  for (const record of rows) {
    read.push({ row: record.row, declared: toDeclaration(record, { columns, width, iec }) });
    yield;
  }
  return { rows: read, skipped: blank + filled.length - rows.length };
}

function findColumns(heading: readonly string[]): Columns {
  const columns: Columns = {};
  const problems: FieldProblem[] = [];
  heading.forEach((title, index) => {
    const column = columnsByTitle.get(normalizeTitle(title));
    if (!column) return;
    if (columns[column] === undefined) columns[column] = index;
    else problems.push({ path: "csv", problem: `two columns mean ${column}` });
  });
  for (const column of ["scrip_no", "scheme", "issued_on", "expires_on"] as const) {
    if (columns[column] === undefined) {
      problems.push({ path: "csv", problem: `the heading has no column for ${column}` });
    }
  }
  if (columns.issued === undefined && columns.face === undefined) {
    problems.push({ path: "csv", problem: "the heading has no column for the amount" });
  }
  if (problems.length > 0) throw unprocessable(...problems);
  return columns;
}

/** `Balance Amount (Rs.)` and `balance_amount` are one title. */
function normalizeTitle(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/\([^)]{0,40}\)/g, "")
    .replaceAll(/[^a-z0-9]/g, "");
}

function toDeclaration(
  { cells, problem }: CsvRecord,
  {
    columns,
    width,
    iec,
  }: { readonly columns: Columns; readonly width: number; readonly iec: ReportIec },
): Declaration | Failure {
  const cell = (column: Column) => {
    const index = columns[column];
    return index === undefined ? "" : (cells[index] ?? "").trim();
  };
  if (problem) return unprocessable({ path: "row", problem });
  if (cells.slice(width).some((text) => text.trim())) {
    return unprocessable({ path: "row", problem: "has more cells than the heading" });
  }
  const rowIec = cell("iec").toUpperCase();
  if (rowIec && iec !== undefined && rowIec !== iec) {
    return unprocessable({ path: "iec", problem: "is not this firm's importer-exporter code" });
  }
  const scheme = parseScheme(cell("scheme"));
  if (!scheme) {
    return new Failure("bad_request", `scheme must be one of ${schemes.join(", ")}`, {
      detail: { field: "scheme", allowed: schemes },
    });
  }
  const problems: FieldProblem[] = [];
  const taken = <Value>(path: string, text: string, value: Value | undefined, form: string) => {
    if (value === undefined) {
      problems.push({ path, problem: text === "" ? "is required" : `must be ${form}` });
    }
    return value;
  };
  const amountText = cell("issued") || cell("face");
  const balanceText = cell("face") || cell("issued");
  const issuedPath = cell("issued") ? "issued" : "face";
  const rupees = "an amount in rupees, such as 12,34,567.00";
  const scripNo = taken("scrip_no", cell("scrip_no"), parseScripNo(cell("scrip_no")), scripNoRule);
  const issued = taken(issuedPath, amountText, parseRupees(amountText), rupees);
  const face =
    balanceText === amountText
      ? issued
      : taken("face", balanceText, parseRupees(balanceText), rupees);
  const day = "a day as DD/MM/YYYY, DD-MM-YYYY, DD-MON-YYYY or YYYY-MM-DD";
  const issuedOn = taken("issued_on", cell("issued_on"), parseDay(cell("issued_on")), day);
  const expiresOn = taken("expires_on", cell("expires_on"), parseDay(cell("expires_on")), day);
  if (
    scripNo === undefined ||
    issued === undefined ||
    face === undefined ||
    issuedOn === undefined ||
    expiresOn === undefined
  ) {
    return unprocessable(...problems);
  }
  const port = cell("port");
  return {
    scrip_no: scripNo,
    scheme,
    face_paise: face,
    issued_paise: issued,
    ...(port && { port_code: port }),
    issued_on: issuedOn,
    expires_on: expiresOn,
  };
}

const scripNoRule = "the whole number; a spreadsheet shortened it to scientific notation";

/** Refuses a number that a spreadsheet has rounded to `1.23E+11`: its digits are lost. */
function parseScripNo(text: string): string | undefined {
  if (text === "" || /^\d(\.\d+)?E[+-]?\d{1,3}$/i.test(text)) return undefined;
  return text;
}

function parseScheme(text: string): Scheme | undefined {
  const name = text.toUpperCase().replaceAll(/[^A-Z]/g, "");
  return schemes.find((scheme) => scheme === name);
}

const rupeesForm =
  /^(?:₹|rs\.?|inr)?\s*(\d{1,2}(?:,\d{2})*,\d{3}|\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,2}))?(?:\/-)?$/i;

/** Rupees to paise, exactly: moves the decimal point, without floating point. */
export function parseRupees(text: string): number | undefined {
  if (text.length > 40) return undefined;
  const [, whole, fraction = ""] = rupeesForm.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const paise = BigInt(whole.replaceAll(",", "") + fraction.padEnd(2, "0"));
  if (paise < 1n || paise > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return Number(paise);
}

const months = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");

/** Day first, as in India; never read as month first. */
export function parseDay(text: string): string | undefined {
  if (isCalendarDay(text)) return text;
  const [, day, , month = "", year] =
    /^(\d{1,2})([/-])(\d{1,2}|[A-Za-z]{3})\2(\d{4})$/.exec(text) ?? [];
  if (day === undefined || year === undefined) return undefined;
  const number = /^\d/.test(month) ? month : String(months.indexOf(month.toUpperCase()) + 1);
  const iso = `${year}-${number.padStart(2, "0")}-${day.padStart(2, "0")}`;
  return isCalendarDay(iso) ? iso : undefined;
}

function isTotalsRow({ cells, problem }: CsvRecord, columns: Columns): boolean {
  if (problem) return false;
  const at = (column: Column) => (cells[columns[column] ?? -1] ?? "").trim();
  const says = cells.some((text) => /^(grand\s*)?totals?\b.{0,20}$/i.test(text.trim()));
  const isCredit = /\d/.test(at("scrip_no")) && at("expires_on") !== "";
  const bare = at("scrip_no") === "" && at("issued_on") === "" && at("expires_on") === "";
  return (says && !isCredit) || bare;
}
