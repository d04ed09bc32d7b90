import { createHash } from "node:crypto";

import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Context } from "../platform/context.ts";
import { seal } from "../platform/seal.ts";
import { knownThings } from "./known-things.ts";
import { readStatement, type StatementFormat } from "./read-statement.ts";
import { lineKeys, planLine, type StatementLine, utrIn } from "./rules.ts";
import {
  type BankLineRow,
  findStatementByDigest,
  insertLines,
  insertStatement,
  type StatementRow,
} from "./store.ts";

/** What was written in a line, which is nobody else's business. */
export type LineDetails = Pick<
  StatementLine,
  "reference" | "narration" | "remitterName" | "remitterAccount"
>;

export function detailsPurpose(lineKey: string): string {
  return `bank line ${lineKey}`;
}

/** Two forms of one name are two forms. */
function formName(format: StatementFormat): string {
  const digest = createHash("sha256").update(canonicalJson(format)).digest("hex");
  return `${format.name} ${digest.slice(0, 8)}`;
}

/**
 * Keeps the lines of a bank's file with what each is taken to mean; nothing counts yet. The same bytes
 * in the same form are the same statement.
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
  const form = formName(format);
  const known = await findStatementByDigest(ctx.db, environment, digest, form);
  if (known) return known;
  const { lines, openingPaise, closingPaise } = readStatement(text, format);
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
  const things = await knownThings(ctx, environment, lines);
  const keys = lineKeys(lines);
  const rows = lines.map((line, at): BankLineRow => {
    const lineKey = keys[at] ?? "";
    const { reference, narration, remitterName, remitterAccount } = line;
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
      utr: utrIn(reference),
      details_sealed: seal(JSON.stringify(details), detailsPurpose(lineKey), ctx.sealKey),
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
