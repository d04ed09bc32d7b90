// A desk's chain as lines, from a place to where it stood when it was asked for, and a signed
// checkpoint as the last one. Records are only ever added, so the lines are read in pages by their
// place, each as the reader has taken the last. For every page an export waits for its turn among all
// that is done in pieces, so that many of them together are no more than a few.

import type { Caller } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Pace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { checkpointLine, type Head, lineOf, startOfChain } from "./audit-rules.ts";
import type { ExportAuditQuery } from "./schema.ts";
import type { AuditRow, Desk } from "./audit-store.ts";
import { findHead, findLink, listInOrder } from "./trail-store.ts";

const linesPerPage = 250;

export type Exporting = Pick<Context, "db" | "now" | "auditKey" | "heavy"> & {
  /** What becomes of the checkpoint, beside being the last line. */
  readonly onCheckpoint: (line: string) => Promise<void>;
};

/** By a key, of its desk. */
export async function exportAudit(
  ctx: Exporting,
  caller: Caller,
  { after_seq: after = 0 }: ExportAuditQuery,
): Promise<AsyncIterable<string>> {
  refuseSubAccount(visibleTo(caller), "read the audit trail");
  const { environment, deskId } = caller;
  return await exportOfDesk(ctx, { environment, desk_id: deskId }, after);
}

/** Of any desk. What cannot be exported is refused before the first line. */
export async function exportOfDesk(
  ctx: Exporting,
  desk: Desk,
  after: number,
): Promise<AsyncIterable<string>> {
  const from = after === 0 ? startOfChain : await findLink(ctx.db, desk, after);
  if (!from) {
    throw unprocessable({ path: "after_seq", problem: "is past the end of this desk's chain" });
  }
  const to = await findHead(ctx.db, desk);
  return linesOf(ctx, desk, { from, to });
}

async function* linesOf(
  { db, now, auditKey, heavy, onCheckpoint }: Exporting,
  desk: Desk,
  { from, to }: { from: Head; to: Head },
): AsyncGenerator<string> {
  let last = from;
  while (last.seq < to.seq) {
    const after = last;
    const by = { environment: desk.environment, deskId: desk.desk_id };
    const page = await heavy.inPieces(
      "audit export",
      (pace) => readPage(db, desk, { after, to, pace }),
      { by },
    );
    last = page.last;
    yield page.text;
  }
  const line = checkpointLine(
    {
      ...desk,
      count: to.seq - from.seq,
      first_seq: from.seq + 1,
      last_seq: to.seq,
      prev_hash: from.hash,
      head_hash: to.hash,
      at: istTimestamp(now()),
    },
    auditKey,
  );
  await onCheckpoint(line);
  yield line;
}

async function readPage(
  db: Db,
  desk: Desk,
  { after, to, pace }: { readonly after: Head; readonly to: Head; readonly pace: Pace },
) {
  const page = { after: after.seq, upTo: to.seq, limit: linesPerPage };
  const rows = await listInOrder(db, desk, page);
  await pace.turn();
  if (rows.length === 0) throw new Error(`the audit chain of ${desk.desk_id} ends early`);
  let last = after;
  let text = "";
  for (const row of rows) {
    refuseBroken(row, last);
    text += lineOf(row, last, row.hash);
    last = { seq: row.seq, hash: row.hash };
    if (pace.isOver()) await pace.turn();
  }
  return { text, last };
}

/** A chain with a hole is not signed; a record that was changed is shown as it is, and found out. */
function refuseBroken(row: AuditRow, last: Head): void {
  if (row.seq === last.seq + 1) return;
  throw new Error(`the audit chain is broken after ${last.seq}: run \`audit verify\``);
}
