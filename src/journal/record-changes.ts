// Who changed what, in the transaction of the change. A record is made in two steps, so that what the
// transaction stores can be on its way meanwhile:
//
//   make     the record, with digests of the thing before and after; needs no database
//   chain    lock the ends of the desks' chains, give each record its place there with the hash of
//            all up to it, and move the ends; whoever else adds to one of them waits for the commit

import { hash } from "node:crypto";

import { type Actor, asSeenBy, type Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type AuditRecord, formatMicroseconds, linkAfter, startOfChain } from "./audit-rules.ts";
import { type Desk, insertRecords, lockHeads, setHeads } from "./audit-store.ts";
import { eventBody, eventsTopic } from "./event-rules.ts";
import { type EventRow, insertEvents, takeSequences } from "./event-store.ts";

/**
 * What happened and what is told about it commit together; the answer is what is told. This is the
 * last step of a use case's transaction: from here to the commit, other writers of the same desk wait
 * for its sequence.
 */
export async function recordChanges(
  tx: Tx,
  actor: Actor,
  changes: readonly Change[],
  now: Date,
): Promise<readonly EventRow[]> {
  return await recordAttributedChanges(
    tx,
    changes.map((change) => ({ actor, change })),
    now,
  );
}

export type AttributedChange = { readonly actor: Actor; readonly change: Change };

/**
 * The same for a set that several made, as orders of many callers travel together. What else the
 * transaction is storing may still be under way: it is waited for before anything of a desk is locked,
 * because whoever else writes on that desk waits from then on.
 */
export async function recordAttributedChanges(
  tx: Tx,
  made: readonly AttributedChange[],
  now: Date,
  storing: readonly Promise<unknown>[] = [],
): Promise<readonly EventRow[]> {
  const changes = made.map(({ actor, change }) => ({
    actor: asSeenBy(actor, change.deskId),
    change,
  }));
  const records = buildRecords(changes, now);
  await Promise.all(storing);
  const [, events] = await Promise.all([
    chainRecords(tx, records, now),
    storeEvents(tx, changes, now),
  ]);
  return events;
}

/** Stores the events of the changes that have one. */
async function storeEvents(
  tx: Tx,
  changes: readonly AttributedChange[],
  now: Date,
): Promise<readonly EventRow[]> {
  const told = changes.filter(({ change }) => change.event !== undefined);
  if (told.length === 0) return [];
  const next = await takeFirstSequences(
    tx,
    told.map(({ change }) => change),
  );
  const rows = told.map(({ actor, change }): EventRow => {
    const event = change.event;
    if (!event) throw new Error("a change without an event was not filtered out");
    const sequence = next.get(change.deskId) ?? 0;
    next.set(change.deskId, sequence + 1);
    const eventId = newId("evt", now);
    return {
      desk_id: change.deskId,
      sequence,
      event_id: eventId,
      environment: change.environment,
      firm_id: change.firmId,
      event: event.name,
      entity_type: change.entity.type,
      entity_id: change.entity.id,
      entity_version: change.entity.version,
      body: eventBody({ eventId, sequence, change, event, requestId: actor.requestId, now }),
    };
  });
  await insertEvents(tx, rows, now);
  tx.announce(eventsTopic);
  return rows;
}

/** Takes sequence numbers for each desk's events and answers the first of each. */
async function takeFirstSequences(tx: Tx, told: readonly Change[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { deskId } of told) counts.set(deskId, (counts.get(deskId) ?? 0) + 1);
  const taken = await takeSequences(
    tx,
    [...counts].map(([deskId, count]) => ({ deskId, count })),
  );
  return new Map(
    taken.map(({ desk_id, last_sequence }) => [
      desk_id,
      last_sequence - (counts.get(desk_id) ?? 0) + 1,
    ]),
  );
}

function buildRecords(
  changes: readonly { readonly actor: Actor; readonly change: Change }[],
  now: Date,
): readonly AuditRecord[] {
  const at_text = formatMicroseconds(now);
  return changes.map(({ actor, change }) => ({
    environment: change.environment,
    desk_id: change.deskId,
    record_id: newId("aud", now),
    at_text,
    actor_kind: actor.kind,
    actor_id: actor.id,
    request_id: actor.requestId,
    action: change.action,
    entity_type: change.entity.type,
    entity_id: change.entity.id,
    entity_version: change.entity.version,
    before_hash: change.before && hashShape(change.before),
    after_hash: change.after && hashShape(change.after),
  }));
}

function hashShape(thing: object): string {
  return hash("sha256", canonicalJson(thing));
}

/** Appends the records to the chains of their desks, in the order given. */
async function chainRecords(tx: Tx, records: readonly AuditRecord[], now: Date): Promise<void> {
  if (records.length === 0) return;
  const desks = new Map(records.map((record) => [deskKey(record), record]));
  const locked = await lockHeads(tx, [...desks.values()], startOfChain);
  const heads = new Map(locked.map((head) => [deskKey(head), head]));
  const rows = records.map((record) => {
    const head = heads.get(deskKey(record));
    if (!head) throw new Error(`the chain of ${record.desk_id} was not locked`);
    const { seq, hash: linked } = linkAfter(head, record);
    heads.set(deskKey(record), { ...head, seq, hash: linked });
    return { ...record, seq, hash: linked };
  });
  await Promise.all([insertRecords(tx, rows, now), setHeads(tx, [...heads.values()])]);
}

function deskKey({ environment, desk_id }: Desk): string {
  return `${environment} ${desk_id}`;
}
