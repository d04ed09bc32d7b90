import { firmOfCaller } from "../firms/firm-of-caller.ts";
import { firmOfDesk } from "../firms/firm-of-desk.ts";
import { type Actor, actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { readReport } from "./csv.ts";
import { resultOf, sumsOf } from "./result-of.ts";
import { type CreditFacts, type Declaration, factsOf } from "./rules.ts";
import { csvRowsMax, type ImportResults } from "./schema.ts";
import { takeDeclarations, type Taking } from "./take-declarations.ts";

/** A report of the customs portal, row by row; sending it again changes nothing. */
export async function importCredits(
  ctx: Context,
  call: Call,
  firmId: string,
  csv: string,
): Promise<ImportResults> {
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await firmOfCaller(tx, call.caller, firmId);
      return await takeReport(tx, { firm, actor: actorOf(call), now: ctx.now() }, csv);
    },
    { rollBack: call.dryRun },
  );
}

/** The same by the operator, for a firm of any desk. */
export async function importCreditsAsOperator(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { deskId, firmId }: { readonly deskId: string; readonly firmId: string },
  csv: string,
): Promise<ImportResults> {
  return await ctx.db.transaction(async (tx) => {
    const firm = await firmOfDesk(tx, deskId, firmId);
    return await takeReport(tx, { firm, actor: operator, now: ctx.now() }, csv);
  });
}

export async function takeReport(
  tx: Tx,
  { firm, actor, vouched = false, now }: Omit<Taking, "mode">,
  csv: string,
): Promise<ImportResults> {
  const today = istDay(now);
  const { rows, skipped } = readReport(csv, {
    // Whose report it is, the operator vouches for too.
    iec: vouched ? undefined : firm.iec,
    rowsMax: csvRowsMax,
  });
  const outcomes = await takeDeclarations(
    tx,
    { firm, actor, vouched, mode: { followsBalance: true }, now },
    rows.map(({ declared }) => judged(declared, today)),
  );
  const view = { firmState: firm.connection_state, today };
  const results = rows.flatMap(({ row }, index) => {
    const outcome = outcomes[index];
    return outcome ? [{ row, ...resultOf(outcome, view, actor.requestId ?? "") }] : [];
  });
  return { results, ...sumsOf(results), skipped };
}

/** The facts of a declaration, or why it is refused. */
export function judged(declared: Declaration | Failure, today: string): CreditFacts | Failure {
  if (declared instanceof Failure) return declared;
  try {
    return factsOf(declared, today);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
