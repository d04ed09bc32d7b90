// The numbers of desks' events, and the events by number: those in blocks, and those of the former table,
// which were written before there were blocks and stay as they are. A former event is read like a
// block of one. On each desk the former numbers come first.

import type { Environment } from "../kernel/caller.ts";
import { type Db, fragment, query, type Query, sql } from "../platform/postgres/postgres.ts";
import { bigint, shape, table, text } from "../platform/postgres/table.ts";
import type { ChainDesk } from "./audit-store.ts";
import { recordsPerBlockMax, type TraceFrom } from "./block-rules.ts";

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

/** A block, or an event of the former table, which has `body` in place of `packed`. */
export type StoredEvents = {
  readonly desk_id: string;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly first_sequence: number;
  readonly last_sequence: number;
  readonly environment: Environment | null;
  readonly at: Date | null;
  readonly packed: Buffer | null;
  readonly body: string | null;
  readonly traces: readonly TraceFrom[] | null;
};

const blockColumns = fragment`
  desk_id, first_seq, last_seq, first_sequence, last_sequence, environment, at, packed,
  null::text as body, traces`;
const formerColumns = fragment`
  desk_id, 0 as first_seq, 0 as last_seq, sequence as first_sequence, sequence as last_sequence,
  null::text as environment, null::timestamptz as at, null::bytea as packed, body,
  null::jsonb as traces`;

const desksAfter = shape({ desk_id: text(), after: bigint() });

/** What holds the next `fetch` events of each desk, by sequence. */
export async function listNextEvents(
  db: Db,
  desks: readonly { readonly desk_id: string; readonly after: number }[],
  fetch: number,
): Promise<StoredEvents[]> {
  const wanted = desksAfter.rows(desksAfter.all, desks);
  return await db.rows(sql`
    select s.*
    from ${wanted} as d
    cross join lateral (
      (
        select ${blockColumns}
        from journal_blocks
        where desk_id = d.desk_id and last_sequence > d.after
          and last_sequence < d.after + ${fetch}::bigint + ${recordsPerBlockMax}::bigint
          and first_sequence <= d.after + ${fetch}::bigint
        order by last_sequence
        limit ${fetch}
      )
      union all
      (
        select ${formerColumns}
        from former_events
        where desk_id = d.desk_id and sequence > d.after
          and sequence <= d.after + ${fetch}::bigint
        order by sequence
        limit ${fetch}
      )
    ) as s
    order by s.desk_id, s.last_sequence`);
}

export type ClientEvents = {
  readonly deskId: string;
  readonly firmId: string;
  readonly after: number;
};

/**
 * What holds the next `fetch` events of a client firm, by sequence. The first block may begin before
 * them, so its events do not count.
 */
export async function listNextClientEvents(
  db: Db,
  { deskId, firmId, after }: ClientEvents,
  fetch: number,
): Promise<StoredEvents[]> {
  return await db.rows(sql`
    with next as materialized (
      select last_sequence, events
      from journal_clients
      where desk_id = ${deskId} and firm_id = ${firmId} and last_sequence > ${after}
      order by last_sequence
      limit ${fetch}::bigint + 1
    ), summed as materialized (
      select last_sequence,
        sum(events) over (order by last_sequence) - events
          - first_value(events) over (order by last_sequence) as before
      from next
    )
    select b.*
    from summed
    cross join lateral (
      select ${blockColumns}
      from journal_blocks
      where desk_id = ${deskId} and last_sequence = summed.last_sequence
      limit 1
    ) as b
    where summed.before < ${fetch}::bigint
    union all
    (
      select ${formerColumns}
      from former_events
      where desk_id = ${deskId} and firm_id = ${firmId} and firm_id <> desk_id
        and sequence > ${after}
      order by sequence
      limit ${fetch}
    )
    order by last_sequence`);
}

/** Counts the events of a client firm, those of the whole first block among them. */
export async function countClientEvents(
  db: Db,
  { deskId, firmId, after }: ClientEvents,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select
      (
        select coalesce(sum(events), 0)
        from journal_clients
        where desk_id = ${deskId} and firm_id = ${firmId} and last_sequence > ${after}
      ) + (
        select count(*)
        from former_events
        where desk_id = ${deskId} and firm_id = ${firmId} and firm_id <> desk_id
          and sequence > ${after}
      ) as total`);
  return row?.total ?? 0;
}

/** The block across a place between two events, if there is one. */
export async function findBlockAcross(
  db: Db,
  deskId: string,
  after: number,
): Promise<StoredEvents | undefined> {
  const [row] = await db.rows<StoredEvents>(sql`
    select ${blockColumns}
    from journal_blocks
    where desk_id = ${deskId} and last_sequence > ${after}
      and last_sequence < ${after}::bigint + ${recordsPerBlockMax}::bigint
      and first_sequence <= ${after}
    order by last_sequence
    limit 1`);
  return row;
}

const numbers = shape({ desk_id: text(), sequence: bigint() });

/** What holds these events, each block once. */
export async function listEventsByNumber(
  db: Db,
  events: readonly { readonly desk_id: string; readonly sequence: number }[],
): Promise<StoredEvents[]> {
  const wanted = numbers.rows(numbers.all, events);
  return await db.rows(sql`
    with wanted as materialized (
      select desk_id, sequence
      from ${wanted} as r
    ), places as materialized (
      select distinct b.desk_id, b.last_sequence
      from wanted as w
      cross join lateral (
        select desk_id, first_sequence, last_sequence
        from journal_blocks
        where desk_id = w.desk_id and last_sequence >= w.sequence
        order by last_sequence
        limit 1
      ) as b
      where b.first_sequence <= w.sequence
    )
    select b.*
    from places as p
    cross join lateral (
      select ${blockColumns}
      from journal_blocks
      where desk_id = p.desk_id and last_sequence = p.last_sequence
      limit 1
    ) as b
    union all
    select e.*
    from wanted as w
    cross join lateral (
      select ${formerColumns}
      from former_events
      where desk_id = w.desk_id and sequence = w.sequence
      limit 1
    ) as e`);
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

/** The sequences that events of a time are among; null where there are none. */
export async function findSpan(
  db: Db,
  { environment, desk_id }: ChainDesk,
  { from, to }: { readonly from: Date | null; readonly to: Date | null },
): Promise<{ readonly first: number | null; readonly last: number | null }> {
  const [row] = await db.rows<{ first: number | null; last: number | null }>(sql`
    select min(first_sequence) as first, max(last_sequence) as last
    from (
      select first_sequence, last_sequence
      from journal_blocks
      where environment = ${environment} and desk_id = ${desk_id}
        and at >= coalesce(${from}::timestamptz, '-infinity')
        and at < coalesce(${to}::timestamptz, 'infinity')
      union all
      select sequence, sequence
      from former_events
      where desk_id = ${desk_id}
        and created_at >= coalesce(${from}::timestamptz, '-infinity')
        and created_at < coalesce(${to}::timestamptz, 'infinity')
    ) as found`);
  return row ?? { first: null, last: null };
}

/** What the former table has of a thing, the oldest first. */
export async function listFormerOfThing(
  db: Db,
  deskId: string,
  entityId: string,
): Promise<StoredEvents[]> {
  return await db.rows(sql`
    select ${formerColumns}
    from former_events
    where desk_id = ${deskId} and entity_id = ${entityId}
    order by sequence`);
}
