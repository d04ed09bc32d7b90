import { firmOfCaller } from "../firms/firm-of-caller.ts";
import type { Caller } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import type { Context } from "../platform/context.ts";
import type { Document } from "../platform/documents.ts";
import { csvOfStatement } from "./csv-of-statement.ts";
import { statementOf } from "./find-statement.ts";
import { pdfOfStatement } from "./pdf-of-statement.ts";
import type { Statement, StatementQuery } from "./schema.ts";

/** About six hundred pages: who has more lines reads them by program. */
const pdfLinesMax = 20_000;

export async function readStatement(
  ctx: Context,
  caller: Caller,
  {
    period,
    letterhead,
    firm_id: firmId = caller.firmId,
    format = "json",
  }: StatementQuery & { readonly period: string; readonly letterhead: Letterhead },
): Promise<Document<Statement>> {
  const now = ctx.now();
  const statement = await ctx.db.transaction(
    async (tx) => {
      const firm = await firmOfCaller(tx, caller, firmId);
      return await statementOf(tx, firm, { period, letterhead, now });
    },
    { snapshot: true },
  );
  if (format === "json") return statement;
  const name = `statement-${period}-${firmId}.${format}`;
  if (format === "csv") {
    const content = csvOfStatement(statement);
    return { type: "text/csv; charset=utf-8; header=present", name, content };
  }
  refuseLong(statement);
  return { type: "application/pdf", name, content: await pdfOfStatement(statement) };
}

function refuseLong({ lines }: Statement): void {
  if (lines.length <= pdfLinesMax) return;
  throw new Failure("conflict", `${lines.length} lines are too many for a PDF: ask for csv`, {
    detail: { reason: "too_many_lines", lines: lines.length, lines_max: pdfLinesMax },
  });
}
