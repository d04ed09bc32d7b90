// A bank statement is imported in two steps: its lines are stored with a plan for each, then they are
// applied in one transaction. After a crash in between, the same file is imported again. When it would
// add more to firms' balances than the limit, the second step takes two people: a file can be forged.

import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { addPaise, asAmount, sumPaise, rupeesText } from "../kernel/money.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import { twoPeopleFromPaise } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import { type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import { applyLines, lockLinesToApply } from "./apply-lines.ts";
import { buildStatementChange } from "./decide-line.ts";
import { isMoneyMoved } from "./fund-deal.ts";
import { explainLine } from "./line-outcomes.ts";
import { genericStatement, type StatementFormat } from "./read-statement.ts";
import {
  findReceived,
  type LineDetails,
  openDetails,
  planStatement,
  planVersion,
  receiveStatement,
} from "./receive-statement.ts";
import { findRepeated } from "./repeat-rules.ts";
import { reconcileBank, type Reconciled } from "./reconcile-bank.ts";
import {
  type BankLineRow,
  listCounted,
  listLinesOfStatement,
  lockCounting,
  lockStatement,
  setApplied,
  type StatementRow,
} from "./store.ts";
import { findTotals } from "./totals-store.ts";

type ImportStatement = {
  readonly environment: Environment;
  /** The text of a CSV, or the bytes of a workbook. */
  readonly text: string | Uint8Array;
  readonly format?: StatementFormat | undefined;
  /** An import that adds this sum or more to balances takes two people. */
  readonly twoFromPaise?: number | undefined;
};

type ImportedStatement = {
  readonly statement_id: string;
  readonly outcome: "applied" | "known" | "proposed";
  readonly approval_id: string | null;
  readonly lines: number;
  /** Lines of this file that no earlier file had. */
  readonly new_lines: number;
  readonly matched: number;
  readonly queued: number;
  /** Where each line went, in the order of the file. */
  readonly results: readonly LineResult[];
  readonly reconciled: Reconciled;
};

export type LineResult = Pick<
  BankLineRow,
  "ordinal" | "line_id" | "day" | "direction" | "paise" | "utr" | "firm_id" | "deal_id"
> & {
  readonly status: BankLineRow["state"];
  readonly reason: string;
  /** What shows that a deposit came from its firm. */
  readonly proved_by: string | null;
  readonly repeats_line_id: string | null;
};

type PreviewedLine = Omit<LineResult, "line_id"> &
  Pick<LineDetails, "narration"> & { readonly remitter_name: string };

type PreviewedStatement = {
  /** Whether these bytes were imported before: importing them again does nothing. */
  readonly known: boolean;
  readonly lines: number;
  readonly matched: number;
  readonly queued: number;
  readonly repeated: number;
  readonly incoming_paise: number;
  readonly people: 1 | 2;
  readonly opening_paise: number | null;
  readonly closing_paise: number | null;
  readonly results: readonly PreviewedLine[];
};

/** What importing a file would do as things are; stores nothing. */
export async function previewStatement(
  ctx: Pick<Context, "db" | "now" | "sealKey" | "heavy">,
  operator: Actor,
  { environment, text, format = genericStatement, twoFromPaise }: ImportStatement,
): Promise<PreviewedStatement> {
  refuseSandbox(environment);
  const file = { environment, text, format };
  const known = await findReceived(ctx, file);
  const { statement, rows } = await planStatement(ctx, operator, file);
  const days = [...new Set(rows.map(({ day }) => day))];
  const repeats = findRepeated(rows, await listCounted(ctx.db, environment, days));
  const results = rows.map((row): PreviewedLine => {
    const { line_id: _id, ...result } = toLineResult(row);
    const { narration, remitterName } = openDetails(row, ctx.sealKey);
    const told = { ...result, narration, remitter_name: remitterName };
    const repeat = repeats.get(row.line_id);
    if (!repeat) return { ...told, status: row.plan.to === "queue" ? "queued" : "matched" };
    const nobodys = { firm_id: null, deal_id: null, proved_by: null };
    return repeat.isSure
      ? { ...told, ...nobodys, status: "repeated", reason: "counted_before" }
      : { ...told, ...nobodys, status: "queued", reason: "perhaps_counted" };
  });
  const isNew = (index: number) => results[index]?.status !== "repeated";
  const incoming = sumIncoming(rows.filter((_, index) => isNew(index)));
  const count = (status: BankLineRow["state"]) =>
    results.filter((line) => line.status === status).length;
  return {
    known: known?.state === "applied",
    lines: rows.length,
    matched: count("matched"),
    queued: count("queued"),
    repeated: count("repeated"),
    incoming_paise: incoming,
    people: incoming >= (twoFromPaise ?? twoPeopleFromPaise) ? 2 : 1,
    opening_paise: statement.opening_paise,
    closing_paise: statement.closing_paise,
    results,
  };
}

function refuseSandbox(environment: Environment): void {
  if (environment === "live") return;
  throw new Failure("conflict", "the sandbox has no bank statement", {
    detail: { reason: "sandbox_has_no_bank" },
  });
}

export async function importStatement(
  ctx: Pick<Context, "db" | "now" | "sealKey" | "heavy">,
  operator: Actor,
  asked: ImportStatement,
): Promise<ImportedStatement> {
  const { environment, text, format = genericStatement, twoFromPaise } = asked;
  refuseSandbox(environment);
  const statement = await receiveStatement(ctx, operator, { environment, text, format });
  if (statement.state === "applied") return await summarizeImport(ctx, statement, "known");
  const lines = await listLinesOfStatement(ctx.db, statement.statement_id);
  const limit = twoFromPaise ?? twoPeopleFromPaise;
  const applying = actWithApproval(ctx, operator, {
    kind: bankImport,
    environment,
    subjectId: statement.statement_id,
    terms: { sha256: statement.sha256.toString("hex") },
    people: sumIncoming(lines) >= limit ? 2 : 1,
    alonePerDayPaise: limit,
  });
  const acted = await applying.catch((error: unknown) => {
    if (isAlreadyImported(error)) return undefined; // Imported concurrently.
    throw error;
  });
  if (!acted) return await summarizeImport(ctx, statement, "known");
  return acted.outcome === "done"
    ? await summarizeImport(ctx, statement, "applied")
    : await summarizeImport(ctx, statement, "proposed", acted.approval_id);
}

const alreadyImported = "already_imported";

/** Whether a file with these bytes was imported, in any format. */
function isAlreadyImported(error: unknown): boolean {
  if (violatedConstraint(error) === "bank_statements_once") return true;
  return error instanceof Failure && error.detail?.["reason"] === alreadyImported;
}

/** The sum of deposits and returned payouts. */
function sumIncoming(lines: readonly BankLineRow[]): number {
  const incoming = lines.filter(
    ({ direction, plan }) => direction === "credit" && plan.to !== "queue",
  );
  return asAmount(sumPaise(incoming.map(({ paise }) => paise)));
}

export const bankImport: ApprovalKind<{ readonly sha256: string }> = {
  name: "bank.import",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  isPassing: isMoneyMoved,
  async prepare(tx, { environment, subjectId }, now): Promise<Prepared> {
    await lockCounting(tx, environment);
    const [statement] = await lockStatement(tx, [subjectId]);
    if (!statement) throw noStatement(subjectId);
    if (statement.state === "applied") {
      throw new Failure("conflict", "the statement was imported before", {
        detail: { reason: alreadyImported },
      });
    }
    const locked = await lockLinesToApply(tx, await listLinesOfStatement(tx, subjectId));
    const lines = locked.own;
    const paise = sumIncoming(lines);
    const explained = lines.filter(({ plan }) => plan.to !== "queue").length;
    return {
      summary: `a bank statement of ${lines.length} lines up to ${statement.last_day}: ${explained} explained, ${rupeesText(paise)} rupees for firms`,
      valuePaise: paise,
      refusesMachine: await findGap(tx, statement, lines),
      facts: { sha256: statement.sha256.toString("hex"), lines: lines.length, paise, planVersion },
      shows: [{ title: "Lines", rows: lines.map(showLine) }],
      async carryOut(actor) {
        const { changes } = await applyLines(tx, environment, locked, now);
        const after: StatementRow = {
          ...statement,
          state: "applied",
          applied_by: actor.id,
          applied_at: now,
        };
        await setApplied(tx, after);
        const answer = { statement_id: subjectId, lines: lines.length };
        return { changes: [...changes, buildStatementChange("apply", after)], answer };
      },
    };
  },
};

/**
 * Whether a statement begins where the last one ended, after the lines that both have. A person may import
 * one after a gap; a machine must not, since a made-up file seldom fits.
 */
async function findGap(
  tx: Tx,
  { environment, closing_paise }: StatementRow,
  lines: readonly BankLineRow[],
): Promise<Failure | undefined> {
  const days = [...new Set(lines.map(({ day }) => day))];
  const repeats = findRepeated(lines, await listCounted(tx, environment, days));
  const added = lines.filter(({ line_id }) => repeats.get(line_id)?.isSure !== true);
  if (added.length === 0) return undefined;
  const { closing_paise: last } = await findTotals(tx, environment);
  const sum = sumPaise(
    added.map(({ direction, paise }) => (direction === "credit" ? paise : -paise)),
  );
  const expected = last === null ? null : addPaise(last, sum);
  if (expected !== null && expected === closing_paise) return undefined;
  return new Failure(
    "conflict",
    "the statement does not go on from the balance of the last one: a person imports it",
    {
      detail: {
        reason: "balance_gap",
        last_closing_paise: last,
        expected_closing_paise: expected,
        closing_paise,
      },
    },
  );
}

export function noStatement(statementId: string): Failure {
  return new Failure("not_found", `no bank statement ${statementId}`);
}

async function summarizeImport(
  ctx: Pick<Context, "db">,
  { statement_id, environment, line_count }: StatementRow,
  outcome: ImportedStatement["outcome"],
  approvalId: string | null = null,
): Promise<ImportedStatement> {
  const lines = await listLinesOfStatement(ctx.db, statement_id);
  const count = (state: BankLineRow["state"]) =>
    lines.filter((line) => line.state === state).length;
  return {
    statement_id,
    outcome,
    approval_id: approvalId,
    lines: line_count,
    new_lines: lines.length - count("repeated"),
    matched: count("matched"),
    queued: count("queued"),
    results: lines.map(toLineResult),
    reconciled: await reconcileBank(ctx, environment),
  };
}

function showLine(line: BankLineRow) {
  const { day, direction, paise, utr, status, reason, firm_id, deal_id } = toLineResult(line);
  return { day, direction, amount_paise: paise, utr, firm_id, deal_id, status, reason };
}

/** What a line that waits for the second person will be, if nothing changes. */
export function toLineResult(line: BankLineRow): LineResult {
  const { ordinal, line_id, day, direction, paise, utr, plan, repeats_line_id } = line;
  const planned = plan.to === "deposit" ? plan : { firm_id: null, deal_id: null, proved_by: null };
  const isTaken = line.state === "new" || line.state === "matched";
  return {
    ordinal,
    line_id,
    day,
    direction,
    paise,
    utr,
    status: line.state,
    reason: explainLine(line),
    firm_id: line.firm_id ?? (isTaken ? planned.firm_id : null),
    deal_id: line.deal_id ?? (isTaken ? planned.deal_id : null),
    proved_by: isTaken ? planned.proved_by : null,
    repeats_line_id,
  };
}
