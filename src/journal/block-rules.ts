// A block: the records that one set of changes makes on one desk, in one row.
//
//   packed      two lines for each record, compressed: its text, and the event's body without the digits
//               of its sequence, or nothing. No number is inside, so a block is packed before the desk
//               is locked.
//   hashes      in form 3 the hash of the block; in form 2 32 bytes for each record
//   numbers     the first and last `seq`, and the first and last sequence of the events
//   entities    where to look for a thing: see `entityKey`
//   summary     how many records there are of each action, kind of thing and actor
//
// `readBlock` puts texts and numbers together again, byte for byte. A body that the law had erased has
// left its hash in its line: the chain is proved as before, and readers get an event without data.

import { hash as digest } from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

import { exactJson } from "../kernel/json.ts";
import type { Environment } from "../kernel/caller.ts";
import {
  blockForm,
  hashPart,
  type Head,
  headerPart,
  type Link,
  readRecord,
} from "./audit-rules.ts";
import { type EventText, joinEvent, splitEvent, writeErased } from "./event-rules.ts";

/** More records are several blocks: who reads one record unpacks its whole block. */
export const recordsPerBlockMax = 256;

const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Of one action, kind of thing and actor, how many. */
export type SummaryLine = readonly [
  action: string,
  entityType: string,
  actorId: string,
  count: number,
];

/** A record before it has numbers. */
export type RecordDraft = {
  /** As `writeBlockRecord` makes it. */
  readonly text: string;
  readonly action: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly actorId: string;
  readonly event: (EventText & { readonly firmId: string }) | null;
  /** Of the request that made it. */
  readonly traceparent: string | null;
};

export type BlockDraft = {
  readonly records: readonly RecordDraft[];
  /** How many of them have an event. */
  readonly events: number;
  readonly at_text: string;
  readonly packed: Buffer;
  readonly contentHash: string;
  readonly entities: readonly number[];
  readonly summary: readonly SummaryLine[];
  readonly traces: readonly TraceFrom[] | null;
};

/** The trace of the events from this place among a block's events on, up to the next. */
export type TraceFrom = readonly [place: number, traceparent: string | null];

export type Block = {
  readonly environment: Environment;
  readonly desk_id: string;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly first_sequence: number | null;
  readonly last_sequence: number | null;
  readonly form: number;
  readonly packed: Buffer;
  /** In hexadecimal digits: of form 3 the hash of the block, of form 2 that of each record. */
  readonly hashes: string;
  /** As it is hashed. */
  readonly at_text: string;
};

/** Packs and hashes records of one time, in their order, in as few blocks as hold them. */
export function packRecords(records: readonly RecordDraft[], at_text: string): BlockDraft[] {
  const blocks: BlockDraft[] = [];
  for (let from = 0; from < records.length; from += recordsPerBlockMax) {
    const part = records.slice(from, from + recordsPerBlockMax);
    blocks.push({
      records: part,
      events: part.filter(({ event }) => event !== null).length,
      at_text,
      ...packTexts(part),
      entities: listEntityKeys(part),
      summary: summarise(part),
      traces: listTraces(part),
    });
  }
  return blocks;
}

function packTexts(records: readonly RecordDraft[]) {
  let lines = "";
  let content = "";
  for (const { text, event } of records) {
    const line = event ? `${event.head}${event.tail}` : "";
    lines += `${text}\n${line}\n`;
    content += contentLine(text, event && hashPart(line));
  }
  return { packed: compress(lines), contentHash: hashPart(content) };
}

/** Outside of what is packed and hashed: a trace proves nothing. */
function listTraces(records: readonly RecordDraft[]): readonly TraceFrom[] | null {
  const traces: TraceFrom[] = [];
  let last: string | null = null;
  let place = 0;
  for (const { event, traceparent } of records) {
    if (!event) continue;
    if (traceparent !== last) traces.push([place, traceparent]);
    last = traceparent;
    place += 1;
  }
  return traces.length > 0 ? traces : null;
}

export function findTrace(traces: readonly TraceFrom[] | null, place: number): string | null {
  return traces?.findLast(([from]) => from <= place)?.[1] ?? null;
}

export function compress(lines: string): Buffer {
  return zstdCompressSync(lines, compression);
}

function listEntityKeys(records: readonly Pick<RecordDraft, "entityId">[]): number[] {
  return [...new Set(records.map(({ entityId }) => entityKey(entityId)))].toSorted((a, b) => a - b);
}

const datedId = /^[a-z]{3}_(0[0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{15}$/;
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * Things that were made in one millisecond share at most 32 keys, so that a set of hundreds of new
 * things adds few keys to the index, at its end; the records found by a key are compared with the id
 * itself. An id without a time has a key of its own.
 */
export function entityKey(entityId: string): number {
  const dated = datedId.exec(entityId)?.[1];
  if (dated === undefined) return Number.parseInt(digest("sha256", entityId).slice(0, 13), 16);
  let key = 0;
  for (const digit of dated) key = key * 32 + digits.indexOf(digit);
  return key;
}

function summarise(
  records: readonly Pick<RecordDraft, "action" | "entityType" | "actorId">[],
): SummaryLine[] {
  const counts = new Map<string, [string, string, string, number]>();
  for (const { action, entityType, actorId } of records) {
    const name = `${action}\n${entityType}\n${actorId}`;
    const line = counts.get(name);
    if (line) line[3] += 1;
    else counts.set(name, [action, entityType, actorId, 1]);
  }
  return [...counts.values()];
}

/** A block behind the head of its desk's chain. */
export type ChainedBlock = Pick<Block, "first_seq" | "first_sequence" | "last_sequence"> & {
  readonly form: number;
  readonly packed: Buffer;
  readonly hash: string | null;
  readonly hashes: string | null;
  readonly head: Head;
};

export type BlockPlace = {
  readonly environment: Environment;
  readonly desk_id: string;
  /** The chain so far. */
  readonly head: Head;
  /** The number of the first event. */
  readonly next: number;
};

/** Hashes the header, and nothing else: the desk is locked. */
export function chainBlock(draft: BlockDraft, place: BlockPlace): ChainedBlock {
  const { environment, desk_id, head } = place;
  const { at_text, contentHash: content_hash, packed } = draft;
  const numbers = numberBlock(draft, place);
  const hash = hashPart(
    headerPart({ environment, desk_id, at_text, content_hash, ...numbers }, head.hash),
  );
  const end = { seq: numbers.last_seq, hash };
  return { ...numbers, form: blockForm, packed, hash, hashes: null, head: end };
}

export function numberBlock({ records, events }: BlockDraft, { head, next }: BlockPlace) {
  return {
    first_seq: head.seq + 1,
    last_seq: head.seq + records.length,
    first_sequence: events > 0 ? next : null,
    last_sequence: events > 0 ? next + events - 1 : null,
  };
}

/** A record that was read from its block; `hash` is the block's in form 3. */
export type BlockRecord = Head & {
  readonly text: string;
  /** Null without an event. */
  readonly event: BlockEvent | null;
};

type BlockEvent = {
  readonly sequence: number;
  /** With its sequence. */
  readonly body: string;
  /** The line of the block: the body without the digits of its sequence, or the hash it had. */
  readonly line: string;
};

/** A block that cannot be what was written. */
export class BrokenBlock extends Error {}

const hashDigits = 64;
const erasedLine = /^[0-9a-f]{64}$/;

export function readBlock(block: Block): BlockRecord[] {
  const lines = unpack(block).toString().split("\n");
  const count = block.last_seq - block.first_seq + 1;
  if (lines.pop() !== "" || lines.length !== 2 * count) {
    throw new BrokenBlock(`its block has ${lines.length / 2} records where ${count} belong`);
  }
  let sequence = block.first_sequence ?? 0;
  const records: BlockRecord[] = [];
  for (let place = 0; place < count; place++) {
    const text = lines[2 * place] ?? "";
    const line = lines[2 * place + 1] ?? "";
    // The hash of form 2 covers the members, without the braces around them.
    if (!text.startsWith("{") || !text.endsWith("}")) {
      throw new BrokenBlock("its block has a record that is none");
    }
    const event = line === "" ? null : readEvent(block, { text, line, sequence });
    const hash =
      block.form === blockForm
        ? block.hashes
        : block.hashes.slice(place * hashDigits, (place + 1) * hashDigits);
    records.push({ seq: block.first_seq + place, hash, text, event });
    if (event) sequence += 1;
  }
  if (sequence !== (block.last_sequence ?? -1) + 1) {
    throw new BrokenBlock("its block has another number of events");
  }
  return records;
}

function readEvent(
  { environment, desk_id, at_text }: Block,
  { text, line, sequence }: { readonly text: string; readonly line: string; sequence: number },
): BlockEvent {
  const body = erasedLine.test(line)
    ? writeErased({ ...readRecord(text), environment, desk_id, at_text }, sequence)
    : joinEvent(splitEvent(line), sequence);
  return { sequence, body, line };
}

/** Whether nothing of the event but its hash is left. */
export function isErased({ line }: BlockEvent): boolean {
  return erasedLine.test(line);
}

/** In form 3 over the line, so that it is known before the sequence; in form 2 over the body. */
export function hashEvent(form: number, event: BlockEvent | null): string | null {
  if (event === null) return null;
  if (isErased(event)) return event.line;
  return hashPart(form === blockForm ? event.line : event.body);
}

/** The lines of a block of form 3 as they are exported, and the bytes of its header that are hashed. */
export function writeBlock(block: Block, records: readonly BlockRecord[], prevHash: string) {
  let content = "";
  for (const { text, event } of records) {
    content += contentLine(text, hashEvent(blockForm, event));
  }
  const part = headerPart({ ...block, content_hash: hashPart(content) }, prevHash);
  return { part, lines: `${part},"hash":"${block.hashes}"}\n${content}` };
}

function contentLine(text: string, eventHash: string | null): string {
  return eventHash === null ? `${text}\n` : `${text.slice(0, -1)},"event_hash":"${eventHash}"}\n`;
}

/** Whether a text is anywhere in a block: much quicker than to read its records. */
export function hasText(block: Pick<Block, "packed">, text: string): boolean {
  return unpack(block).includes(text);
}

function unpack({ packed }: Pick<Block, "packed">): Buffer {
  try {
    return zstdDecompressSync(packed);
  } catch {
    throw new BrokenBlock("its block cannot be unpacked");
  }
}

/** The link of a record that was read from a block of form 2. */
export function toLink(block: Block, { text, event }: BlockRecord): Link {
  const { environment, desk_id, form } = block;
  return { environment, desk_id, form, text, event_hash: hashEvent(form, event) };
}

/** Whether a block is found by what its records are about. */
export function isFoundRight(
  records: readonly BlockRecord[],
  index: { readonly entities: readonly number[]; readonly summary: readonly SummaryLine[] },
): boolean {
  const drafts = records.map(({ text }) => {
    const {
      action,
      entity_type: entityType,
      entity_id: entityId,
      actor_id: actorId,
    } = readRecord(text);
    return { action, entityType, entityId, actorId };
  });
  const summary = summarise(drafts);
  return (
    exactJson(listEntityKeys(drafts)) === exactJson(index.entities) &&
    exactJson(summary) === exactJson(index.summary)
  );
}
