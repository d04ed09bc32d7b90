// Records changes as events and audit records, in the transaction of the change. Two steps:
//
//   prepare   build the records, with hashes of the entity before and after; needs no database, so it
//             can run while the server stores the change
//   record    lock the heads of the desks' chains, append the records, insert the events; other writers
//             of the same desk wait for the commit
//
// A record says who (a key, an operator or a worker), what, when, the version, the request id, and
// digests of the thing before and after as it was shown: no personal data is copied. The service's
// role can add events and records, and neither change nor delete them. A change without an event,
// such as a requirement's, is in the audit trail only.
//
//   audit-rules         which bytes are hashed          export-audit         the chain, page by page
//   verify-chain        the database's own records      verify-export        a file, without a database
//   checkpoints         the signed head of each chain goes out daily and with every export
//   verify-checkpoints  the database against what went out

import { hash } from "node:crypto";

import { type Actor, asSeenBy, type Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import { all, known, later, type Query, type Tx } from "../platform/postgres/postgres.ts";
import {
  formatMicroseconds,
  type AuditRecord,
  type Head,
  linkAfter,
  startOfChain,
} from "./audit-rules.ts";
import { type Desk, insertRecords, lockHeads, setHeads } from "./audit-store.ts";
import { eventBody, eventsTopic } from "./event-rules.ts";
import { type EventRow, insertEvents, takeSequences } from "./event-store.ts";

/**
 * Records changes and returns their events. The last step of a use case's transaction: from here to the
 * commit, other writers of the same desk wait for its sequence.
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

/** `recordChanges` for changes of several actors, such as a set of orders of many callers. */
export async function recordAttributedChanges(
  tx: Tx,
  made: readonly AttributedChange[],
  now: Date,
): Promise<readonly EventRow[]> {
  return await recordPrepared(tx, prepareRecords(made, now), now);
}

/** Prepared records and their changes. */
type Prepared = {
  readonly changes: readonly AttributedChange[];
  readonly records: ReturnType<typeof buildRecords>;
};

/** Hashing takes a while, so a large set prepares its records while the server stores the change. */
export function prepareRecords(made: readonly AttributedChange[], now: Date): Prepared {
  const changes = made.map(({ actor, change }) => ({
    actor: asSeenBy(actor, change.deskId),
    change,
  }));
  return { changes, records: buildRecords(changes, now) };
}

/** Everything else is stored by now: whoever else writes on one of the desks waits from here on. */
export async function recordPrepared(
  tx: Tx,
  { changes, records }: Prepared,
  now: Date,
): Promise<readonly EventRow[]> {
  const told = changes.filter(({ change }) => change.event !== undefined);
  const [heads, next] = await tx.pipeline([lockChains(records), takeNumbers(told)]);
  if (told.length > 0) tx.announce(eventsTopic);
  const [, events] = await tx.pipeline([
    chainRecords(records, heads, now),
    told.length > 0 ? later(() => storeEvents(told, next, now)) : known([]),
  ]);
  return events;
}

function storeEvents(
  told: readonly AttributedChange[],
  next: Map<string, number>,
  now: Date,
): Query<readonly EventRow[]> {
  const rows = numberEvents(told, next, now);
  return insertEvents(rows, now).map(() => rows);
}

/** Events for changes that others are told of, numbered on from the first free number of each desk. */
function numberEvents(
  told: readonly AttributedChange[],
  next: Map<string, number>,
  now: Date,
): readonly EventRow[] {
  return told.map(({ actor, change }): EventRow => {
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
}

/** The first free number of every desk that is told something. */
function takeNumbers(told: readonly AttributedChange[]): Query<Map<string, number>> {
  if (told.length === 0) return known(new Map());
  const counts = new Map<string, number>();
  for (const { change } of told) counts.set(change.deskId, (counts.get(change.deskId) ?? 0) + 1);
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

/** Where the chains of the desks of these records end; nobody else adds to them meanwhile. */
function lockChains(records: readonly AuditRecord[]): Query<readonly (Desk & Head)[]> {
  if (records.length === 0) return known([]);
  const desks = new Map(records.map((record) => [deskKey(record), record]));
  return lockHeads([...desks.values()], startOfChain);
}

/** Adds to chains that are locked: in the order given, each after the last of its desk. */
function chainRecords(
  records: readonly AuditRecord[],
  locked: readonly (Desk & Head)[],
  now: Date,
): Query<unknown> {
  if (records.length === 0) return known(undefined);
  const heads = new Map(locked.map((head) => [deskKey(head), head]));
  const rows = records.map((record) => {
    const head = heads.get(deskKey(record));
    if (!head) throw new Error(`the chain of ${record.desk_id} was not locked`);
    const { seq, hash: linked } = linkAfter(head, record);
    heads.set(deskKey(record), { ...head, seq, hash: linked });
    return { ...record, seq, hash: linked };
  });
  return all([insertRecords(rows, now), setHeads([...heads.values()])]);
}

function deskKey({ environment, desk_id }: Desk): string {
  return `${environment} ${desk_id}`;
}
