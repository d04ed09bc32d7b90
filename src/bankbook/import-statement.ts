// A bank statement is imported in two steps: its lines are stored with a plan for each, then they are
// applied in one transaction. After a crash in between, the same file is imported again. When it would
// add more to firms' balances than the limit, the second step takes two people: a file can be forged.

import { createHash } from "node:crypto";

import { readAwaitedPayments, findBuyers } from "../crosses/fund-cross.ts";
import { findRemitters } from "../firms/bank-accounts.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { exactJson, canonicalJson } from "../kernel/json.ts";
import { asAmount, sumPaise, rupeesText } from "../kernel/money.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import { findFileLinesByReference } from "../payouts/answer-files.ts";
import { findRemittancesByUtr } from "../payouts/remittances.ts";
import { twoPeopleFromPaise } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import { violatedConstraint } from "../platform/postgres/postgres.ts";
import { seal } from "../platform/seal.ts";
import { findSettlementBuyers } from "../settlement/fund-settlements.ts";
import { applyLines, lockLinesToApply } from "./apply-lines.ts";
import { buildStatementChange } from "./decide-line.ts";
import { isMoneyMoved } from "./fund-deal.ts";
import { findHandEntries, type HandEntry } from "./hand-entries.ts";
import { genericStatement, parseStatement, type StatementFormat } from "./read-statement.ts";
import { reconcileBank, type Reconciled } from "./reconcile-bank.ts";
import {
  type KnownRemittance,
  type KnownTarget,
  type MatchContext,
  buildLineKeys,
  findMentions,
  paymentNameLengthMin,
  listUtrs,
  planLine,
  type StatementLine,
} from "./rules.ts";
import {
  type BankLineRow,
  findStatementByDigest,
  insertLines,
  insertStatement,
  listLinesOfStatement,
  listReturning,
  lockStatement,
  setApplied,
  type StatementRow,
} from "./store.ts";

type ImportStatement = {
  readonly environment: Environment;
  readonly text: string;
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
    const statement = await lockStatement(tx, subjectId);
    if (!statement) throw new Failure("not_found", `no bank statement ${subjectId}`);
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
      facts: { sha256: statement.sha256.toString("hex"), lines: lines.length, paise },
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
        return { changes: [...changes, buildStatementChange("apply", statement, after)], answer };
      },
    };
  },
};

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
    reconciled: await reconcileBank(ctx, environment),
  };
}

/** The text of a line, which is sealed because it holds personal data. */
export type LineDetails = Pick<
  StatementLine,
  "reference" | "narration" | "remitterName" | "remitterAccount"
>;

export function buildDetailsPurpose(lineKey: string): string {
  return `bank line ${lineKey}`;
}

/** With a digest, so that two formats of one name differ. */
function buildFormatName(format: StatementFormat): string {
  const digest = createHash("sha256").update(canonicalJson(format)).digest("hex");
  return `${format.name} ${digest.slice(0, 8)}`;
}

/**
 * Stores the lines of a bank's file with a plan for each; no money moves yet. The same bytes in the same
 * format are the same statement.
 */
export async function receiveStatement(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  operator: Actor,
  {
    environment,
    text,
    format,
  }: { readonly environment: Environment; readonly text: string; readonly format: StatementFormat },
): Promise<StatementRow> {
  const digest = createHash("sha256").update(text).digest();
  const form = buildFormatName(format);
  const known = await findStatementByDigest(ctx.db, environment, digest, form);
  if (known) return known;
  const { lines, openingPaise, closingPaise } = await parseStatement(text, format);
  const now = ctx.now();
  const days = lines.map(({ day }) => day).toSorted();
  const statement: StatementRow = {
    statement_id: newId("bst", now),
    environment,
    sha256: digest,
    format: form,
    line_count: lines.length,
    first_day: days[0] ?? "",
    last_day: days.at(-1) ?? "",
    opening_paise: openingPaise,
    closing_paise: closingPaise,
    state: "received",
    received_by: operator.id,
    received_at: now,
    applied_by: null,
    applied_at: null,
  };
  const things = await loadMatchContext(ctx, environment, lines);
  const entered = await findHandEntries(ctx.db, environment, lines.flatMap(listCreditWords));
  const keys = buildLineKeys(lines);
  const rows = lines.map((line, at): BankLineRow => {
    const lineKey = keys[at] ?? "";
    const { reference, narration, remitterName, remitterAccount } = line;
    const [utr = null, ...otherUtrs] = rankUtrs(line, entered);
    const details: LineDetails = { reference, narration, remitterName, remitterAccount };
    return {
      line_id: newId("bln", now),
      environment,
      statement_id: statement.statement_id,
      ordinal: line.ordinal,
      line_key: lineKey,
      day: line.day,
      direction: line.direction,
      paise: line.paise,
      utr,
      other_utrs: otherUtrs,
      details_sealed: seal(exactJson(details), buildDetailsPurpose(lineKey), ctx.sealKey),
      plan: planLine(line, things),
      state: "new",
      reason: null,
      firm_id: null,
      deal_id: null,
      back_utr: null,
      decided_by: null,
      decided_at: null,
      version: 1,
    };
  });
  await ctx.db.transaction(async (tx) => {
    if (await insertStatement(tx, statement)) await insertLines(tx, rows);
  });
  const received = await findStatementByDigest(ctx.db, environment, digest, form);
  if (!received) throw new Error("a statement that was received is there");
  return received;
}

/** Every word of a credit line that may be the UTR under which somebody entered it by hand. */
function listCreditWords(line: StatementLine): string[] {
  if (line.direction === "debit") return [];
  return [...new Set([...listUtrs(line), ...findMentions(line).utrs])];
}

/** The UTR that a deposit by hand has comes first: it is looked up again when the line is applied. */
function rankUtrs(line: StatementLine, entered: ReadonlyMap<string, HandEntry>): string[] {
  const known = listCreditWords(line).filter((word) => entered.has(word));
  return [...new Set([...known, ...listUtrs(line)])];
}

/** Loads the remittances, deals, firms and payments that these lines mention. */
async function loadMatchContext(
  { db, sealKey }: Pick<Context, "db" | "sealKey">,
  environment: Environment,
  lines: readonly StatementLine[],
): Promise<MatchContext> {
  const mentions = lines.map(findMentions);
  const all = (field: "remittances" | "ids" | "utrs") => [
    ...new Set(mentions.flatMap((each) => each[field])),
  ];
  const inFiles = await findFileLinesByReference(db, all("remittances"));
  const remittances = new Map(
    [...inFiles].map(([reference, line]): [string, KnownRemittance] => [
      reference,
      {
        leadId: line.lead_id,
        fileId: line.file_id,
        paise: line.paise,
        isVoid: line.state === "voided",
      },
    ]),
  );
  const byUtr = new Map(
    [...(await findRemittancesByUtr(db, environment, all("utrs")))].map(
      ([utr, { leadId, paise }]): [string, KnownRemittance] => {
        const inFile = [...remittances.values()].find((each) => each.leadId === leadId);
        return [utr, { leadId, paise, fileId: inFile?.fileId ?? null, isVoid: false }];
      },
    ),
  );
  const returning = new Map(
    (await listReturning(db, environment)).map(({ back_utr, line_id, paise }) => [
      back_utr ?? "",
      { lineId: line_id, paise },
    ]),
  );
  const targets = await loadTargets(db, all("ids"));
  const payments = (await readAwaitedPayments(db, environment))
    .filter(({ payment_ref }) => payment_ref.length >= paymentNameLengthMin)
    .map(({ cross_id, buyer_firm_id, payment_ref }) => ({
      name: payment_ref,
      target: { firmId: buyer_firm_id, dealId: cross_id },
    }));
  const named = [...targets.values(), ...payments.map(({ target }) => target)];
  const firms = await findRemitters(db, [...new Set(named.map(({ firmId }) => firmId))], sealKey);
  const isHere = ({ firmId }: KnownTarget) => firms.get(firmId)?.environment === environment;
  return {
    remittances,
    byUtr,
    returning,
    targets: new Map([...targets].filter(([, target]) => isHere(target))),
    payments: payments.filter(({ target }) => isHere(target)),
    remitters: firms,
  };
}

async function loadTargets(
  db: Context["db"],
  ids: readonly string[],
): Promise<Map<string, KnownTarget>> {
  const ofKind = (prefix: "stl" | "crs" | "frm") => ids.filter((id) => isId(prefix, id));
  const buyers = [
    ...(await findSettlementBuyers(db, ofKind("stl"))),
    ...(await findBuyers(db, ofKind("crs"))),
  ];
  return new Map([
    ...ofKind("frm").map((firmId): [string, KnownTarget] => [firmId, { firmId, dealId: null }]),
    ...buyers.map(([dealId, firmId]): [string, KnownTarget] => [dealId, { firmId, dealId }]),
  ]);
}
