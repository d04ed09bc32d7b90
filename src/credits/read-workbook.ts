// The report of the customs portal as an .xlsx workbook. A thread unpacks it and hands back its rows as
// text, as CSV would have them, with the problems of cells that are not what their column needs:
//
//   scrip number, IEC   text: a number has lost its leading zeros, and past 15 digits the rest too
//   amount              text, or a number of at most two decimals and 15 digits
//   day                 text, or a number that is formatted as a date
//   all of these        no formula, whose value may be older than what it refers to

import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { type Heavy, heavyKind, type HeavyOptions, NobodyWaits } from "../platform/heavy/kinds.ts";
import {
  readXlsx,
  type Sheet,
  type SheetCell,
  type SheetRow,
} from "../platform/sheets/read-xlsx.ts";
import {
  type ReportColumn,
  findHeading,
  headingRowsMax,
  nameColumn,
  type ReportRecord,
  type ReportSheet,
  type ReportSource,
} from "./report-rules.ts";
import { reportRowsMax } from "./schema.ts";

/** A report as text, or as a workbook in base64: one of the two. */
export type ReportFile = { readonly csv?: string | undefined; readonly xlsx?: string | undefined };

/** Columns that are read; what is beyond is only looked at for content. */
const columnsMax = 256;
/** A text that is not taken is kept up to this length: a totals row is known by its word. */
const otherTextMax = 40;
const textMax = 1_000;
/** A report of 5,000 rows takes less than a second of a processor. */
const processorMs = 4_000;
const tooLong = { path: "xlsx", problem: "takes too long to read: leave only the report in it" };

export const readWorkbook = heavyKind(
  "report xlsx",
  (bytes: Uint8Array, stop): ReportSheet => {
    const onPiece = () => {
      if (stop.isAsked()) throw new NobodyWaits();
    };
    // The heading and what is above it, the rows, a totals row, and one more.
    const rowsMax = headingRowsMax + reportRowsMax + 2;
    const sheets = readXlsx(bytes, { rowsMax, columnsMax, textMax, onPiece });
    return toReportSheet(chooseSheet(sheets));
  },
  { processorMs, refusal: () => unprocessable(tooLong) },
);

/** The most rows of a report of transfers. */
export const transfersMax = 20_000;
const transferColumnsMax = 64;
const transferTextMax = 200;

/**
 * A table, such as the portal's report of transfers or a bank's statement: the rows of the first sheet
 * with content, as text. A number that a spreadsheet has shortened fits no credit and no code.
 */
export const readTableWorkbook = heavyKind(
  "table xlsx",
  (bytes: Uint8Array, stop): ReportSheet => {
    const onPiece = () => {
      if (stop.isAsked()) throw new NobodyWaits();
    };
    const rowsMax = headingRowsMax + transfersMax + 1;
    const limits = { rowsMax, columnsMax: transferColumnsMax, textMax: transferTextMax, onPiece };
    const [rows = []] = readXlsx(bytes, limits).flatMap((sheet) =>
      sheet.rows.length > 0 ? [sheet.rows] : [],
    );
    return { records: rows.map(toTextRecord), blank: 0 };
  },
  { processorMs, refusal: () => unprocessable(tooLong) },
);

function toTextRecord(row: SheetRow): ReportRecord {
  const found = toList(row);
  const cells = found.map((cell) => (cell ? writeCell(cell) : ""));
  const isUnsure = found.some(
    (cell) => cell?.kind === "formula" || cell?.kind === "other" || cell?.isCut,
  );
  const problem =
    row.isMerged || row.isHidden
      ? "has merged cells or is hidden"
      : isUnsure && "has a formula, an error or a long text: paste its values";
  return { row: row.row, cells, ...(problem !== false && { problem }) };
}

/** A fraction as the spreadsheet shows it, where that is an amount. */
function writeCell({ kind, text }: SheetCell): string {
  if (kind !== "number" || !text.includes(".")) return text;
  const fit = fitAmount(text);
  return fit.problem === undefined ? fit.text : text;
}

/** Has a workbook read by a thread; text is read later, in pieces. */
export async function openReport(
  heavy: Heavy,
  { csv, xlsx }: ReportFile,
  asked: HeavyOptions,
  kind = readWorkbook,
): Promise<ReportSource> {
  if (csv !== undefined && xlsx === undefined) return { csv };
  if (xlsx === undefined) throw unprocessable({ path: "csv", problem: "is required, or xlsx" });
  if (csv !== undefined) throw unprocessable({ path: "xlsx", problem: "cannot be given with csv" });
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(xlsx) || xlsx.length % 4 !== 0) {
    throw unprocessable({ path: "xlsx", problem: "must be base64" });
  }
  const bytes = new Uint8Array(Buffer.from(xlsx, "base64"));
  return { sheet: await heavy.run(kind, bytes, asked) };
}

type Candidate = { readonly rows: readonly SheetRow[]; readonly above: number | undefined };

/** The sheet with a heading of a report; without one the first, whose heading then says what it lacks. */
function chooseSheet(sheets: readonly Sheet[]): Candidate {
  const candidates = sheets.map(({ rows }) => ({
    rows,
    above: findHeading(rows.slice(0, headingRowsMax).map(listTexts)),
  }));
  const [found, another] = candidates.filter(({ above }) => above !== undefined);
  if (another) {
    const problem = "has several sheets with a report: leave one, or hide the others";
    throw unprocessable({ path: "xlsx", problem });
  }
  return found ?? candidates.find(({ rows }) => rows.length > 0) ?? { rows: [], above: 0 };
}

function listTexts({ cells }: SheetRow): string[] {
  return [...cells.values()].map(({ text }) => text);
}

function toReportSheet({ rows, above = 0 }: Candidate): ReportSheet {
  const [heading, ...below] = rows.slice(above);
  if (!heading) return { records: [], blank: 0 };
  const titles = toList(heading).map((cell) => cell?.text ?? "");
  const columns = titles.map(nameColumn);
  const records = [
    { row: heading.row, cells: titles },
    ...below.map((row) => toRecord(row, columns)),
  ];
  const last = records.at(-1)?.row ?? 0;
  return { records, blank: last - records.length };
}

/** The cells by their places, up to the last with content. */
function toList({ cells }: SheetRow): (SheetCell | undefined)[] {
  const length = Math.max(-1, ...cells.keys()) + 1;
  return Array.from({ length }, (_, at) => cells.get(at));
}

function toRecord(row: SheetRow, columns: readonly (ReportColumn | undefined)[]): ReportRecord {
  const problems: FieldProblem[] = [];
  const cells = toList(row).map((cell, at) => {
    const column = columns[at];
    if (!cell) return "";
    if (!column) return cell.text.slice(0, otherTextMax);
    const fit = fitCell(column, cell);
    if (fit.problem === undefined) return fit.text;
    problems.push({ path: column, problem: fit.problem });
    return fit.text.slice(0, otherTextMax);
  });
  if (row.isWide) {
    problems.push({ path: "row", problem: `has a cell beyond the ${columnsMax}th column` });
  }
  if (row.isMerged) problems.push({ path: "row", problem: "has merged cells" });
  if (row.isHidden) problems.push({ path: "row", problem: "is hidden: show it or delete it" });
  return { row: row.row, cells, ...(problems.length > 0 && { problems }) };
}

type Fit = { readonly text: string; readonly problem?: string };

const needs: Readonly<Record<ReportColumn, "text" | "amount" | "day" | "word">> = {
  scrip_no: "text",
  iec: "text",
  issued: "amount",
  face: "amount",
  issued_on: "day",
  expires_on: "day",
  scheme: "word",
  port: "word",
};

function fitCell(column: ReportColumn, { kind, text, isCut }: SheetCell): Fit {
  if (kind === "formula") return { text, problem: "is a formula: paste its value" };
  if (kind === "other") return { text, problem: "is an error or a truth value of the spreadsheet" };
  if (isCut) return { text, problem: `is longer than ${textMax} characters` };
  if (kind === "text") return { text };
  switch (needs[column]) {
    case "text":
      return {
        text,
        problem: "is stored as a number, which may have lost digits: store it as text",
      };
    case "amount":
      return kind === "number" ? fitAmount(text) : { text, problem: "is a date, not an amount" };
    case "day":
      return kind === "day" ? { text } : { text, problem: "is a number: format it as a date" };
    case "word":
      return { text };
  }
}

/** A double of 15 digits has two decimals for less than this. */
const rupeesMax = 10_000_000_000_000;

/** A spreadsheet shows no more; what is beyond is the noise of its arithmetic. */
const digitsShown = 15;

/** Rupees with two decimals, if that is the number that the spreadsheet shows. */
function fitAmount(text: string): Fit {
  const rupees = Number(text);
  if (Math.abs(rupees) >= rupeesMax) {
    return { text, problem: "is too large for a number of a spreadsheet: store it as text" };
  }
  const written = rupees.toFixed(2);
  const shown = Number(rupees.toPrecision(digitsShown));
  if (Number(written) !== shown) return { text, problem: "has more than two decimals" };
  return { text: written };
}
