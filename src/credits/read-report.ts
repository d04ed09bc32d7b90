// Reports of the customs portal. Their headings and formats are not documented, so columns are
// found by aliases, and a row with an ambiguous value is refused. Every row with content becomes one
// declaration or one refusal.

import { Failure, type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { isCalendarDay } from "../kernel/time.ts";
import { mapPaced, type Pace } from "../platform/heavy/pace.ts";
import { type CsvRecord, readCsv } from "../platform/read-csv.ts";
import type { Declaration } from "./rules.ts";

export type ReportRow = { readonly row: number; readonly declared: Declaration | Failure };

export type Report = {
  readonly rows: readonly ReportRow[];
  /** Blank rows and the totals row. */
  readonly skipped: number;
};

/** The IEC that rows may name; null when the firm has none, undefined for any. */
type ReportIec = string | null | undefined;

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

type ReadReport = { readonly iec: ReportIec; readonly rowsMax: number; readonly pace: Pace };

/** A report without the required columns is refused as a whole. */
export async function readReport(
  text: string,
  { iec, rowsMax, pace }: ReadReport,
): Promise<Report> {
  // A heading, the rows, a totals row, and one more to see that there are too many.
  const { records, blank } = await readCsv(text, { recordsMax: rowsMax + 3, pace });
  const [heading, ...filled] = records;
  if (heading?.problem) {
    throw unprocessable({ path: "csv", problem: `the heading: ${heading.problem}` });
  }
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
  const read = await mapPaced(
    rows,
    (record): ReportRow => ({
      row: record.row,
      declared: toDeclaration(record, { columns, width, iec }),
    }),
    pace,
  );
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
