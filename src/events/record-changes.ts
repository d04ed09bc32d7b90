import { chainRecords, makeRecords } from "../audit/record-audit.ts";
import { type Actor, asSeenBy, type Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import type { Tx } from "../platform/postgres.ts";
import { eventBody, eventsTopic } from "./rules.ts";
import { type EventRow, insertEvents, takeSequences } from "./store.ts";

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
  return await recordAttributed(
    tx,
    changes.map((change) => ({ actor, change })),
    now,
  );
}

/** A change and who made it. */
export type Attributed = { readonly actor: Actor; readonly change: Change };

/**
 * The same for a set that several made, as orders of many callers travel together. What else the
 * transaction is storing may still be under way: it is waited for before anything of a desk is locked,
 * because whoever else writes on that desk waits from then on.
 */
export async function recordAttributed(
  tx: Tx,
  made: readonly Attributed[],
  now: Date,
  storing: readonly Promise<unknown>[] = [],
): Promise<readonly EventRow[]> {
  const changes = made.map(({ actor, change }) => ({
    actor: asSeenBy(actor, change.deskId),
    change,
  }));
  const records = makeRecords(changes, now);
  await Promise.all(storing);
  const [, events] = await Promise.all([chainRecords(tx, records, now), tell(tx, changes, now)]);
  return events;
}

/** Events for those of the changes that others are told of. */
async function tell(
  tx: Tx,
  changes: readonly Attributed[],
  now: Date,
): Promise<readonly EventRow[]> {
  const told = changes.filter(({ change }) => change.event !== undefined);
  if (told.length === 0) return [];
  const next = await firstSequences(
    tx,
    told.map(({ change }) => change),
  );
  const rows = told.map(({ actor, change }): EventRow => {
    const event = change.event;
    if (!event) throw new Error("only changes with an event are told");
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

/** The first free number of every desk that is told something. */
async function firstSequences(tx: Tx, told: readonly Change[]): Promise<Map<string, number>> {
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
