import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";

export type EventRow = {
  readonly desk_id: string;
  readonly sequence: number;
  readonly event_id: string;
  readonly environment: Environment;
  readonly firm_id: string;
  readonly event: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly entity_version: number;
  readonly body: string;
};

/**
 * The last of the numbers taken for each desk. The desks' rows stay locked until the transaction
 * ends, in the order of their ids, so that numbers become visible in their order.
 */
export async function takeSequences(
  tx: Tx,
  wanted: readonly { readonly deskId: string; readonly count: number }[],
): Promise<{ desk_id: string; last_sequence: number }[]> {
  return await tx.rows(sql`
    insert into desk_sequences as s (desk_id, last_sequence)
    select desk_id, count
    from unnest(
      ${wanted.map(({ deskId }) => deskId)}::text[],
      ${wanted.map(({ count }) => count)}::bigint[]
    ) as w (desk_id, count)
    order by desk_id
    on conflict (desk_id) do update set last_sequence = s.last_sequence + excluded.last_sequence
    returning desk_id, last_sequence`);
}

/** Bodies travel as lines: JSON has no line break within, and nothing in them needs escaping then. */
export async function insertEvents(
  tx: Tx,
  rows: readonly EventRow[],
  createdAt: Date,
): Promise<void> {
  await tx.rows(sql`
    insert into events (
      desk_id, sequence, event_id, environment, firm_id, event, entity_type, entity_id,
      entity_version, created_at, body
    )
    select
      desk_id, sequence, event_id, environment, firm_id, event, entity_type, entity_id,
      entity_version, ${createdAt}, body
    from unnest(
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.sequence)}::bigint[],
      ${rows.map((row) => row.event_id)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.firm_id)}::text[],
      ${rows.map((row) => row.event)}::text[],
      ${rows.map((row) => row.entity_type)}::text[],
      ${rows.map((row) => row.entity_id)}::text[],
      ${rows.map((row) => row.entity_version)}::int[],
      string_to_array(${rows.map((row) => row.body).join("\n")}, E'\\n')
    ) as r (
      desk_id, sequence, event_id, environment, firm_id, event, entity_type, entity_id,
      entity_version, body
    )`);
}

/** In the order of their sequence: all of a desk's, or those of a client firm, which an index has apart. */
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

/** Of a client firm. */
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

/** How many events a desk has; its sequence has no gap. */
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
