import { Failure } from "../kernel/failure.ts";
import type { FileAnswer } from "../platform/documents.ts";
import type { Heavy, HeavyOptions } from "../platform/heavy/kinds.ts";
import { writeInPieces } from "../platform/http-serialization.ts";
import type { Pace } from "../platform/pace.ts";
import { csvOfStatement } from "./csv-of-statement.ts";
import { drawStatement } from "./pdf-of-statement.ts";
import { Statement, type StatementQuery } from "./schema.ts";

/** About six hundred pages: who has more lines reads them by program. */
const pdfLinesMax = 20_000;

export type StatementFormat = NonNullable<StatementQuery["format"]>;

/** The same statement for programs, for spreadsheets or on paper. */
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
    const write = (pace: Pace) => csvOfStatement(statement, pace);
    const content = await heavy.inPieces("statement text", write, asked);
    return { type: "text/csv; charset=utf-8; header=present", name, content };
  }
  refuseLong(statement);
  const content = Buffer.from(await heavy.run(drawStatement, statement, asked));
  return { type: "application/pdf", name, content };
}

function refuseLong({ lines }: Statement): void {
  if (lines.length <= pdfLinesMax) return;
  throw new Failure("conflict", `${lines.length} lines are too many for a PDF: ask for csv`, {
    detail: { reason: "too_many_lines", lines: lines.length, lines_max: pdfLinesMax },
  });
}
