// Stores the lines of a bank's file with a plan for each; no money moves yet.

import { createHash } from "node:crypto";

import { readAwaitedPayments, findBuyers } from "../crosses/fund-cross.ts";
import { readTableWorkbook } from "../credits/read-workbook.ts";
import type { ReportSource } from "../credits/report-rules.ts";
import { openAccount } from "../firms/bank-accounts.ts";
import { findNumberedFirms } from "../funding/virtual-accounts.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { houseFirmId, isId, newId } from "../kernel/ids.ts";
import { canonicalJson, exactJson } from "../kernel/json.ts";
import { findFileLinesByLead, findFileLinesByReference } from "../payouts/answer-files.ts";
import { findRemittancesByUtr } from "../payouts/remittances.ts";
import type { Context } from "../platform/context.ts";
import { open, seal } from "../platform/seal.ts";
import { findSettlementBuyers } from "../settlement/fund-settlements.ts";
import { findHandEntries, type HandEntry } from "./hand-entries.ts";
import { findMentions, listUtrs, listWordsByLength } from "./mention-rules.ts";
import { findSenders } from "./paying-account.ts";
import { parseStatement, type StatementFormat } from "./read-statement.ts";
import { buildLineKeys, buildTextKeys } from "./repeat-rules.ts";
import {
  type KnownRemittance,
  type KnownTarget,
  listClaimants,
  type MatchContext,
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
  listUnnamed,
  setTextKeys,
  type StatementRow,
} from "./store.ts";

/** The text of a line, which is sealed because it holds personal data. */
export type LineDetails = Pick<
  StatementLine,
  "reference" | "narration" | "remitterName" | "remitterAccount"
>;

export function buildDetailsPurpose(lineKey: string): string {
  return `bank line ${lineKey}`;
}

export function openDetails(
  { details_sealed, line_key }: Pick<BankLineRow, "details_sealed" | "line_key">,
  sealKey: Buffer,
): LineDetails {
  const opened = open(details_sealed, buildDetailsPurpose(line_key), sealKey);
  return JSON.parse(opened) as LineDetails; // Sealed by ourselves in this form.
}

/** Raised when lines are planned by other rules: what was received before is planned anew. */
export const planVersion = 3;

/** With a digest, so that two formats of one name differ. */
function buildFormatName(format: StatementFormat): string {
  const digest = createHash("sha256").update(canonicalJson({ ...format, planVersion }));
  return `${format.name} ${digest.digest("hex").slice(0, 8)}`;
}

/** A file of the bank: the text of a CSV, or the bytes of a workbook. */
type BankFile = {
  readonly environment: Environment;
  readonly text: string | Uint8Array;
  readonly format: StatementFormat;
};

type ReceiveContext = Pick<Context, "db" | "now" | "sealKey" | "heavy">;

/** The statement of these bytes in this format, or the one of these bytes that was applied. */
export async function findReceived(
  { db }: Pick<Context, "db">,
  { environment, text, format }: BankFile,
): Promise<StatementRow | undefined> {
  const digest = createHash("sha256").update(text).digest();
  return await findStatementByDigest(db, environment, digest, buildFormatName(format));
}

/** The same bytes in the same format are the same statement. */
export async function receiveStatement(
  ctx: ReceiveContext,
  operator: Actor,
  file: BankFile,
): Promise<StatementRow> {
  const known = await findReceived(ctx, file);
  if (known) return known;
  const { statement, rows } = await planStatement(ctx, operator, file);
  await ctx.db.transaction(async (tx) => {
    if (await insertStatement(tx, statement)) await insertLines(tx, rows);
  });
  const received = await findReceived(ctx, file);
  if (!received) throw new Error("a statement that was received is there");
  return received;
}

/** What a file would be received as: nothing of it is stored. */
export async function planStatement(
  ctx: ReceiveContext,
  operator: Actor,
  { environment, text, format }: BankFile,
): Promise<{ readonly statement: StatementRow; readonly rows: BankLineRow[] }> {
  const source = await openFile(ctx, text);
  const { lines, openingPaise, closingPaise } = await parseStatement(source, format);
  const now = ctx.now();
  const days = lines.map(({ day }) => day).toSorted();
  const statement: StatementRow = {
    statement_id: newId("bst", now),
    environment,
    sha256: createHash("sha256").update(text).digest(),
    format: buildFormatName(format),
    line_count: lines.length,
    first_day: days[0] ?? "",
    last_day: days.at(-1) ?? "",
    opening_paise: openingPaise,
    closing_paise: closingPaise,
    reached_at: lines.reduce((last, { valueAt }) => (valueAt > last ? valueAt : last), new Date(0)),
    state: "received",
    received_by: operator.id,
    received_at: now,
    applied_by: null,
    applied_at: null,
  };
  await nameFormerLines(ctx);
  return { statement, rows: await planLines(ctx, statement, lines) };
}

async function openFile(
  { heavy }: Pick<Context, "heavy">,
  file: string | Uint8Array,
): Promise<ReportSource> {
  if (typeof file === "string") return { csv: file };
  const by = { environment: "live", deskId: houseFirmId.live } as const;
  return { sheet: await heavy.run(readTableWorkbook, file, { by }) };
}

async function planLines(
  ctx: Pick<Context, "db" | "sealKey">,
  { environment, statement_id, received_at: now }: StatementRow,
  lines: readonly StatementLine[],
): Promise<BankLineRow[]> {
  const things = await loadMatchContext(ctx, environment, lines);
  const entered = await findHandEntries(ctx.db, environment, lines.flatMap(listCreditWords));
  const keys = buildLineKeys(lines);
  const textKeys = buildTextKeys(lines);
  return lines.map((line, at): BankLineRow => {
    const lineKey = keys[at] ?? "";
    const { reference, narration, remitterName, remitterAccount } = line;
    const [utr = null, ...otherUtrs] = rankUtrs(line, entered);
    const details: LineDetails = { reference, narration, remitterName, remitterAccount };
    return {
      line_id: newId("bln", now),
      environment,
      statement_id,
      ordinal: line.ordinal,
      line_key: lineKey,
      day: line.day,
      value_at: line.valueAt,
      direction: line.direction,
      paise: line.paise,
      balance_paise: line.balancePaise,
      text_key: textKeys[at] ?? null,
      utr,
      other_utrs: otherUtrs,
      details_sealed: seal(exactJson(details), buildDetailsPurpose(lineKey), ctx.sealKey),
      plan: planLine(line, things),
      claimants: listClaimants(line, things),
      state: "new",
      reason: null,
      repeats_line_id: null,
      firm_id: null,
      deal_id: null,
      back_utr: null,
      decided_by: null,
      decided_at: null,
      version: 1,
    };
  });
}

/**
 * Names lines from before texts were compared, statement by statement. Of two that are the same by now
 * the later keeps its former name: both have counted.
 */
async function nameFormerLines({ db, sealKey }: Pick<Context, "db" | "sealKey">): Promise<void> {
  for (const statementId of await listUnnamed(db)) {
    const rows = await listLinesOfStatement(db, statementId);
    const keys = buildTextKeys(
      rows.map((row) => ({ ...row, ...openDetails(row, sealKey), balancePaise: null })),
    );
    await db.transaction(async (tx) => {
      await setTextKeys(
        tx,
        rows.map(({ line_id, line_key }, at) => ({
          line_id,
          text_key: keys[at] ?? line_key,
          line_key,
        })),
      );
    });
  }
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
  const openLine = (line: { readonly firm_id: string; readonly account_sealed: Buffer }) =>
    openAccount({ firmId: line.firm_id, accountSealed: line.account_sealed }, sealKey);
  const remittances = new Map(
    [...inFiles].map(([reference, line]): [string, KnownRemittance] => [
      reference,
      {
        leadId: line.lead_id,
        firmId: line.firm_id,
        fileId: line.file_id,
        paise: line.paise,
        isVoid: line.state === "voided",
        account: openLine(line),
      },
    ]),
  );
  const found = [...(await findRemittancesByUtr(db, environment, all("utrs")))];
  const ofLeads = await findFileLinesByLead(
    db,
    found.map(([, { leadId }]) => leadId),
  );
  const byUtr = new Map(
    found.map(([utr, { leadId, firmId, paise }]): [string, KnownRemittance] => {
      const named = [...remittances.values()].find((each) => each.leadId === leadId);
      const line = ofLeads.get(leadId);
      const fileId = named?.fileId ?? null;
      return [
        utr,
        { leadId, firmId, paise, fileId, isVoid: false, account: line ? openLine(line) : null },
      ];
    }),
  );
  const returning = new Map(
    (await listReturning(db, environment)).map(({ back_utr, line_id, paise }) => [
      back_utr ?? "",
      { lineId: line_id, paise },
    ]),
  );
  const targets = await loadTargets(db, all("ids"));
  const numbered = await loadNumbered(db, environment, lines);
  const payments = await readAwaitedPayments(db, environment);
  const firmIds = [
    ...targets.values(),
    ...payments,
    ...remittances.values(),
    ...byUtr.values(),
  ].map(({ firmId }) => firmId);
  const ofNumbers = [...numbered.values()].flat().flatMap((firmId) => firmId ?? []);
  const firms = await findSenders(db, [...new Set([...firmIds, ...ofNumbers])], sealKey);
  const isHere = ({ firmId }: Pick<KnownTarget, "firmId">) =>
    firms.get(firmId)?.environment === environment;
  return {
    remittances,
    byUtr,
    returning,
    targets: new Map([...targets].filter(([, target]) => isHere(target))),
    numbered,
    payments: payments.filter(isHere),
    remitters: firms,
  };
}

async function loadNumbered(
  db: Context["db"],
  environment: Environment,
  lines: readonly StatementLine[],
): Promise<MatchContext["numbered"]> {
  const credits = lines.filter(({ direction }) => direction === "credit");
  const firms = await findNumberedFirms(db, environment, (length) =>
    credits.flatMap((line) => listWordsByLength(line, length)),
  );
  const lengths = [...new Set([...firms.keys()].map((number) => number.length))];
  return new Map(
    credits.map((line) => {
      const words = lengths.flatMap((length) => listWordsByLength(line, length));
      return [
        line,
        [...new Set(words)].filter((word) => firms.has(word)).map((word) => firms.get(word)),
      ];
    }),
  );
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
