import { Failure } from "../kernel/failure.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { parseInstant } from "../kernel/time.ts";
import type { Heavy, HeavyOptions } from "../platform/heavy/kinds.ts";
import { mapPaced, type Pace } from "../platform/heavy/pace.ts";
import type { FileAnswer } from "../platform/http/documents.ts";
import { writeInPieces } from "../platform/http/serialization.ts";
import { formatTable } from "../platform/sheets/format-table.ts";
import type { TableColumn, TableRow } from "../platform/sheets/table.ts";
import { drawStatement, titleStatement } from "./statement-pdf.ts";
import { Statement, type StatementQuery } from "./statement-schema.ts";

/** About 600 pages. */
const pdfLinesMax = 20_000;

type StatementFormat = NonNullable<StatementQuery["format"]>;

/** The statement as JSON, CSV, .xlsx or PDF. */
export async function formatStatement(
  heavy: Heavy,
  statement: Statement,
  { format, ...asked }: HeavyOptions & { readonly format: StatementFormat },
): Promise<FileAnswer> {
  const name = `statement-${statement.period}-${statement.firm_id}`;
  if (format === "json") {
    const write = (pace: Pace) => writeInPieces(Statement, statement, pace);
    const content = await heavy.inPieces("statement text", write, asked);
    return { type: "application/json; charset=utf-8", content };
  }
  if (format === "pdf") {
    refuseLong(statement);
    const content = Buffer.from(await heavy.run(drawStatement, statement, asked));
    return { type: "application/pdf", name: `${name}.pdf`, content };
  }
  const title = titleStatement(statement);
  const read = (pace: Pace) => toRows(statement, pace);
  const rows = await heavy.inPieces("statement text", read, asked);
  const table = { sheet: "Statement", title, columns, rows };
  const dated = parseInstant(statement.as_of);
  if (!dated) throw new Error(`${statement.as_of} is not an instant`);
  return await formatTable(heavy, table, { format, name, dated, ...asked });
}

function refuseLong({ lines }: Statement): void {
  if (lines.length <= pdfLinesMax) return;
  throw tooManyLines(`${lines.length} lines are too many for a PDF: ask for csv`, {
    lines: lines.length,
    linesMax: pdfLinesMax,
  });
}

/** The conflict of a statement with more lines than one answer can have. */
export function tooManyLines(
  message: string,
  { lines, linesMax }: { readonly lines?: number; readonly linesMax: number },
): Failure {
  return new Failure("conflict", message, {
    detail: {
      reason: "too_many_lines",
      ...(lines !== undefined && { lines }),
      lines_max: linesMax,
    },
  });
}

const columns: readonly TableColumn[] = [
  { name: "line_no", kind: "count" },
  { name: "at", kind: "time" },
  { name: "kind", kind: "text", width: 12 },
  { name: "description", kind: "text", width: 40 },
  { name: "reference", kind: "text", width: 34 },
  { name: "utr", kind: "text", width: 26 },
  { name: "hsn", kind: "text", width: 7 },
  { name: "scheme", kind: "text", width: 9 },
  { name: "scrip_nos", kind: "text", width: 24 },
  { name: "face_rupees", kind: "money" },
  { name: "price_percent", kind: "percent" },
  { name: "amount_rupees", kind: "money" },
  { name: "balance_rupees", kind: "money" },
];

/** The first part begins with the opening balance, the last one ends with the closing balance. */
async function toRows(statement: Statement, pace: Pace): Promise<TableRow[]> {
  const { lines } = statement;
  const [first, last] = [lines.at(0)?.line_no ?? 1, lines.at(-1)?.line_no];
  const isEnd = (last ?? statement.line_count) === statement.line_count;
  const opening = balanceRow("opening", statement.from, statement.opening_paise);
  const closing = balanceRow("closing", statement.as_of, statement.closing_paise);
  const rows = await mapPaced(lines, toRow, pace);
  return [...(first === 1 ? [opening] : []), ...rows, ...(isEnd ? [closing] : [])];
}

function toRow(line: Statement["lines"][number]): TableRow {
  return [
    line.line_no,
    line.at,
    line.kind,
    line.description,
    line.reference,
    line.utr,
    line.hsn,
    line.scheme,
    line.scrip_nos.join(" "),
    line.face_paise,
    line.price_bps,
    line.amount_paise,
    line.balance_paise,
  ];
}

/** The row of the opening or closing balance. */
function balanceRow(kind: "opening" | "closing", at: string, balance: PaiseSum): TableRow {
  const description = kind === "opening" ? "Opening balance" : "Closing balance";
  const between = columns.slice(4, -1).map(() => null);
  return [null, at, kind, description, ...between, balance];
}
