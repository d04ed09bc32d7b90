// A bank's statement counts in two steps: its lines are kept with what each is taken to mean, then
// they are applied, all in one transaction. Who dies in between imports the same file again. When what
// it would add to firms' money is over the limit, the second step waits for another person: a file can
// be written by hand.

import { actWithApproval } from "../approvals/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../approvals/kind.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { rupeesText } from "../kernel/rupees.ts";
import { twoOperatorsFromPaise } from "../payouts/rules.ts";
import type { Context } from "../platform/context.ts";
import { violatedConstraint } from "../platform/postgres.ts";
import { applyLines } from "./apply-lines.ts";
import { changeOfStatement } from "./change-of-bankbook.ts";
import { genericStatement, type StatementFormat } from "./read-statement.ts";
import { type Reconciled, reconcileBank } from "./reconcile-bank.ts";
import { receiveStatement } from "./receive-statement.ts";
import {
  type BankLineRow,
  listLinesOfStatement,
  lockStatement,
  setApplied,
  type StatementRow,
} from "./store.ts";
import { withoutMovedFunds } from "./without-moved-funds.ts";

export type ImportStatement = {
  readonly environment: Environment;
  readonly text: string;
  readonly format?: StatementFormat | undefined;
  /** From which sum on what came in takes two people. */
  readonly twoFromPaise?: number | undefined;
};

export type ImportedStatement = {
  readonly statement_id: string;
  readonly outcome: "applied" | "known" | "proposed";
  readonly approval_id: string | null;
  readonly lines: number;
  /** Lines of this file that no earlier file had. */
  readonly new_lines: number;
  readonly matched: number;
  readonly queued: number;
  readonly reconciled: Reconciled;
};

export async function importStatement(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  operator: Actor,
  asked: ImportStatement,
): Promise<ImportedStatement> {
  const { environment, text, format = genericStatement, twoFromPaise } = asked;
  if (environment === "sandbox") {
    throw new Failure("conflict", "the sandbox has no bank statement", {
      detail: { reason: "sandbox_has_no_bank" },
    });
  }
  const statement = await receiveStatement(ctx, operator, { environment, text, format });
  if (statement.state === "applied") return await shown(ctx, statement, "known");
  const lines = await listLinesOfStatement(ctx.db, statement.statement_id);
  const limit = twoFromPaise ?? twoOperatorsFromPaise;
  const applying = withoutMovedFunds(
    async () =>
      await actWithApproval(ctx, operator, {
        kind: bankImport,
        environment,
        subjectId: statement.statement_id,
        terms: { sha256: statement.sha256.toString("hex") },
        people: cameIn(lines) >= limit ? 2 : 1,
        alonePerDayPaise: limit,
      }),
  );
  const acted = await applying.catch((error: unknown) => {
    if (isAlreadyImported(error)) return undefined; // By somebody else, this moment.
    throw error;
  });
  if (!acted) return await shown(ctx, statement, "known");
  return acted.outcome === "done"
    ? await shown(ctx, statement, "applied")
    : await shown(ctx, statement, "proposed", acted.approval.approval_id);
}

const alreadyImported = "already_imported";

/** By these bytes, in whichever form. */
function isAlreadyImported(error: unknown): boolean {
  if (violatedConstraint(error) === "bank_statements_once") return true;
  return error instanceof Failure && error.detail?.["reason"] === alreadyImported;
}

/** What a statement gives to firms: deposits, and payouts that came back. */
function cameIn(lines: readonly BankLineRow[]): number {
  return lines
    .filter(({ direction, plan }) => direction === "credit" && plan.to !== "queue")
    .reduce((sum, { paise }) => sum + paise, 0);
}

export const bankImport: ApprovalKind<{ readonly sha256: string }> = {
  name: "bank.import",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { environment, subjectId }, now): Promise<Prepared> {
    const statement = await lockStatement(tx, subjectId);
    if (!statement) throw new Failure("not_found", `no bank statement ${subjectId}`);
    if (statement.state === "applied") {
      throw new Failure("conflict", "the statement was imported before", {
        detail: { reason: alreadyImported },
      });
    }
    const lines = await listLinesOfStatement(tx, subjectId);
    const paise = cameIn(lines);
    const explained = lines.filter(({ plan }) => plan.to !== "queue").length;
    return {
      summary: `a bank statement of ${lines.length} lines up to ${statement.last_day}: ${explained} explained, ${rupeesText(paise)} rupees for firms`,
      valuePaise: paise,
      facts: { sha256: statement.sha256.toString("hex"), lines: lines.length, paise },
      async carryOut(actor) {
        const { changes } = await applyLines(tx, environment, lines, now);
        const after: StatementRow = {
          ...statement,
          state: "applied",
          applied_by: actor.id,
          applied_at: now,
        };
        await setApplied(tx, after);
        const answer = { statement_id: subjectId, lines: lines.length };
        return { changes: [...changes, changeOfStatement("apply", statement, after)], answer };
      },
    };
  },
};

async function shown(
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
    reconciled: await reconcileBank(ctx, environment),
  };
}
