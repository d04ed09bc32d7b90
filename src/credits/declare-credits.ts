// How credits come in: a firm declares them, imports a report of the customs portal, or syncs with
// the simulated registry. Each item has its own result; all of them are taken as one set.

import { requireVisibleFirm, requireFirmOfDesk } from "../firms/find-firms.ts";
import { type Actor, toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import { listPortStatus } from "../outside/ask.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Document } from "../platform/http/documents.ts";
import { toErrorReply } from "../platform/http/errors.ts";
import { claimIdempotencyKey } from "../platform/http/idempotency.ts";
import { writeInPieces } from "../platform/http/serialization.ts";
import { itemCheck } from "../platform/http/validation.ts";
import type { ItemError } from "../platform/http/wire.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { readReport } from "./read-report.ts";
import { openReport, type ReportFile } from "./read-workbook.ts";
import type { ReportSource } from "./report-rules.ts";
import { type CreditView, openView, viewCredit } from "./read-credits.ts";
import { type CreditFacts, type Declaration, parseDeclaration } from "./rules.ts";
import {
  type Credit,
  CreditDeclaration,
  reportRowsMax,
  type DeclarationResults,
  type DeclareCreditsBody,
  ImportResults,
} from "./schema.ts";
import type { CreditRow } from "./store.ts";
import { simulateCredits } from "./synthetic-credits.ts";
import {
  previewDeclarations,
  type DeclarationResult,
  takeDeclarations,
  type TakeOptions,
} from "./take-declarations.ts";

type Declared = { readonly replayed: boolean; readonly answer: DeclarationResults };

const checkItem = itemCheck(CreditDeclaration);

/** Declares the credits of a firm. */
export async function declareCredits(
  ctx: Context,
  call: Call,
  asked: DeclareCreditsBody & { readonly firm_id: string },
): Promise<Declared> {
  const { firm_id: firmId } = asked;
  const now = ctx.now();
  const today = istDay(now);
  const pace = openPace();
  const declared = await mapPaced(asked.credits, (item) => parseItem(item, today), pace);
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await requireVisibleFirm(tx, call.caller, firmId);
      const taking = { firm, actor: toActor(call), mode: { followsBalance: false }, now };
      const earlier = await claimIdempotencyKey(tx, {
        call,
        operation: "declareCredits",
        body: asked,
        idField: "firm_id",
        newId: firmId,
        now,
      });
      const outcomes = await (earlier ? previewDeclarations : takeDeclarations)(
        tx,
        taking,
        declared,
      );
      const view = await openView(tx, firm, listRows(outcomes), today);
      const results = await mapPaced(
        outcomes,
        (outcome, index) => ({ index, ...toResult(outcome, view, call.requestId) }),
        pace,
      );
      return { replayed: earlier !== undefined, answer: { results, ...countResults(results) } };
    },
    { rollBack: call.dryRun },
  );
}

/** Imports a report of the customs portal; the same report again changes nothing. */
export async function importCredits(
  ctx: Context,
  call: Call,
  { firm_id: firmId, ...file }: ReportFile & { readonly firm_id: string },
): Promise<Document<ImportResults>> {
  // The import is rolled back when the client has disconnected.
  const asked = { by: call.caller, signal: call.gone?.() };
  await requireVisibleFirm(ctx.db, call.caller, firmId);
  const report = await openReport(ctx.heavy, file, asked);
  return await ctx.heavy.inPieces(
    "import",
    async (pace) => {
      const results = await ctx.db.transaction(
        async (tx) => {
          const firm = await requireVisibleFirm(tx, call.caller, firmId);
          const taking = { firm, actor: toActor(call), now: ctx.now(), pace };
          return await importReport(tx, taking, report);
        },
        { rollBack: call.dryRun },
      );
      const content = await writeInPieces(ImportResults, results, pace);
      return { type: "application/json; charset=utf-8", content };
    },
    asked,
  );
}

/** The same by the operator, for a firm of any desk. */
export async function importCreditsAsOperator(
  ctx: Pick<Context, "db" | "now" | "heavy">,
  operator: Actor,
  { deskId, firmId }: { readonly deskId: string; readonly firmId: string },
  file: ReportFile,
): Promise<ImportResults> {
  const { environment } = await requireFirmOfDesk(ctx.db, deskId, firmId);
  const report = await openReport(ctx.heavy, file, { by: { environment, deskId } });
  return await ctx.db.transaction(async (tx) => {
    const firm = await requireFirmOfDesk(tx, deskId, firmId);
    return await importReport(tx, { firm, actor: operator, now: ctx.now() }, report);
  });
}

export async function importReport(
  tx: Tx,
  { firm, actor, vouched = false, now, pace = openPace() }: Omit<TakeOptions, "mode">,
  report: ReportSource,
): Promise<ImportResults> {
  const today = istDay(now);
  // The operator vouches for the whole report, so its IEC is not compared.
  const iec = vouched ? undefined : firm.iec;
  const { rows, skipped } = await readReport(report, { iec, rowsMax: reportRowsMax, pace });
  const outcomes = await takeDeclarations(
    tx,
    { firm, actor, vouched, mode: { followsBalance: true }, now, pace },
    await mapPaced(rows, ({ declared }) => parseRow(declared, today), pace),
  );
  const view = await openView(tx, firm, listRows(outcomes), today);
  const results = await mapPaced(
    outcomes,
    (outcome, index) => ({
      row: rows[index]?.row ?? 0,
      ...toResult(outcome, view, actor.requestId ?? ""),
    }),
    pace,
  );
  return { results, ...countResults(results), skipped };
}

/** The facts of a declaration, or its refusal. */
export function parseRow(declared: Declaration | Failure, today: string): CreditFacts | Failure {
  if (declared instanceof Failure) return declared;
  try {
    return parseDeclaration(declared, today);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

type Result = {
  readonly ok: boolean;
  readonly status: number;
  readonly error: ItemError | null;
  readonly credit?: Credit;
};

/** The result of one item: the status and body that a call with this item alone would get. */
export function toResult(outcome: DeclarationResult, view: CreditView, requestId: string): Result {
  if (outcome.kind === "refused") {
    const { status, body } = toErrorReply(outcome.failure, requestId, "trading");
    return { ok: false, status, error: body };
  }
  const status = outcome.kind === "created" ? 201 : 200;
  return { ok: true, status, error: null, credit: viewCredit(outcome.row, view) };
}

/** The credits that stand as declared. */
export function listRows(outcomes: readonly DeclarationResult[]): CreditRow[] {
  return outcomes.flatMap((outcome) => (outcome.kind === "refused" ? [] : [outcome.row]));
}

export function countResults(results: readonly Result[]): { accepted: number; failed: number } {
  const accepted = results.filter(({ ok }) => ok).length;
  return { accepted, failed: results.length - accepted };
}

/**
 * Takes the firm's credits from the registry. Customs has no API, so this works in the sandbox
 * only, with the simulated registry; live desks declare credits or import the portal's report.
 */
export async function syncCredits(
  ctx: Context,
  call: Call,
  firmId: string,
): Promise<DeclarationResults> {
  const now = ctx.now();
  const today = istDay(now);
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await requireVisibleFirm(tx, call.caller, firmId);
      if (firm.environment === "live") {
        throw new Failure("conflict", "customs offers no interface to take credits from", {
          detail: { reason: "registry_attested_only" },
        });
      }
      const ports = await listPortStatus(tx, firm.environment);
      const outage = ports.find(({ port, state }) => port === "registry" && state === "outage");
      if (outage) {
        throw new Failure("conflict", "the registry does not answer", {
          detail: { reason: "registry_outage", since: outage.since },
        });
      }
      const outcomes = await takeDeclarations(
        tx,
        { firm, actor: toActor(call), mode: { followsBalance: true }, now },
        simulateCredits(firm.iec ?? "", today),
      );
      const view = await openView(tx, firm, listRows(outcomes), today);
      const results = outcomes.map((outcome, index) => ({
        index,
        ...toResult(outcome, view, call.requestId),
      }));
      return { results, ...countResults(results) };
    },
    { rollBack: call.dryRun },
  );
}

function parseItem(item: unknown, today: IstDay): CreditFacts | Failure {
  try {
    const declaration = checkItem(item);
    return declaration instanceof Failure ? declaration : parseDeclaration(declaration, today);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
