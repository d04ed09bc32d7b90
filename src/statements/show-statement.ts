import { operatorOn } from "../firms/doer.ts";
import { firmOfDesk } from "../firms/firm-of-desk.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import type { Context } from "../platform/context.ts";
import { statementOf } from "./find-statement.ts";
import type { Statement } from "./schema.ts";

/** For the operator, who sees every firm's. */
export async function showStatement(
  ctx: Pick<Context, "db" | "now">,
  {
    firmId,
    period,
    letterhead,
  }: { readonly firmId: string; readonly period: string; readonly letterhead: Letterhead },
): Promise<Statement> {
  const { deskId } = await operatorOn(ctx, firmId);
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await firmOfDesk(tx, deskId, firmId);
      return await statementOf(tx, firm, { period, letterhead, now });
    },
    { snapshot: true },
  );
}
