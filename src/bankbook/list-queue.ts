import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import { noBankLine } from "./decide-line.ts";
import { type LineResult, noStatement, toLineResult } from "./import-statement.ts";
import { buildDetailsPurpose, openDetails } from "./receive-statement.ts";
import { type LineAct, listLineActs } from "./rules.ts";
import {
  type BankLineRow,
  detailsColumn,
  findLine,
  findStatement,
  listLinesOfStatement,
  listQueue as listRows,
  listStatements as listStatementRows,
  type StatementRow,
} from "./store.ts";

/** What the bank says of a line in words. */
type LineText = {
  readonly remitter_name: string;
  readonly remitter_account_masked: string;
  readonly narration: string;
};

type ShownLine = LineResult &
  LineText & {
    readonly balance_paise: number | null;
    /** The person who assigned it or sent it back. */
    readonly decided_by: string | null;
  };

/** A queued line as operators see it. */
type QueuedLine = LineText & {
  readonly line_id: string;
  readonly day: string;
  readonly direction: BankLineRow["direction"];
  readonly paise: number;
  readonly utr: string | null;
  readonly state: BankLineRow["state"];
  readonly reason: string | null;
  /** The line that an earlier file may have had. */
  readonly repeats_line_id: string | null;
  readonly allowed_actions: readonly LineAct[];
};

type DecidedLine = Pick<
  BankLineRow,
  "statement_id" | "firm_id" | "deal_id" | "decided_by" | "decided_at"
>;

export async function listQueue(
  ctx: Pick<Context, "db" | "sealKey">,
  {
    environment,
    after,
    limit,
  }: {
    readonly environment: Environment;
    /** Only those that wait behind this one. */
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<QueuedLine[]> {
  const rows = await listRows(ctx.db.planned, { environment, after: after ?? null, limit });
  return rows.map((row) => viewQueued(row, ctx.sealKey));
}

/** A line by itself, for whoever decides about it, and what was decided last. */
export async function showBankLine(
  ctx: Pick<Context, "db" | "sealKey">,
  lineId: string,
): Promise<QueuedLine & DecidedLine> {
  const row = await findLine(ctx.db, lineId);
  if (!row) throw noBankLine(lineId);
  const { statement_id, firm_id, deal_id, decided_by, decided_at } = row;
  const decided = { statement_id, firm_id, deal_id, decided_by, decided_at };
  return { ...viewQueued(row, ctx.sealKey), ...decided };
}

function viewQueued(row: BankLineRow, sealKey: Context["sealKey"]): QueuedLine {
  const { line_id, day, direction, paise, utr, state, reason, repeats_line_id } = row;
  const told = { line_id, day, direction, paise, utr, state, reason, repeats_line_id };
  return { ...told, ...viewDetails(row, sealKey), allowed_actions: listLineActs(row) };
}

function viewDetails(row: BankLineRow, sealKey: Context["sealKey"]): LineText {
  const { remitterAccount, remitterName, narration } = openDetails(row, sealKey);
  return {
    remitter_name: remitterName,
    remitter_account_masked: remitterAccount ? `…${remitterAccount.slice(-4)}` : "",
    narration,
  };
}

/** Statements that were received, newest first. */
export async function listStatements(
  ctx: Pick<Context, "db">,
  page: { readonly environment: Environment; readonly before?: string; readonly limit: number },
): Promise<ShownStatement[]> {
  const asked = { ...page, before: page.before ?? null };
  return (await listStatementRows(ctx.db.planned, asked)).map(viewStatement);
}

/** A statement without what only the import needs. */
function viewStatement({
  environment: _environment,
  sha256: _sha256,
  format: _format,
  reached_at: _reached,
  ...shown
}: StatementRow) {
  return shown;
}

type ShownStatement = ReturnType<typeof viewStatement>;

/** A statement with every line: where it went, and why. */
export async function showStatement(
  ctx: Pick<Context, "db" | "sealKey">,
  statementId: string,
): Promise<ShownStatement & { readonly lines: readonly ShownLine[] }> {
  const statement = await findStatement(ctx.db, statementId);
  if (!statement) throw noStatement(statementId);
  const rows = await listLinesOfStatement(ctx.db, statementId);
  const lines = rows.map((row) => ({
    ...toLineResult(row),
    ...viewDetails(row, ctx.sealKey),
    balance_paise: row.balance_paise,
    decided_by: row.decided_by,
  }));
  return { ...viewStatement(statement), lines };
}

/** The sealed texts of bank lines, for a rotation of the master key. */
export function sealedDetails({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "bank statement lines",
    list: async (after, limit) => {
      const rows = await detailsColumn.list(db, after, limit);
      return rows.map(({ line_key, ...row }) => ({
        ...row,
        purpose: buildDetailsPurpose(line_key),
      }));
    },
    set: (rows) => detailsColumn.set(db, rows),
  };
}
