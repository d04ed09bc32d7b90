// Finds events in the blocks of the journal, for the list, the stream and the webhooks.

import { exactJson } from "../kernel/json.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { blockForm, formatMicroseconds } from "./audit-rules.ts";
import type { ChainDesk } from "./audit-store.ts";
import { BrokenBlock, findTrace, readBlock } from "./block-rules.ts";
import { listBlocksWithKey } from "./block-store.ts";
import { type EventHead, readEventHead } from "./event-rules.ts";
import {
  type ClientEvents,
  countClientEvents,
  findBlockAcross,
  findSpan,
  listEventsByNumber,
  listFormerOfThing,
  listNextClientEvents,
  listNextEvents,
  type StoredEvents,
} from "./event-store.ts";

type EventNumber = { readonly desk_id: string; readonly sequence: number };
/** The bytes that everybody gets. */
type EventBody = EventNumber & {
  readonly body: string;
  /** Of the request that made it, for those who are told by POST. */
  readonly traceparent: string | null;
};
export type FoundEvent = EventHead & EventBody;
export type FindEvent = (number: EventNumber) => FoundEvent | undefined;

/**
 * A desk's events after a sequence, oldest first: all of them, or those of a client firm. Whoever lists
 * them parses what it needs.
 */
export async function listEventsAfter(
  db: Db,
  deskId: string,
  {
    firmId,
    after,
    fetch,
  }: { readonly firmId: string | null; readonly after: number; readonly fetch: number },
): Promise<readonly EventBody[]> {
  if (firmId === null) return await listBodiesOfDesks(db, [{ deskId, after }], fetch);
  if (firmId === deskId) return [];
  const stored = await listNextClientEvents(db, { deskId, firmId, after }, fetch);
  const events = await readOwn(stored, firmId);
  return events.filter(({ sequence }) => sequence > after).slice(0, fetch);
}

type DeskPlace = { readonly deskId: string; readonly after: number };

/** At most `fetch` events of each desk, after a sequence of its own. */
export async function listEventsOfDesks(
  db: Db,
  desks: readonly DeskPlace[],
  fetch: number,
): Promise<readonly FoundEvent[]> {
  return await parseHeads(await listBodiesOfDesks(db, desks, fetch));
}

async function listBodiesOfDesks(
  db: Db,
  desks: readonly DeskPlace[],
  fetch: number,
): Promise<EventBody[]> {
  const places = new Map(desks.map(({ deskId, after }) => [deskId, after]));
  const wanted = desks.map(({ deskId, after }) => ({ desk_id: deskId, after }));
  const stored = await listNextEvents(db, wanted, fetch);
  return await readStored(stored, ({ desk_id, sequence }) => {
    const after = places.get(desk_id) ?? 0;
    return sequence > after && sequence <= after + fetch;
  });
}

/** Counts the events of a client firm after a sequence. */
export async function countEventsOfFirm(db: Db, of: ClientEvents): Promise<number> {
  if (of.firmId === of.deskId) return 0;
  const across = await findBlockAcross(db, of.deskId, of.after);
  const earlier = across
    ? (await readOwn([across], of.firmId)).filter(({ sequence }) => sequence <= of.after).length
    : 0;
  return (await countClientEvents(db, of)) - earlier;
}

/**
 * Events by their numbers. One that is missing, or whose block cannot be read, is not found, so that it
 * does not hold up the others.
 */
export async function findEvents(db: Db, numbers: readonly EventNumber[]): Promise<FindEvent> {
  const name = ({ desk_id, sequence }: EventNumber) => `${desk_id} ${sequence}`;
  const wanted = new Map(numbers.map((number) => [name(number), number]));
  const stored = wanted.size > 0 ? await listEventsByNumber(db, [...wanted.values()]) : [];
  const isWanted = (number: EventNumber) => wanted.has(name(number));
  const found = await parseHeads(await readStored(stored, isWanted, unpackReadable));
  const byName = new Map(found.map((event) => [name(event), event]));
  return (number) => byName.get(name(number));
}

/** Events by their numbers, and all others of their blocks. */
async function findEventsNear(
  db: Db,
  numbers: readonly EventNumber[],
): Promise<readonly FoundEvent[]> {
  const stored = await listEventsByNumber(db, numbers);
  return await parseHeads(await readStored(stored, () => true, unpackReadable));
}

/** Which events of a desk are wanted; null for all. */
export type EventSearch = {
  readonly firmId: string | null;
  readonly event: string | null;
  readonly entityType: string | null;
  readonly entityId: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
};

type EventRange = {
  readonly after: number;
  readonly before: number;
  readonly newestFirst: boolean;
};

/** Events read by one statement: few for the first page, then more. */
const [eventsFirst, eventsMax] = [128, 2_048];

/** The wanted events between two sequences. Those of a thing are read together. */
export async function* walkEvents(
  db: Db,
  desk: ChainDesk,
  filter: EventSearch,
  { after, before, newestFirst }: EventRange,
): AsyncGenerator<FoundEvent> {
  const { first, last } = await findSpan(db, desk, filter);
  let low = Math.max(after, (first ?? 1) - 1);
  let high = Math.min(before - 1, last ?? 0);
  if (filter.entityId !== null) {
    const found = await listOfThing(db, desk, filter.entityId);
    const wanted = found.filter((one) => one.sequence > low && one.sequence <= high);
    yield* inOrder(await readWanted(wanted, filter), newestFirst);
    return;
  }
  for (let size = eventsFirst; low < high; size = Math.min(2 * size, eventsMax)) {
    const place = newestFirst ? Math.max(low, high - size) : low;
    const fetch = Math.min(size, high - place);
    const events = await listBodiesOfDesks(db, [{ deskId: desk.desk_id, after: place }], fetch);
    yield* inOrder(await readWanted(events, filter), newestFirst);
    if (newestFirst) high = place;
    else low += fetch;
  }
}

function inOrder<Item>(items: readonly Item[], newestFirst: boolean): readonly Item[] {
  return newestFirst ? items.toReversed() : items;
}

const blocksOfThing = 128;

async function listOfThing(db: Db, desk: ChainDesk, entityId: string): Promise<EventBody[]> {
  const former = await readStored(await listFormerOfThing(db, desk.desk_id, entityId), () => true);
  const later: EventBody[][] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const blocks = await listBlocksWithKey(db, desk, entityId, { before, limit: blocksOfThing });
    for (const block of blocks) {
      const events = readBlock(block).flatMap(({ event }) => event ?? []);
      const { desk_id } = desk;
      later.push(
        events.map(({ sequence, body }) => ({ desk_id, sequence, body, traceparent: null })),
      );
      before = block.first_seq;
    }
    if (blocks.length < blocksOfThing) return [...former, ...later.toReversed().flat()];
  }
}

/** Only events whose text has what is wanted are parsed; most have not. */
async function readWanted(
  events: readonly EventBody[],
  { firmId, event, entityType, entityId, from, to }: EventSearch,
): Promise<FoundEvent[]> {
  const names = [firmId, event, entityType, entityId]
    .filter((name) => name !== null)
    .map((name) => exactJson(name));
  const likely = events.filter(({ body }) => names.every((name) => body.includes(name)));
  return (await parseHeads(likely)).filter(
    (found) =>
      (firmId === null || found.firm_id === firmId) &&
      (event === null || found.event === event) &&
      (entityType === null || found.entity_type === entityType) &&
      (entityId === null || found.entity_id === entityId) &&
      (from === null || new Date(found.created_at) >= from) &&
      (to === null || new Date(found.created_at) < to),
  );
}

/** Those of one firm. Only events whose text names it are parsed. */
async function readOwn(stored: readonly StoredEvents[], firmId: string): Promise<FoundEvent[]> {
  const name = exactJson(firmId);
  const events = await parseHeads(await readStored(stored, ({ body }) => body.includes(name)));
  return events.filter(({ firm_id }) => firm_id === firmId);
}

/** Short: a caller may ask for a thousand events, and others wait for each piece. */
export const listPieceMs = 2;

async function parseHeads(events: readonly EventBody[]): Promise<FoundEvent[]> {
  return await mapPaced(
    events,
    (event) => ({ ...readEventHead(event.body), ...event }),
    openPace(),
  );
}

async function readStored(
  stored: readonly StoredEvents[],
  isWanted: (event: EventBody) => boolean,
  unpack = unpackStored,
): Promise<EventBody[]> {
  const pace = openPace({ pieceMs: listPieceMs });
  // The database may answer many long lists in one turn of the loop.
  if (stored.length > 1) await pace.turn();
  const parts = await mapPaced(
    stored,
    (one) =>
      unpack(one)
        .map((event) => ({ ...event, desk_id: one.desk_id }))
        .filter(isWanted),
    pace,
  );
  return parts.flat();
}

type StoredEvent = Omit<EventBody, "desk_id">;

function unpackReadable(stored: StoredEvents): StoredEvent[] {
  try {
    return unpackStored(stored);
  } catch (error) {
    if (error instanceof BrokenBlock) return [];
    throw error;
  }
}

function unpackStored(stored: StoredEvents): StoredEvent[] {
  const { packed, body, first_sequence: sequence, environment, at, traces, ...others } = stored;
  if (!packed || !environment || !at) {
    return body === null ? [] : [{ sequence, body, traceparent: null }];
  }
  const block = { ...others, packed, first_sequence: sequence, environment };
  // Whoever reads events has no need of hashes.
  const events = { ...block, at_text: formatMicroseconds(at), form: blockForm, hashes: "" };
  return readBlock(events)
    .flatMap(({ event }) => event ?? [])
    .map((event, place) => ({ ...event, traceparent: findTrace(traces, place) }));
}

/**
 * Finds events by their numbers, and keeps those that it read last and their neighbours. An event never
 * changes, and what is sent next is mostly beside what was sent before, or the same for another receiver.
 */
export function keepRecentEvents(
  most: number,
): (db: Db, numbers: readonly EventNumber[]) => Promise<FindEvent> {
  const kept = new Map<string, FoundEvent>();
  const name = ({ desk_id, sequence }: EventNumber) => `${desk_id} ${sequence}`;

  function keep(events: readonly FoundEvent[]): void {
    for (const event of events) kept.set(name(event), event);
    // A map keeps its order, so the first ones were read longest ago.
    for (const oldest of kept.keys()) {
      if (kept.size <= most) return;
      kept.delete(oldest);
    }
  }

  return async (db, numbers) => {
    const known = new Map<string, FoundEvent>();
    const missing = new Map<string, EventNumber>();
    for (const number of numbers) {
      const event = kept.get(name(number));
      if (event) known.set(name(number), event);
      else missing.set(name(number), number);
    }
    if (missing.size > 0) {
      const found = await findEventsNear(db, [...missing.values()]);
      for (const event of found) known.set(name(event), event);
      keep(found);
    }
    return (number) => known.get(name(number));
  };
}
