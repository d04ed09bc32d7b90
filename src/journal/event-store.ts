import type { Environment } from "../kernel/caller.ts";
import { command, type Db, query, type Query, sql } from "../platform/postgres/postgres.ts";
import { bigint, int, line, type RowOf, table, text, time } from "../platform/postgres/table.ts";

const events = table("events", {
  desk_id: text(),
  sequence: bigint(),
  event_id: text(),
  environment: text<Environment>(),
  firm_id: text(),
  event: text(),
  entity_type: text(),
  entity_id: text(),
  entity_version: int(),
  created_at: time(),
  body: line(),
});
export type EventRow = Omit<RowOf<typeof events>, "created_at">;

const deskSequences = table("desk_sequences", { desk_id: text(), last_sequence: bigint() });

/**
 * Takes numbers for each desk and returns the last of each. The desks' rows stay locked to the end of
 * the transaction, in the order of their ids, so that events become visible in sequence.
 */
export function takeSequences(
  counts: ReadonlyMap<string, number>,
): Query<{ desk_id: string; last_sequence: number }[]> {
  const wanted = deskSequences.values(
    { desk_id: ([deskId]) => deskId, last_sequence: ([, count]) => count },
    [...counts],
  );
  return query(sql`
    insert into desk_sequences as s ${wanted}
    order by desk_id
    on conflict (desk_id) do update set last_sequence = s.last_sequence + excluded.last_sequence
    returning desk_id, last_sequence`);
}

export function insertEvents(rows: readonly EventRow[], createdAt: Date): Query<void> {
  return command(sql`
    insert into events ${events.values(events.all, rows, { created_at: createdAt })}`);
}

/** By sequence: all events of a desk, or those of a client firm, which has an index of its own. */
export async function listEvents(
  db: Db,
  deskId: string,
  {
    firmId,
    after,
    fetch,
  }: { readonly firmId: string | null; readonly after: number; readonly fetch: number },
): Promise<{ sequence: number; event: string; body: string }[]> {
  return await db.rows(sql`
    select sequence, event, body
    from events
    where desk_id = ${deskId} and sequence > ${after}
      and (${firmId}::text is null or firm_id = ${firmId} and firm_id <> desk_id)
    order by sequence
    limit ${fetch}`);
}

/** Counts the events of a client firm. */
export async function countEventsOfFirm(
  db: Db,
  of: { readonly deskId: string; readonly firmId: string; readonly after: number },
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from events
    where desk_id = ${of.deskId} and firm_id = ${of.firmId} and firm_id <> desk_id
      and sequence > ${of.after}`);
  return row?.total ?? 0;
}

/** The sequence has no gap, so this is also the number of events. */
export async function findLastSequence(db: Db, deskId: string): Promise<number> {
  const [row] = await db.rows<{ last_sequence: number }>(sql`
    select last_sequence
    from desk_sequences
    where desk_id = ${deskId}`);
  return row?.last_sequence ?? 0;
}

export async function findLastSequences(
  db: Db,
  deskIds: readonly string[],
): Promise<{ desk_id: string; last_sequence: number }[]> {
  return await db.rows(sql`
    select desk_id, last_sequence
    from desk_sequences
    where desk_id = any(${deskIds}::text[])`);
}
