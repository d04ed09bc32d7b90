// Finds records in the blocks of the journal, and in the table of before: on each desk its numbers come
// first.

import { exactJson } from "../kernel/json.ts";
import { openPace, type Pace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { type Head, type Link, readRecord, writeRecord } from "./audit-rules.ts";
import type { Desk } from "./audit-store.ts";
import { hasText, readBlock, toLink } from "./block-rules.ts";
import {
  countInBlocks,
  type DatedBlock,
  findLinkInBlock,
  listBlocks,
  listBlocksWithKey,
  listMatchingBlocks,
  type TrailFilter,
} from "./block-store.ts";
import {
  countFormerTrail,
  findFormerLink,
  listFormerRecords,
  listFormerTrail,
  type TrailRow,
} from "./former-store.ts";

/** A record with its place, as a line is made of it. */
export type ChainedLink = Link & Head;

type Range = { readonly after: number; readonly upTo: number; readonly limit: number };

/** By `seq`, after one number and up to another. */
export async function listLinks(
  db: Db,
  desk: Desk,
  range: Range,
  pace: Pace,
): Promise<ChainedLink[]> {
  const former = await listFormerLinks(db, desk, range);
  if (former.length > 0) return former;
  const { after, upTo, limit } = range;
  const blocks = await listBlocks(db, desk, { after, upTo: Math.min(upTo, after + limit), limit });
  await pace.turn();
  const links: ChainedLink[] = [];
  for (const block of blocks) {
    for (const record of readBlock(block)) {
      const { seq, hash } = record;
      if (seq <= after || seq > upTo || links.length === limit) continue;
      links.push({ ...toLink(block, record), seq, hash });
      if (pace.isOver()) await pace.turn();
    }
  }
  return links;
}

/** Of the records of before. */
export async function listFormerLinks(db: Db, desk: Desk, range: Range): Promise<ChainedLink[]> {
  const rows = await listFormerRecords(db, desk, range);
  return rows.map(({ form, seq, hash, ...record }) => ({
    ...desk,
    form,
    text: writeRecord(record),
    event_hash: null,
    seq,
    hash,
  }));
}

/** Where a chain stands at a record. */
export async function findLink(db: Db, desk: Desk, seq: number): Promise<Head | undefined> {
  return (await findLinkInBlock(db, desk, seq)) ?? (await findFormerLink(db, desk, seq));
}

/** Blocks read by one statement: few for the first page of a long block, then more. */
const [blocksFirst, blocksMax] = [4, 128];

/** Newest first, before a given `seq`. */
export async function listTrail(
  db: Db,
  desk: Desk,
  filter: TrailFilter,
  { before, fetch }: { readonly before: number | null; readonly fetch: number },
): Promise<TrailRow[]> {
  const place = before ?? Number.MAX_SAFE_INTEGER;
  const rows: TrailRow[] = [];
  for await (const row of walkMatching(db, desk, filter, place)) {
    rows.push(row);
    if (rows.length === fetch) return rows;
  }
  const rest = { before, fetch: fetch - rows.length };
  return [...rows, ...(await listFormerTrail(db, desk, filter, rest))];
}

/** Without an entity the blocks' summaries say it; those of an entity are read. */
export async function countTrail(db: Db, desk: Desk, filter: TrailFilter): Promise<number> {
  let total = await countFormerTrail(db, desk, filter);
  if (filter.entityId === null) return total + (await countInBlocks(db, desk, filter));
  const rows = walkMatching(db, desk, filter, Number.MAX_SAFE_INTEGER);
  while (!(await rows.next()).done) total += 1;
  return total;
}

/** The records of a filter in blocks, newest first. */
async function* walkMatching(
  db: Db,
  desk: Desk,
  filter: TrailFilter,
  place: number,
): AsyncGenerator<TrailRow> {
  const pace = openPace();
  let before = place;
  for (let limit = blocksFirst; ; limit = Math.min(2 * limit, blocksMax)) {
    const blocks =
      filter.entityId === null
        ? await listMatchingBlocks(db, desk, filter, { before, limit })
        : await listBlocksWithKey(db, desk, filter.entityId, { before, limit });
    for (const block of blocks) {
      yield* readTrail(block, filter).filter(({ seq }) => seq < place);
      before = block.first_seq;
      if (pace.isOver()) await pace.turn();
    }
    if (blocks.length < limit) return;
  }
}

/** Only records whose text has what is wanted are parsed; most have not. */
function readTrail(block: DatedBlock, filter: TrailFilter): TrailRow[] {
  const { environment, desk_id, at } = block;
  const { entityId, entityType, actor, action } = filter;
  const wanted = [entityId, entityType, actor, action]
    .filter((name) => name !== null)
    .map((name) => exactJson(name));
  // The key of a thing finds blocks of other things too.
  if (entityId !== null && !hasText(block, exactJson(entityId))) return [];
  return readBlock(block)
    .filter(({ text }) => wanted.every((name) => text.includes(name)))
    .map(({ seq, hash, text }) => ({ environment, desk_id, at, seq, hash, ...readRecord(text) }))
    .filter((row) => isMatching(row, filter))
    .toReversed();
}

function isMatching(row: TrailRow, filter: TrailFilter): boolean {
  const { entityType, entityId, actor, action, from, to } = filter;
  return (
    (entityType === null || row.entity_type === entityType) &&
    (entityId === null || row.entity_id === entityId) &&
    (actor === null || row.actor_id === actor) &&
    (action === null || row.action === action) &&
    (from === null || row.at >= from) &&
    (to === null || row.at < to)
  );
}
