// Finds records in the blocks of the journal, and in the table of before: on each desk its numbers come
// first.

import { exactJson } from "../kernel/json.ts";
import { openPace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  type AuditRecord,
  blockForm,
  type Head,
  type Link,
  readRecord,
  writeRecord,
} from "./audit-rules.ts";
import type { ChainDesk } from "./audit-store.ts";
import { hashEvent, hasText, readBlock } from "./block-rules.ts";
import {
  countInBlocks,
  type DatedBlock,
  findLinkInBlock,
  listBlocksWithKey,
  listMatchingBlocks,
  type TrailFilter,
} from "./block-store.ts";
import {
  countFormerTrail,
  findFormerLink,
  listFormerRecords,
  listFormerTrail,
} from "./former-store.ts";

/** A record with its place, as a line is made of it. */
export type ChainedLink = Link & Head;

type Range = { readonly after: number; readonly upTo: number; readonly limit: number };

/** Of the records of before. */
export async function listFormerLinks(
  db: Db,
  desk: ChainDesk,
  range: Range,
): Promise<ChainedLink[]> {
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

/** Where a chain stands at a record; a block of form 3 is one link. */
export async function findLink(
  db: Db,
  desk: ChainDesk,
  seq: number,
): Promise<(Head & { readonly first_seq: number }) | undefined> {
  const inBlock = await findLinkInBlock(db, desk, seq);
  if (inBlock) return inBlock;
  const former = await findFormerLink(db, desk, seq);
  return former && { ...former, first_seq: seq };
}

/** A record of any form, as the trail shows it. */
export type TrailRow = Omit<AuditRecord, "at_text"> &
  Head & {
    readonly at: Date;
    readonly event_hash: string | null;
    /** The records that are hashed with it; null where each has a hash. */
    readonly block: { readonly first_seq: number; readonly last_seq: number } | null;
  };

/** Blocks read by one statement: few for the first page of a long block, then more. */
const [blocksFirst, blocksMax] = [4, 128];

/** Newest first, before a given `seq`. */
export async function listTrail(
  db: Db,
  desk: ChainDesk,
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
  const former = await listFormerTrail(db, desk, filter, rest);
  return [
    ...rows,
    ...former.map(({ at_text: _text, ...row }) => ({ ...row, event_hash: null, block: null })),
  ];
}

/** Without an entity the blocks' summaries say it; those of an entity are read. */
export async function countTrail(db: Db, desk: ChainDesk, filter: TrailFilter): Promise<number> {
  let total = await countFormerTrail(db, desk, filter);
  if (filter.entityId === null) return total + (await countInBlocks(db, desk, filter));
  const rows = walkMatching(db, desk, filter, Number.MAX_SAFE_INTEGER);
  while (!(await rows.next()).done) total += 1;
  return total;
}

/** The records of a filter in blocks, newest first. */
async function* walkMatching(
  db: Db,
  desk: ChainDesk,
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
  const { environment, desk_id, at, form, first_seq, last_seq } = block;
  const hashedWith = form === blockForm ? { first_seq, last_seq } : null;
  const { entityId, entityType, actor, action } = filter;
  const wanted = [entityId, entityType, actor, action]
    .filter((name) => name !== null)
    .map((name) => exactJson(name));
  // The key of a thing finds blocks of other things too.
  if (entityId !== null && !hasText(block, exactJson(entityId))) return [];
  return readBlock(block)
    .filter(({ text }) => wanted.every((name) => text.includes(name)))
    .map(({ seq, hash, text, event }) => {
      const record = { environment, desk_id, seq, hash, ...readRecord(text), at };
      return { ...record, event_hash: hashEvent(form, event), block: hashedWith };
    })
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
