import { createHash } from "node:crypto";

import { recordChanges } from "../events/record-changes.ts";
import { openAccount } from "../firms/accounts-to-pay.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { changeOfFile } from "./change-of-file.ts";
import { fileText } from "./rules.ts";
import { listFileLines, lockFiles, setDigest } from "./store.ts";

export type FileBytes = {
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly sha256: string;
};

/**
 * The bytes of a file, the same at every reading. They hold whole account numbers, so who read them is
 * on record.
 */
export async function readFile(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  operator: Actor,
  fileId: string,
): Promise<FileBytes> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const [file] = await lockFiles(tx, [fileId]);
    if (!file) throw new Failure("not_found", `no payout file ${fileId}`);
    if (file.state === "voided") {
      throw new Failure("conflict", "the file was voided: the bank must not get it", {
        detail: { reason: "wrong_state", state: file.state },
      });
    }
    const lines = await listFileLines(tx, [fileId]);
    const opened = lines.map((line) => ({
      ...line,
      rail: file.rail,
      account_no: openAccount(
        { firmId: line.firm_id, accountSealed: line.account_sealed },
        ctx.sealKey,
      ),
    }));
    const text = fileText(file.format, opened, istDay(file.made_at));
    const digest = createHash("sha256").update(text).digest();
    if (file.sha256 && !file.sha256.equals(digest)) {
      throw new Error(`the bytes of ${fileId} are not what they were`);
    }
    await setDigest(tx, fileId, digest);
    await recordChanges(tx, operator, [changeOfFile("read", file, file)], now);
    const name = `${file.rail}-${istDay(file.made_at)}-${fileId}.csv`;
    return { name, text, sha256: digest.toString("hex") };
  });
}
