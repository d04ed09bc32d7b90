// Exports a desk's chain as lines, from a given `seq` to the head at the time of the request, and ends
// with a signed checkpoint. Records are append-only, so pages are read by `seq`, each once the reader
// has taken the last. Every page waits for a turn in the heavy queue, so that many exports at once
// load the database no more than a few.

import type { Caller } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Pace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { type Head, startOfChain, writeCheckpoint, writeLine } from "./audit-rules.ts";
import type { ExportAuditQuery } from "./schema.ts";
import { type Desk, findHead } from "./audit-store.ts";
import { findLink, listLinks } from "./find-records.ts";

const linesPerPage = 250;

export type ExportContext = Pick<Context, "db" | "replica" | "now" | "auditKey" | "heavy"> & {
  /** Stores the checkpoint that the export ends with. */
  readonly onCheckpoint: (line: string) => Promise<void>;
};

/** Exports the caller's desk. */
export async function exportAudit(
  ctx: ExportContext,
  caller: Caller,
  { after_seq: after = 0 }: ExportAuditQuery,
): Promise<AsyncIterable<string>> {
  refuseSubAccount(visibleTo(caller), "read the audit trail");
  const { environment, deskId } = caller;
  return await exportDesk(ctx, { environment, desk_id: deskId }, after);
}

/** Exports any desk. A bad `after` is refused before the first line. */
export async function exportDesk(
  ctx: ExportContext,
  desk: Desk,
  after: number,
): Promise<AsyncIterable<string>> {
  const from = after === 0 ? startOfChain : await findLink(ctx.db, desk, after);
  if (!from) {
    throw unprocessable({ path: "after_seq", problem: "is past the end of this desk's chain" });
  }
  const to = await findHead(ctx.db, desk);
  return streamLines(ctx, desk, { from, to });
}

async function* streamLines(
  { now, auditKey, heavy, onCheckpoint, ...ctx }: ExportContext,
  desk: Desk,
  { from, to }: { from: Head; to: Head },
): AsyncGenerator<string> {
  let last = from;
  while (last.seq < to.seq) {
    const after = last;
    const by = { environment: desk.environment, deskId: desk.desk_id };
    const page = await heavy.inPieces(
      "audit export",
      (pace) => readAtReplica(ctx, ({ db }) => readPage(db, desk, { after, to, pace })),
      { by },
    );
    last = page.last;
    yield page.text;
  }
  const line = writeCheckpoint(
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
  const rows = await listLinks(db, desk, page, pace);
  if (rows.length === 0) throw new Error(`the audit chain of ${desk.desk_id} ends early`);
  let last = after;
  let text = "";
  for (const row of rows) {
    refuseBroken(row, last);
    text += writeLine(row, last, row.hash);
    last = { seq: row.seq, hash: row.hash };
    if (pace.isOver()) await pace.turn();
  }
  return { text, last };
}

/** A chain with a gap is not signed. A changed record is exported as it is and fails verification. */
function refuseBroken(row: Head, last: Head): void {
  if (row.seq === last.seq + 1) return;
  throw new Error(`the audit chain is broken after ${last.seq}: run \`audit verify\``);
}
