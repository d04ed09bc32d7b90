// Exports a desk's chain as lines, from a given `seq` to the head at the time of the request, and ends
// with a signed checkpoint. A block of form 3 is exported as a whole. Records are append-only, so pages are read by `seq`, each once the reader
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
import { blockForm, type Head, startOfChain, writeCheckpoint, writeLine } from "./audit-rules.ts";
import type { ExportAuditQuery } from "./schema.ts";
import { type ChainDesk, findHead } from "./audit-store.ts";
import { type Block, readBlock, toLink, writeBlock } from "./block-rules.ts";
import { listBlocks } from "./block-store.ts";
import { type ChainedLink, findLink, listFormerLinks } from "./find-records.ts";

/** About: blocks are not divided. */
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
  desk: ChainDesk,
  after: number,
): Promise<AsyncIterable<string>> {
  const from = await findStart(ctx.db, desk, after);
  if (!from) {
    throw unprocessable({ path: "after_seq", problem: "is past the end of this desk's chain" });
  }
  const to = await findHead(ctx.db, desk);
  return streamLines(ctx, desk, { from, to });
}

/** Where an export begins that follows a record: inside a block of form 3 with that block. */
async function findStart(db: Db, desk: ChainDesk, after: number): Promise<Head | undefined> {
  if (after === 0) return startOfChain;
  const link = await findLink(db, desk, after);
  return !link || link.seq === after ? link : await findStart(db, desk, link.first_seq - 1);
}

async function* streamLines(
  { now, auditKey, heavy, onCheckpoint, ...ctx }: ExportContext,
  desk: ChainDesk,
  { from, to }: { from: Head; to: Head },
): AsyncGenerator<string> {
  let last = from;
  while (last.seq < to.seq) {
    const after = last;
    const by = { environment: desk.environment, deskId: desk.desk_id };
    const page = await heavy.inPieces(
      "audit export",
      (pace) => readAtReplica(ctx, ({ db }) => readExportPage(db, desk, { after, to, pace })),
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

type PageStart = { readonly after: Head; readonly to: Head; readonly pace: Pace };
type ExportPage = { readonly text: string; readonly last: Head };

async function readExportPage(db: Db, desk: ChainDesk, start: PageStart): Promise<ExportPage> {
  const { after, to, pace } = start;
  const range = { after: after.seq, upTo: to.seq, limit: linesPerPage };
  const links = await listFormerLinks(db, desk, range);
  if (links.length > 0) return writeLinks(links, after);
  const blocks = await listBlocks(db, desk, {
    ...range,
    upTo: Math.min(to.seq, after.seq + linesPerPage),
  });
  if (blocks.length === 0) throw new Error(`the audit chain of ${desk.desk_id} ends early`);
  let page: ExportPage = { text: "", last: after };
  for (const block of blocks) {
    await pace.turn();
    const { text, last } = writeStored(block, page.last);
    page = { text: page.text + text, last };
  }
  return page;
}

/** The lines of a block behind a head, which may be inside a block of form 2. */
function writeStored(block: Block, after: Head): ExportPage {
  const records = readBlock(block);
  if (block.form === blockForm) {
    refuseBroken(block.first_seq, after);
    const last = { seq: block.last_seq, hash: block.hashes };
    return { text: writeBlock(block, records, after.hash).lines, last };
  }
  const following = records.filter(({ seq }) => seq > after.seq);
  const links = following.map((record) => ({ ...toLink(block, record), ...pickHead(record) }));
  return writeLinks(links, after);
}

function writeLinks(links: readonly ChainedLink[], after: Head): ExportPage {
  let last = after;
  let text = "";
  for (const link of links) {
    refuseBroken(link.seq, last);
    text += writeLine(link, last, link.hash);
    last = pickHead(link);
  }
  return { text, last };
}

function pickHead({ seq, hash }: Head): Head {
  return { seq, hash };
}

/** A chain with a gap is not signed. A changed record is exported as it is and fails verification. */
function refuseBroken(seq: number, last: Head): void {
  if (seq === last.seq + 1) return;
  throw new Error(`the audit chain is broken after ${last.seq}: run \`audit verify\``);
}
