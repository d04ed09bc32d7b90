import { type Actor, type Change, refuseBadReason } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import { sumParts, rupeesText } from "../kernel/money.ts";
import { actWithApproval, tellOutcome, type ProposedAct } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { fileLifecycle, lineLifecycle, noPayoutFile } from "./file-rules.ts";
import {
  type FileLineRow,
  findFile,
  listFileLines,
  listLinesByLead,
  listLinesByReference,
  lockFileLines,
  lockFiles,
  setFiles,
  setItemsVoid,
  setLineStates,
} from "./file-store.ts";
import { buildFileChange } from "./make-files.ts";
import { lockRemittedPayouts, releaseInstructed } from "./remittances.ts";

/** A line of a file as other rooms know it. */
type KnownLine = Pick<
  FileLineRow,
  "file_id" | "ordinal" | "lead_id" | "firm_id" | "paise" | "reference" | "state" | "account_sealed"
>;

export async function findFileLinesByReference(
  db: Db,
  references: readonly string[],
): Promise<ReadonlyMap<string, KnownLine>> {
  if (references.length === 0) return new Map();
  const lines = await listLinesByReference(db, references);
  return new Map(lines.map((line) => [line.reference, line]));
}

/** By lead payout: the line that instructs the bank to pay it; voided lines are left out. */
export async function findFileLinesByLead(
  db: Db,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, KnownLine>> {
  if (leadIds.length === 0) return new Map();
  const lines = await listLinesByLead(db, leadIds);
  return new Map(lines.map((line) => [line.lead_id, line]));
}

type LineAnswer = { readonly leadId: string; readonly outcome: "paid" | "returned" };

/**
 * Applies the bank's answers to the lines of files; a file whose lines are all answered is answered.
 * The payouts are locked; the caller records the changes.
 */
export async function answerLines(
  tx: Tx,
  answers: readonly LineAnswer[],
): Promise<readonly Change[]> {
  if (answers.length === 0) return [];
  const counting = await listLinesByLead(
    tx,
    answers.map(({ leadId }) => leadId),
  );
  const fileIds = [...new Set(counting.map(({ file_id }) => file_id))];
  if (fileIds.length === 0) return [];
  const files = await lockFiles(tx, fileIds);
  const byFile = Map.groupBy(await lockFileLines(tx, fileIds), (line) => line.file_id);
  const changes: Change[] = [];
  for (const file of files) {
    const lines = (byFile.get(file.file_id) ?? []).map((line) => {
      const own = answers.filter(
        ({ leadId }) => leadId === line.lead_id && line.state !== "voided",
      );
      const state = own.reduce(
        (at, { outcome }) => advance(lineLifecycle, at, outcome === "paid" ? "pay" : "return"),
        line.state,
      );
      return { line, state };
    });
    const moved = lines.filter(({ line, state }) => state !== line.state);
    if (moved.length === 0) continue;
    await setLineStates(
      tx,
      moved.map(({ line, state }) => ({ ...line, state })),
    );
    const isOver = file.state === "live" && lines.every(({ state }) => state !== "live");
    const state = isOver ? advance(fileLifecycle, file.state, "answer") : file.state;
    const after = { ...file, state, version: file.version + 1 };
    await setFiles(tx, [after]);
    changes.push(buildFileChange("answer", after));
  }
  return changes;
}

/**
 * Voids the unanswered lines of a file that the bank never got or refused: their payouts are due again.
 * It takes two people for any sum, because a payment that the bank did make would be made twice.
 */
export async function voidFile(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { fileId, reason }: { readonly fileId: string; readonly reason: string },
): Promise<ProposedAct | { readonly outcome: "voided" }> {
  refuseBadReason(reason);
  const file = await findFile(ctx.db, fileId);
  if (!file) throw noPayoutFile(fileId);
  const acted = await actWithApproval(ctx, operator, {
    kind: payoutFileVoiding,
    environment: file.environment,
    subjectId: fileId,
    terms: { reason },
    people: 2,
  });
  return tellOutcome(acted, "voided");
}

export const payoutFileVoiding: ApprovalKind<{ readonly reason: string }> = {
  name: "payout_file.void",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId: fileId, terms: { reason } }, now): Promise<Prepared> {
    const seen = await listFileLines(tx, [fileId]);
    await lockRemittedPayouts(
      tx,
      seen.map(({ lead_id }) => lead_id),
    );
    const [file] = await lockFiles(tx, [fileId]);
    if (!file) throw noPayoutFile(fileId);
    advance(fileLifecycle, file.state, "void");
    const live = (await lockFileLines(tx, [fileId])).filter((line) => line.state === "live");
    const paise = sumParts(live.map((line) => line.paise));
    const leadIds = live.map(({ lead_id }) => lead_id);
    return {
      summary: `${live.length} of ${file.line_count} lines of the ${file.rail} file, ${rupeesText(paise)} rupees, were never paid by the bank and are due again`,
      valuePaise: paise,
      facts: { file_id: fileId, references: live.map(({ reference }) => reference) },
      shows: [
        {
          title: "Payments that are due again",
          rows: live.map(({ firm_id, paise: amount_paise, ifsc, reference }) => ({
            firm_id,
            amount_paise,
            ifsc,
            reference,
          })),
        },
      ],
      async carryOut(actor) {
        const changes = await releaseInstructed(
          tx,
          { environment: file.environment, payoutIds: leadIds },
          { reason: "file_voided", now },
        );
        await setLineStates(
          tx,
          live.map((line) => ({ ...line, state: "voided" as const })),
        );
        await setItemsVoid(
          tx,
          fileId,
          live.map(({ ordinal }) => ordinal),
        );
        // Answered lines keep their outcome.
        const isWhole = live.length === file.line_count;
        const after = {
          ...file,
          state: isWhole ? ("voided" as const) : ("answered" as const),
          voided_by: actor.id,
          voided_at: now,
          void_reason: reason,
          version: file.version + 1,
        };
        await setFiles(tx, [after]);
        return { changes: [...changes, buildFileChange("void", after)] };
      },
    };
  },
};
