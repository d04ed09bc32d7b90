// Records changes in the journal, in the transaction of the change. Each change makes one record; the
// audit trail and the events are two readings of it. Two steps:
//
//   prepare   write the records, pack them into blocks, one for each desk of the set, and hash what is
//             in them; needs no database, so it can run while the server stores the change
//   record    lock the heads of the desks' chains, take numbers, hash the header of each block and
//             insert the blocks; other writers of the same desk wait for the commit
//
// A record says who (a key, an operator or a worker), what, when, the version and the request id. If
// others are told, the body of the event goes with it and its digest is hashed; otherwise the record has
// a digest of the thing as it was shown. No personal data is copied. The service's role can add blocks, and neither change nor
// delete them. A change without an event, such as a requirement's, is in the audit trail only.
//
//   audit-rules         which bytes are hashed          block-rules          how records are packed
//   find-events         events in blocks                find-records         records in blocks
//   export-audit        the chain, page by page         verify-chain         the database's own blocks
//   checkpoints         the signed head of each chain goes out daily and with every export
//   former-form         how blocks are written while nodes of an older version run
//   verify-export       a file, without a database
//   verify-checkpoints  the database against what went out

import { hash } from "node:crypto";

import { type Actor, asSeenBy, type Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import { istTimestamp } from "../kernel/time.ts";
import { all, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import {
  blockForm,
  formatMicroseconds,
  type Head,
  startOfChain,
  writeBlockRecord,
} from "./audit-rules.ts";
import { type ChainDesk, type LockedHead, lockHeads, setHeads } from "./audit-store.ts";
import { type BlockDraft, chainBlock, packRecords, type RecordDraft } from "./block-rules.ts";
import { type ClientRow, insertBlocks, insertClients, type NewBlock } from "./block-store.ts";
import { eventsTopic, joinEvent, writeEvent } from "./event-rules.ts";
import { takeSequences } from "./event-store.ts";
import { chainFormerBlock } from "./former-form.ts";

/**
 * Records changes and returns the bodies of their events. The last step of a use case's transaction: from here to the
 * commit, other writers of the same desk wait for its sequence.
 */
export async function recordChanges(
  tx: Tx,
  actor: Actor,
  changes: readonly Change[],
  now: Date,
): Promise<readonly string[]> {
  return await recordAttributedChanges(
    tx,
    changes.map((change) => ({ actor, change })),
    now,
  );
}

const duesWorker: Actor = { kind: "worker", id: "dues", requestId: null };
const besides = new WeakMap<Tx, AttributedChange[]>();

/**
 * Records changes of this service's own with those that the transaction records last, or else before
 * its commit: what the books set off is journaled whoever moved the money.
 */
export function recordBeside(tx: Tx, changes: readonly Change[], now: Date): void {
  const added = changes.map((change) => ({ actor: duesWorker, change }));
  besides.set(tx, [...(besides.get(tx) ?? []), ...added]);
  tx.beforeCommit(() => recordPrepared(tx, [], now));
}

export type AttributedChange = { readonly actor: Actor; readonly change: Change };

/** `recordChanges` for changes of several actors, such as a set of orders of many callers. */
export async function recordAttributedChanges(
  tx: Tx,
  made: readonly AttributedChange[],
  now: Date,
): Promise<readonly string[]> {
  return await recordPrepared(tx, prepareRecords(made, now), now);
}

/** The blocks of one desk, without numbers. */
type PreparedDesk = ChainDesk & { readonly blocks: readonly BlockDraft[] };

/** Hashing takes a while, so a large set prepares its records while the server stores the change. */
export function prepareRecords(
  made: readonly AttributedChange[],
  now: Date,
): readonly PreparedDesk[] {
  const createdAt = istTimestamp(now);
  const desks = new Map<string, ChainDesk & { readonly records: RecordDraft[] }>();
  for (const { actor, change } of made) {
    const { environment, deskId: desk_id } = change;
    const name = deskKey({ environment, desk_id });
    let desk = desks.get(name);
    if (!desk) desks.set(name, (desk = { environment, desk_id, records: [] }));
    desk.records.push(draftRecord(asSeenBy(actor, desk_id), change, { createdAt, now }));
  }
  return [...desks.values()].map(({ records, ...desk }) => ({
    ...desk,
    blocks: packRecords(records, formatMicroseconds(now)),
  }));
}

function draftRecord(
  actor: Actor,
  change: Change,
  { createdAt, now }: { createdAt: string; now: Date },
): RecordDraft {
  const { action, entity, after, event, firmId } = change;
  const { id: actorId, requestId, traceparent = null } = actor;
  const text = writeBlockRecord({
    record_id: newId("aud", now),
    actor_kind: actor.kind,
    actor_id: actorId,
    request_id: requestId,
    action,
    entity_type: entity.type,
    entity_id: entity.id,
    entity_version: entity.version,
    ...(event ? {} : { after_hash: after && hashShape(after) }),
  });
  const told = event && {
    ...writeEvent({ eventId: newId("evt", now), change, event, requestId, createdAt }),
    firmId,
  };
  const { type: entityType, id: entityId } = entity;
  return { text, action, entityType, entityId, actorId, event: told ?? null, traceparent };
}

function hashShape(thing: object): string {
  return hash("sha256", canonicalJson(thing));
}

/** Records whose desks are locked, with what they go on from. */
type HeldRecords = {
  readonly desks: readonly PreparedDesk[];
  readonly heads: readonly LockedHead[];
  readonly next: Map<string, number>;
};

/**
 * Locks the heads of the desks' chains and takes numbers. Everything else is locked by now: whoever else
 * writes on one of the desks waits from here on.
 */
export function holdHeads(
  tx: Tx,
  prepared: readonly PreparedDesk[],
  now: Date,
): Query<HeldRecords> {
  const desks = addBesides(tx, prepared, now);
  if (desks.length === 0) return known({ desks, heads: [], next: new Map() });
  return all([lockHeads(desks, startOfChain), takeNumbers(desks)]).map(([heads, next]) => ({
    desks,
    heads,
    next,
  }));
}

/** Records on desks that are locked; see `recordChanges`. */
export function recordHeld(
  tx: Tx,
  { desks, heads, next }: HeldRecords,
  now: Date,
): readonly string[] {
  if (desks.length === 0) return [];
  if (next.size > 0) tx.announce(eventsTopic);
  const { blocks, clients, ends, bodies } = chainBlocks(desks, heads, next);
  tx.defer(insertBlocks(blocks, now));
  if (clients.length > 0) tx.defer(insertClients(clients));
  tx.defer(setHeads(ends));
  return bodies;
}

async function recordPrepared(
  tx: Tx,
  prepared: readonly PreparedDesk[],
  now: Date,
): Promise<readonly string[]> {
  return recordHeld(tx, await tx.run(holdHeads(tx, prepared, now)), now);
}

function addBesides(tx: Tx, prepared: readonly PreparedDesk[], now: Date): readonly PreparedDesk[] {
  const beside = besides.get(tx);
  if (!beside) return prepared;
  besides.delete(tx);
  const desks = new Map(prepared.map((desk) => [deskKey(desk), desk]));
  for (const desk of prepareRecords(beside, now)) {
    const known = desks.get(deskKey(desk));
    desks.set(deskKey(desk), { ...desk, blocks: [...(known?.blocks ?? []), ...desk.blocks] });
  }
  return [...desks.values()];
}

/** The first free number of every desk that is told something. */
function takeNumbers(desks: readonly PreparedDesk[]): Query<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { desk_id, blocks } of desks) {
    const events = blocks.reduce((sum, block) => sum + block.events, 0);
    if (events > 0) counts.set(desk_id, (counts.get(desk_id) ?? 0) + events);
  }
  if (counts.size === 0) return known(new Map());
  return takeSequences(counts).map(
    (taken) =>
      new Map(
        taken.map(({ desk_id, last_sequence }) => [
          desk_id,
          last_sequence - (counts.get(desk_id) ?? 0) + 1,
        ]),
      ),
  );
}

/** Adds to chains that are locked: in the order given, each after the last of its desk. */
function chainBlocks(
  desks: readonly PreparedDesk[],
  locked: readonly LockedHead[],
  next: Map<string, number>,
) {
  const heads = new Map(locked.map((head) => [deskKey(head), head]));
  const blocks: NewBlock[] = [];
  const clients: ClientRow[] = [];
  const bodies: string[] = [];
  const ends = desks.map(({ environment, desk_id, blocks: drafts }) => {
    const desk = { environment, desk_id };
    const lockedHead = heads.get(deskKey(desk));
    if (!lockedHead) throw new Error(`the chain of ${desk_id} was not locked`);
    const chain = lockedHead.form === blockForm ? chainBlock : chainFormerBlock;
    let head: Head = lockedHead;
    for (const draft of drafts) {
      const { entities, summary, events, records, traces } = draft;
      const first = next.get(desk_id) ?? 0;
      const { head: end, ...chained } = chain(draft, { ...desk, head, next: first });
      blocks.push({ ...desk, ...chained, last_seq: end.seq, entities, summary, traces });
      const { last_sequence } = chained;
      if (last_sequence !== null) {
        next.set(desk_id, first + events);
        for (const [firm_id, count] of countClients(draft, desk_id)) {
          clients.push({ desk_id, firm_id, last_sequence, events: count });
        }
      }
      const told = records.flatMap(({ event }) => event ?? []);
      bodies.push(...told.map((event, place) => joinEvent(event, first + place)));
      head = end;
    }
    return { ...desk, seq: head.seq, hash: head.hash };
  });
  return { blocks, clients, ends, bodies };
}

/** How many events of a block each firm has, other than the desk itself. */
function countClients({ records }: BlockDraft, deskId: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { event } of records) {
    if (!event || event.firmId === deskId) continue;
    counts.set(event.firmId, (counts.get(event.firmId) ?? 0) + 1);
  }
  return counts;
}

function deskKey({ environment, desk_id }: ChainDesk): string {
  return `${environment} ${desk_id}`;
}
