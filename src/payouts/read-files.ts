import { createHash } from "node:crypto";

import { findPayees, openAccount } from "../firms/bank-accounts.ts";
import { toSealPurpose } from "../firms/particulars.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { wrongState } from "../kernel/lifecycle.ts";
import type { TimeSpan } from "../kernel/query-time.ts";
import { istDay } from "../kernel/time.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type FileState, buildFileText, noPayoutFile } from "./file-rules.ts";
import {
  type FileLineRow,
  type FileRow,
  findFile,
  listFileItems,
  listFileLines,
  listFiles as listRows,
  listSealedLines,
  lockFiles,
  setDigest,
  setSealedLines,
} from "./file-store.ts";
import { buildFileChange } from "./make-files.ts";
import { type ExplainedPayout, explainPayouts } from "./read-payouts.ts";
import { findHold } from "./rules.ts";
import { listPayoutsById } from "./store.ts";

/** Files without their lines, newest first. */
export async function listFiles(
  ctx: Pick<Context, "db">,
  {
    state,
    before,
    from = null,
    to = null,
    limit,
  }: Partial<TimeSpan> & {
    readonly state?: FileState | undefined;
    /** Only those made before this one. */
    readonly before?: string | undefined;
    readonly limit: number;
  },
): Promise<FileRow[]> {
  const filter = { state: state ?? null, before: before ?? null, from, to };
  return await listRows(ctx.db.planned, filter, limit);
}

type ShownFileLine = Omit<FileLineRow, "account_sealed"> & {
  readonly payout_ids: readonly string[];
  /** The payouts in it, down to their orders. */
  readonly payouts: readonly ExplainedPayout[];
};

/** A file with its lines and their payouts; account numbers stay sealed. */
export async function showFile(
  ctx: Pick<Context, "db">,
  fileId: string,
): Promise<FileRow & { readonly lines: readonly ShownFileLine[] }> {
  const file = await findFile(ctx.db, fileId);
  if (!file) throw noPayoutFile(fileId);
  const lines = await listFileLines(ctx.db, [fileId]);
  const items = await listFileItems(ctx.db, [fileId]);
  const explained = await explainPayouts(
    ctx.db,
    items.map(({ payout_id }) => payout_id),
  );
  const byLine = Map.groupBy(items, ({ ordinal }) => ordinal);
  return {
    ...file,
    lines: lines.map(({ account_sealed: _sealed, ...line }) => {
      const ids = (byLine.get(line.ordinal) ?? []).map(({ payout_id }) => payout_id);
      const payouts = ids.flatMap((id) => explained.get(id) ?? []);
      return { ...line, payout_ids: ids, payouts };
    }),
  };
}

export type FileBytes = {
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly sha256: string;
};

/**
 * The bytes of a file, the same at every read. They hold account numbers, so each read is audited. Once
 * a line was answered or voided, or its account may not be paid any more, the bank must not get them:
 * what is still live goes into a new file, after this one is voided.
 */
export async function readFile(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  operator: Actor,
  fileId: string,
): Promise<FileBytes> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const [file] = await lockFiles(tx, [fileId]);
    if (!file) throw noPayoutFile(fileId);
    // Whoever answers or voids a line locks its file first.
    const lines = await listFileLines(tx, [fileId]);
    refuseAnswered(file, lines);
    await refuseHeld(tx, file, { lines, now });
    const opened = lines.map((line) => ({
      ...line,
      rail: file.rail,
      account_no: openAccount(
        { firmId: line.firm_id, accountSealed: line.account_sealed },
        ctx.sealKey,
      ),
    }));
    const text = buildFileText(file.format, opened, istDay(file.made_at));
    const digest = createHash("sha256").update(text).digest();
    if (file.sha256 && !file.sha256.equals(digest)) {
      throw new Error(`the bytes of ${fileId} are not what they were`);
    }
    await setDigest(tx, fileId, digest);
    await recordChanges(tx, operator, [buildFileChange("read", file)], now);
    const name = `${file.rail}-${istDay(file.made_at)}-${fileId}.csv`;
    return { name, text, sha256: digest.toString("hex") };
  });
}

function refuseAnswered({ state }: FileRow, lines: readonly FileLineRow[]): void {
  if (state === "voided") {
    throw wrongState("the file was voided: the bank must not get it", { state });
  }
  const over = lines.filter((line) => line.state !== "live");
  if (over.length === 0) return;
  const message = `${over.length} of ${lines.length} lines were answered or voided: the bank must not get them again`;
  throw new Failure("conflict", message, {
    detail: {
      reason: "file_answered",
      state,
      lines: lines.length,
      live: lines.length - over.length,
    },
  });
}

/** A hold may have begun, or the account have changed, since the file was made. */
async function refuseHeld(
  tx: Tx,
  { environment }: FileRow,
  { lines, now }: { readonly lines: readonly FileLineRow[]; readonly now: Date },
): Promise<void> {
  const firmIds = [...new Set(lines.map(({ firm_id }) => firm_id))];
  const payees = await tx.run(findPayees(firmIds, now));
  const leads = await listPayoutsById(
    tx,
    lines.map(({ lead_id }) => lead_id),
  );
  const ledgerSound = await ledgerIsSound(tx, now);
  for (const { payout_id, firm_id, account_id } of leads) {
    const payee = payees.get(firm_id);
    if (!payee) throw new Error("who is paid is a firm");
    const isSame = payee.account !== null && payee.account.accountId === account_id;
    const hold = findHold(payee, { environment, ledgerSound })?.reason;
    const reason = hold ?? (isSame ? undefined : "account_changed");
    if (reason === undefined) continue;
    const message = `${payout_id} of ${firm_id} must not be paid now: ${reason}`;
    throw new Failure("conflict", message, { detail: { reason, payout_id, firm_id } });
  }
}

/** The sealed account numbers of file lines, for a rotation of the master key. */
export function sealedFileLines({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "payout file lines",
    list: async (after, limit) => {
      const rows = await listSealedLines(db, after, limit);
      return rows.map(({ firm_id, ...row }) => ({ ...row, purpose: toSealPurpose(firm_id) }));
    },
    set: (rows) => setSealedLines(db, rows),
  };
}
