// Records changes in the journal, in the transaction of the change. Each change makes one record; the
// audit trail and the events are two readings of it. Two steps:
//
//   prepare   write the records, with hashes of the entity before and after, and pack them into blocks,
//             one for each desk of the set; needs no database, so it can run while the server stores
//             the change
//   record    lock the heads of the desks' chains, take numbers, chain the records and insert the
//             blocks; other writers of the same desk wait for the commit
//
// A record says who (a key, an operator or a worker), what, when, the version, the request id, and
// digests of the thing before and after as it was shown: no personal data is copied. With it goes the
// body of the event, if others are told. The service's role can add blocks, and neither change nor
// delete them. A change without an event, such as a requirement's, is in the audit trail only.
//
//   audit-rules         which bytes are hashed          block-rules          how records are packed
//   find-events         events in blocks                find-records         records in blocks
//   export-audit        the chain, page by page         verify-chain         the database's own blocks
//   checkpoints         the signed head of each chain goes out daily and with every export
//   verify-export       a file, without a database
//   verify-checkpoints  the database against what went out

import { hash } from "node:crypto";

import { type Actor, asSeenBy, type Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import { istTimestamp } from "../kernel/time.ts";
import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import {
  formatMicroseconds,
  type Head,
  recordForm,
  startOfChain,
  writeRecord,
} from "./audit-rules.ts";
import { type Desk, lockHeads, setHeads } from "./audit-store.ts";
import { type BlockDraft, chainBlock, packRecords, type RecordDraft } from "./block-rules.ts";
import { type ClientRow, insertBlocks, insertClients, type NewBlock } from "./block-store.ts";
import { eventsTopic, writeEvent } from "./event-rules.ts";
import { takeSequences } from "./event-store.ts";

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
type PreparedDesk = Desk & { readonly blocks: readonly BlockDraft[] };

/** Hashing takes a while, so a large set prepares its records while the server stores the change. */
export function prepareRecords(
  made: readonly AttributedChange[],
  now: Date,
): readonly PreparedDesk[] {
  const times = { at_text: formatMicroseconds(now), createdAt: istTimestamp(now), now };
  const desks = new Map<string, Desk & { readonly records: RecordDraft[] }>();
  for (const { actor, change } of made) {
    const { environment, deskId: desk_id } = change;
    const name = deskKey({ environment, desk_id });
    let desk = desks.get(name);
    if (!desk) desks.set(name, (desk = { environment, desk_id, records: [] }));
    desk.records.push(draftRecord(asSeenBy(actor, desk_id), change, times));
  }
  return [...desks.values()].map(({ records, ...desk }) => ({
    ...desk,
    blocks: packRecords(records),
  }));
}

function draftRecord(
  actor: Actor,
  change: Change,
  { at_text, createdAt, now }: { at_text: string; createdAt: string; now: Date },
): RecordDraft {
  const { action, entity, before, after, event, firmId } = change;
  const { id: actorId, requestId } = actor;
  const text = writeRecord({
    record_id: newId("aud", now),
    at_text,
    actor_kind: actor.kind,
    actor_id: actorId,
    request_id: requestId,
    action,
    entity_type: entity.type,
    entity_id: entity.id,
    entity_version: entity.version,
    before_hash: before && hashShape(before),
    after_hash: after && hashShape(after),
  });
  const told = event && {
    ...writeEvent({ eventId: newId("evt", now), change, event, requestId, createdAt }),
    firmId,
  };
  const { type: entityType, id: entityId } = entity;
  return { text, action, entityType, entityId, actorId, event: told ?? null };
}

function hashShape(thing: object): string {
  return hash("sha256", canonicalJson(thing));
}

/** Everything else is stored by now: whoever else writes on one of the desks waits from here on. */
export async function recordPrepared(
  tx: Tx,
  prepared: readonly PreparedDesk[],
  now: Date,
): Promise<readonly string[]> {
  const desks = addBesides(tx, prepared, now);
  if (desks.length === 0) return [];
  const [heads, next] = await tx.pipeline([lockHeads(desks, startOfChain), takeNumbers(desks)]);
  if (next.size > 0) tx.announce(eventsTopic);
  const { blocks, clients, ends, bodies } = chainBlocks(desks, heads, next);
  await tx.pipeline([
    insertBlocks(blocks, now),
    clients.length > 0 ? insertClients(clients) : known(undefined),
    setHeads(ends),
  ]);
  return bodies;
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
  locked: readonly (Desk & Head)[],
  next: Map<string, number>,
) {
  const heads = new Map(locked.map((head) => [deskKey(head), head]));
  const blocks: NewBlock[] = [];
  const clients: ClientRow[] = [];
  const bodies: string[] = [];
  const ends = desks.map(({ environment, desk_id, blocks: drafts }) => {
    let head: Head | undefined = heads.get(deskKey({ environment, desk_id }));
    if (!head) throw new Error(`the chain of ${desk_id} was not locked`);
    for (const draft of drafts) {
      const { packed, entities, summary, events } = draft;
      const firstSequence = next.get(desk_id) ?? 0;
      const link = { environment, desk_id, form: recordForm };
      const chained = chainBlock(draft, link, { head, firstSequence });
      const last_sequence = events > 0 ? firstSequence + events - 1 : null;
      blocks.push({
        ...link,
        first_seq: head.seq + 1,
        last_seq: chained.head.seq,
        first_sequence: events > 0 ? firstSequence : null,
        last_sequence,
        entities,
        summary,
        packed,
        hash: null,
        hashes: chained.hashes,
      });
      if (last_sequence !== null) {
        next.set(desk_id, last_sequence + 1);
        for (const [firm_id, count] of countClients(draft, desk_id)) {
          clients.push({ desk_id, firm_id, last_sequence, events: count });
        }
      }
      bodies.push(...chained.bodies);
      head = chained.head;
    }
    return { environment, desk_id, seq: head.seq, hash: head.hash };
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

function deskKey({ environment, desk_id }: Desk): string {
  return `${environment} ${desk_id}`;
}
