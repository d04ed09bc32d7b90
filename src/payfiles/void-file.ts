import { actWithApproval } from "../approvals/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../approvals/kind.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import { rupeesText } from "../kernel/rupees.ts";
import { lockRemittedPayouts } from "../payouts/answer-remittances.ts";
import { releaseInstructed } from "../payouts/instruct-payouts.ts";
import type { Context } from "../platform/context.ts";
import { changeOfFile } from "./change-of-file.ts";
import { fileLifecycle } from "./rules.ts";
import {
  findFile,
  listFileLines,
  lockFiles,
  setFile,
  setItemsVoid,
  setLineStates,
} from "./store.ts";

const reasonLengthMax = 500;

/**
 * Says that the bank never got a file, or refused what it has not answered of it: that much is due
 * again. Two people say so, whatever the sum, because what the bank did pay would be paid twice.
 */
export async function voidFile(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { fileId, reason }: { readonly fileId: string; readonly reason: string },
): Promise<"proposed" | "voided"> {
  if (reason.trim() === "" || reason.length > reasonLengthMax) {
    throw unprocessable({ path: "reason", problem: `must be 1 to ${reasonLengthMax} characters` });
  }
  const file = await findFile(ctx.db, fileId);
  if (!file) throw new Failure("not_found", `no payout file ${fileId}`);
  const { outcome } = await actWithApproval(ctx, operator, {
    kind: payoutFileVoiding,
    environment: file.environment,
    subjectId: fileId,
    terms: { reason },
    people: 2,
  });
  return outcome === "done" ? "voided" : "proposed";
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
    if (!file) throw new Failure("not_found", `no payout file ${fileId}`);
    advance(fileLifecycle, file.state, "void");
    const live = (await listFileLines(tx, [fileId])).filter((line) => line.state === "live");
    const paise = live.reduce((sum, line) => sum + line.paise, 0);
    const leadIds = live.map(({ lead_id }) => lead_id);
    return {
      summary: `${live.length} of ${file.line_count} lines of the ${file.rail} file, ${rupeesText(paise)} rupees, were never paid by the bank and are due again`,
      valuePaise: paise,
      facts: { file_id: fileId, references: live.map(({ reference }) => reference) },
      async carryOut(actor) {
        const changes = await releaseInstructed(tx, leadIds, { reason: "file_voided", now });
        await setLineStates(
          tx,
          live.map((line) => ({ ...line, state: "voided" as const })),
        );
        await setItemsVoid(
          tx,
          fileId,
          live.map(({ ordinal }) => ordinal),
        );
        // What the bank has answered of it stands.
        const isWhole = live.length === file.line_count;
        const after = {
          ...file,
          state: isWhole ? ("voided" as const) : ("answered" as const),
          voided_by: actor.id,
          voided_at: now,
          void_reason: reason,
          version: file.version + 1,
        };
        await setFile(tx, after);
        return { changes: [...changes, changeOfFile("void", file, after)] };
      },
    };
  },
};
