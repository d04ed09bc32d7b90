import { firmOfCaller } from "../firms/firm-of-caller.ts";
import type { Caller } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import type { Context } from "../platform/context.ts";
import type { Document } from "../platform/documents.ts";
import type { Pace } from "../platform/pace.ts";
import { statementOf } from "./find-statement.ts";
import { formatStatement } from "./format-statement.ts";
import { partMax } from "./rules.ts";
import type { Statement, StatementQuery } from "./schema.ts";

export async function readStatement(
  ctx: Pick<Context, "db" | "now" | "heavy">,
  caller: Caller,
  {
    period,
    letterhead,
    firm_id: firmId = caller.firmId,
    format = "json",
    after_line: afterLine,
    limit,
    gone,
  }: StatementQuery & {
    readonly period: string;
    readonly letterhead: Letterhead;
    readonly gone: AbortSignal;
  },
): Promise<Document<Statement>> {
  const now = ctx.now();
  const isPart = afterLine !== undefined || limit !== undefined;
  if (isPart && format === "pdf") {
    throw unprocessable({ path: "format", problem: "a part is had as json or csv" });
  }
  const part = isPart ? { afterLine: afterLine ?? 0, limit: limit ?? partMax } : undefined;
  const asked = { by: caller, signal: gone };
  const read = (pace: Pace) =>
    ctx.db.transaction(
      async (tx) => {
        const firm = await firmOfCaller(tx, caller, firmId);
        return await statementOf(tx, firm, { period, letterhead, now, part, pace });
      },
      { snapshot: true },
    );
  const statement = await ctx.heavy.inPieces("statement", read, asked);
  return await formatStatement(ctx.heavy, statement, { format, ...asked });
}
