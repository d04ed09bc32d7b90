import { type Cell, csvText } from "../kernel/csv.ts";
import { Failure } from "../kernel/failure.ts";
import { type PaiseSum, rupeesPlain } from "../kernel/money.ts";
import type { Heavy, HeavyOptions } from "../platform/heavy/kinds.ts";
import { mapPaced, type Pace } from "../platform/heavy/pace.ts";
import type { FileAnswer } from "../platform/http/documents.ts";
import { writeInPieces } from "../platform/http/serialization.ts";
import { drawStatement } from "./statement-pdf.ts";
import { Statement, type StatementQuery } from "./statement-schema.ts";

/** About 600 pages. */
const pdfLinesMax = 20_000;

type StatementFormat = NonNullable<StatementQuery["format"]>;

/** The statement as JSON, CSV or PDF. */
export async function formatStatement(
  heavy: Heavy,
  statement: Statement,
  { format, ...asked }: HeavyOptions & { readonly format: StatementFormat },
): Promise<FileAnswer> {
  const name = `statement-${statement.period}-${statement.firm_id}.${format}`;
  if (format === "json") {
    const write = (pace: Pace) => writeInPieces(Statement, statement, pace);
    const content = await heavy.inPieces("statement text", write, asked);
    return { type: "application/json; charset=utf-8", content };
  }
  if (format === "csv") {
    const write = (pace: Pace) => formatCsv(statement, pace);
    const content = await heavy.inPieces("statement text", write, asked);
    return { type: "text/csv; charset=utf-8; header=present", name, content };
  }
  refuseLong(statement);
  const content = Buffer.from(await heavy.run(drawStatement, statement, asked));
  return { type: "application/pdf", name, content };
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

const columns = [
  "line_no",
  "at",
  "kind",
  "description",
  "reference",
  "utr",
  "hsn",
  "scheme",
  "scrip_nos",
  "face_rupees",
  "price_percent",
  "amount_rupees",
  "balance_rupees",
] as const;

/** The first part begins with the opening balance, the last one ends with the closing balance. */
async function formatCsv(statement: Statement, pace: Pace): Promise<string> {
  const lines = await mapPaced(statement.lines, (line) => csvText([toCells(line)]), pace);
  const [first, last] = [statement.lines.at(0)?.line_no ?? 1, statement.lines.at(-1)?.line_no];
  const isEnd = (last ?? statement.line_count) === statement.line_count;
  const opening = balanceRow("opening", statement.from, statement.opening_paise);
  const closing = balanceRow("closing", statement.as_of, statement.closing_paise);
  return [
    csvText([columns, ...(first === 1 ? [opening] : [])]),
    ...lines,
    csvText(isEnd ? [closing] : []),
  ].join("");
}

function toCells(line: Statement["lines"][number]): Cell[] {
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
    line.face_paise === null ? null : rupeesPlain(line.face_paise),
    line.price_bps === null ? null : rupeesPlain(line.price_bps),
    rupeesPlain(line.amount_paise),
    rupeesPlain(line.balance_paise),
  ];
}

/** The row of the opening or closing balance. */
function balanceRow(kind: "opening" | "closing", at: string, balance: PaiseSum): Cell[] {
  const description = kind === "opening" ? "Opening balance" : "Closing balance";
  const between = columns.slice(4, -1).map(() => null);
  return [null, at, kind, description, ...between, rupeesPlain(balance)];
}
