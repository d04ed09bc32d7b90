import { firmOfCaller } from "../firms/firm-of-caller.ts";
import { firmOfDesk } from "../firms/firm-of-desk.ts";
import { type Actor, actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Document } from "../platform/documents.ts";
import { writeInPieces } from "../platform/http-serialization.ts";
import { mapPaced, openPace, runPaced } from "../platform/pace.ts";
import type { Tx } from "../platform/postgres.ts";
import { readReport } from "./csv.ts";
import { resultOf, sumsOf } from "./result-of.ts";
import { type CreditFacts, type Declaration, factsOf } from "./rules.ts";
import { csvRowsMax, ImportResults } from "./schema.ts";
import { takeDeclarations, type Taking } from "./take-declarations.ts";

export type Import = {
  readonly firmId: string;
  readonly csv: string;
  /** Whoever asked has gone: nothing of the report is kept then. */
  readonly gone: AbortSignal;
};

/** A report of the customs portal, row by row; sending it again changes nothing. */
export async function importCredits(
  ctx: Context,
  call: Call,
  { firmId, csv, gone }: Import,
): Promise<Document<ImportResults>> {
  return await ctx.heavy.inPieces(
    "import",
    async (pace) => {
      const results = await ctx.db.transaction(
        async (tx) => {
          const firm = await firmOfCaller(tx, call.caller, firmId);
          return await takeReport(tx, { firm, actor: actorOf(call), now: ctx.now(), pace }, csv);
        },
        { rollBack: call.dryRun },
      );
      const content = await writeInPieces(ImportResults, results, pace);
      return { type: "application/json; charset=utf-8", content };
    },
    { by: call.caller, signal: gone },
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
  { firm, actor, vouched = false, now, pace = openPace() }: Omit<Taking, "mode">,
  csv: string,
): Promise<ImportResults> {
  const today = istDay(now);
  // Whose report it is, the operator vouches for too.
  const reading = readReport(csv, { iec: vouched ? undefined : firm.iec, rowsMax: csvRowsMax });
  const { rows, skipped } = await runPaced(reading, pace);
  const outcomes = await takeDeclarations(
    tx,
    { firm, actor, vouched, mode: { followsBalance: true }, now, pace },
    await mapPaced(rows, ({ declared }) => judged(declared, today), pace),
  );
  const view = { firmState: firm.connection_state, today };
  const results = await mapPaced(
    outcomes,
    (outcome, index) => ({
      row: rows[index]?.row ?? 0,
      ...resultOf(outcome, view, actor.requestId ?? ""),
    }),
    pace,
  );
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
