// Reports of the customs portal. Their formats are not documented, so a row with an ambiguous value is
// refused. Every row with content becomes one declaration or one refusal.

import { Failure, type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { isCalendarDay } from "../kernel/time.ts";
import { mapPaced, type Pace } from "../platform/heavy/pace.ts";
import { readCsv } from "../platform/read-csv.ts";
import {
  type ReportColumn,
  type ReportColumns,
  findColumns,
  findHeading,
  headingRowsMax,
  type ReportRecord,
  type ReportSheet,
  type ReportSource,
} from "./report-rules.ts";
import type { Declaration } from "./rules.ts";

type ReportRow = { readonly row: number; readonly declared: Declaration | Failure };

type Report = {
  readonly rows: readonly ReportRow[];
  /** Blank rows and the totals row. */
  readonly skipped: number;
};

/** The IEC that rows may name; null when the firm has none, undefined for any. */
type ReportIec = string | null | undefined;

type ReadReport = { readonly iec: ReportIec; readonly rowsMax: number; readonly pace: Pace };

export async function readReport(
  source: ReportSource,
  { iec, rowsMax, pace }: ReadReport,
): Promise<Report> {
  const path = "csv" in source ? "csv" : "xlsx";
  const { records, blank } =
    "csv" in source ? await readCsvReport(source.csv, { rowsMax, pace }) : source.sheet;
  const [heading, ...filled] = records;
  if (heading?.problem) throw unprocessable({ path, problem: `the heading: ${heading.problem}` });
  const columns = findColumns(heading?.cells ?? [], path);
  const last = filled.at(-1);
  const hasTotals = last !== undefined && isTotalsRow(last, columns);
  const rows = hasTotals ? filled.slice(0, -1) : filled;
  if (rows.length > rowsMax) {
    throw new Failure("bad_request", `a report takes at most ${rowsMax} rows in one call`, {
      detail: { field: path, problem: `at most ${rowsMax} rows` },
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

/** The rows from the heading on, which is the first row where none is found. */
async function readCsvReport(
  text: string,
  { rowsMax, pace }: Pick<ReadReport, "rowsMax" | "pace">,
): Promise<ReportSheet> {
  // The heading and what is above it, the rows, a totals row, and one more to see that there are too many.
  const recordsMax = headingRowsMax + rowsMax + 2;
  const { records, blank } = await readCsv(text, { recordsMax, pace });
  const above = records[0]?.problem ? 0 : findHeading(records.map(({ cells }) => cells));
  return { records: records.slice(above), blank: blank + (above ?? 0) };
}

function toDeclaration(
  { cells, problem, problems: unfit = [] }: ReportRecord,
  {
    columns,
    width,
    iec,
  }: { readonly columns: ReportColumns; readonly width: number; readonly iec: ReportIec },
): Declaration | Failure {
  const cell = (column: ReportColumn) => {
    const index = columns[column];
    return index === undefined ? "" : (cells[index] ?? "").trim();
  };
  if (problem) return unprocessable({ path: "row", problem });
  if (cells.slice(width).some((text) => text.trim())) {
    return unprocessable({ path: "row", problem: "has more cells than the heading" });
  }
  if (unfit.length > 0) return unprocessable(...unfit);
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
      : taken("face", balanceText, parseBalance(balanceText), rupees);
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

/** Nothing is left of a credit that is used up. */
function parseBalance(text: string): number | undefined {
  return /^0+(?:\.0{1,2})?$/.test(text) ? 0 : parseRupees(text);
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

function isTotalsRow({ cells, problem }: ReportRecord, columns: ReportColumns): boolean {
  if (problem) return false;
  const at = (column: ReportColumn) => (cells[columns[column] ?? -1] ?? "").trim();
  const says = cells.some((text) => /^(grand\s*)?totals?\b.{0,20}$/i.test(text.trim()));
  const isCredit = /\d/.test(at("scrip_no")) && at("expires_on") !== "";
  const bare = at("scrip_no") === "" && at("issued_on") === "" && at("expires_on") === "";
  return (says && !isCredit) || bare;
}
