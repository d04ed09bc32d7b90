// The sequencer's side of the trail: what has no link yet, and the links it adds.

import type { Environment } from "../kernel/caller.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres.ts";
import type { AuditRecord, Head } from "./rules.ts";

export type Position = { readonly recorded_in: string; readonly record_id: string };

export type UnchainedRow = AuditRecord & Position;

export type Desk = { readonly environment: Environment; readonly desk_id: string };

export type LinkRow = Desk &
  Position & {
    readonly seq: number;
    readonly form: number;
    readonly hash: string;
    readonly at_text: string;
    readonly entity_id: string;
  };

/** A record as it is hashed: its time is text, because a Date would lose the microseconds. */
export const recordColumns = fragment`
  r.environment, r.desk_id, r.record_id,
  to_char(r.at at time zone interval '5:30', 'YYYY-MM-DD"T"HH24:MI:SS.US"+05:30"') as at_text,
  r.actor_kind, r.actor_id, r.request_id, r.action, r.entity_type, r.entity_id, r.entity_version,
  r.before_hash, r.after_hash`;

const sequencer = fragment`pg_advisory_xact_lock(hashtext('audit sequencer'))`;
const trySequencer = fragment`pg_try_advisory_xact_lock(hashtext('audit sequencer'))`;
/**
 * The next records are read in the order of their index, however few the planner takes them for, and
 * the search of a restored database takes the time it takes.
 */
const searching = fragment`
  set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('statement_timeout', '10min', true)`;

/** Whether this transaction is the sequencer now; the others have nothing to do. */
export async function tryLockSequencer(tx: Tx): Promise<boolean> {
  const [row] = await tx.rows<{ locked: boolean }>(sql`
    select ${trySequencer} as locked, ${searching}`);
  return row?.locked ?? false;
}

/** Waits until this transaction is the sequencer. */
export async function lockSequencer(tx: Tx): Promise<void> {
  await tx.rows(sql`select ${sequencer}, ${searching}`);
}

export type Look = {
  readonly rows: readonly UnchainedRow[];
  /** Every transaction below it has ended. */
  readonly horizon: string;
  /** The cursor is ahead of all transactions: the database came from a dump, and counts anew. */
  readonly restored: boolean;
};

/**
 * The next records without a link, as one snapshot sees them. Those of a transaction that is still
 * to be waited for are looked at again, which is why each is asked for its link; asked one by one, so
 * that no plan reads the whole chain. After a dump was restored, the search begins anew, once.
 */
export async function listUnchained(tx: Tx, limit: number): Promise<Look> {
  type Found = UnchainedRow & { readonly horizon: string; readonly restored: boolean };
  const found = await tx.rows<Found>(sql`
    select look.horizon, look.restored, r.*
    from (
      select
        pg_snapshot_xmin(pg_current_snapshot()) as horizon,
        pg_snapshot_xmax(pg_current_snapshot()) as ahead,
        c.recorded_in > pg_snapshot_xmax(pg_current_snapshot()) as restored,
        c.recorded_in, c.record_id
      from audit_cursor as c
    ) as look
    left join lateral (
      select r.recorded_in, ${recordColumns}
      from audit_records as r
      where (r.recorded_in, r.record_id) > (
          case when look.restored then '0'::xid8 else look.recorded_in end,
          case when look.restored then '' else look.record_id end
        )
        and r.recorded_in
          < case when look.restored then '18446744073709551615'::xid8 else look.ahead end
        and (
          select c.seq
          from audit_chain as c
          where c.recorded_in = r.recorded_in and c.record_id = r.record_id
        ) is null
      order by r.recorded_in, r.record_id
      limit ${limit}
    ) as r on true`);
  const [first] = found;
  if (!first) throw new Error("the cursor of the audit chain is missing");
  const { horizon, restored } = first;
  const rows = first.record_id === null ? [] : found;
  return { rows, horizon, restored };
}

export async function listHeads(tx: Tx, desks: readonly Desk[]): Promise<(Desk & Head)[]> {
  return await tx.rows(sql`
    select d.environment, d.desk_id, c.seq, encode(c.hash, 'hex') as hash
    from unnest(
      ${desks.map(({ environment }) => environment)}::text[],
      ${desks.map(({ desk_id }) => desk_id)}::text[]
    ) as d (environment, desk_id)
    cross join lateral (
      select seq, hash
      from audit_chain
      where environment = d.environment and desk_id = d.desk_id
      order by seq desc
      limit 1
    ) as c`);
}

export async function insertLinks(tx: Tx, links: readonly LinkRow[]): Promise<void> {
  await tx.rows(sql`
    insert into audit_chain (
      environment, desk_id, seq, recorded_in, record_id, form, hash, at, entity_id
    )
    select
      environment, desk_id, seq, recorded_in::xid8, record_id, form, decode(hash, 'hex'), at,
      entity_id
    from unnest(
      ${links.map((link) => link.environment)}::text[],
      ${links.map((link) => link.desk_id)}::text[],
      ${links.map((link) => link.seq)}::bigint[],
      ${links.map((link) => link.recorded_in)}::text[],
      ${links.map((link) => link.record_id)}::text[],
      ${links.map((link) => link.form)}::smallint[],
      ${links.map((link) => link.hash)}::text[],
      ${links.map((link) => link.at_text)}::timestamptz[],
      ${links.map((link) => link.entity_id)}::text[]
    ) as l (environment, desk_id, seq, recorded_in, record_id, form, hash, at, entity_id)`);
}

export async function setCursor(tx: Tx, { recorded_in, record_id }: Position): Promise<void> {
  await tx.rows(sql`
    update audit_cursor
    set recorded_in = ${recorded_in}::xid8, record_id = ${record_id}`);
}

export type Backlog = { readonly unchained: number; readonly oldest_at: Date | null };

const backlogMax = 100_000;

/** What waits for the sequencer, of one desk or of all; no more than is worth counting. */
export async function findBacklog(db: Db, desk: Desk | null): Promise<Backlog> {
  const [row] = await db.rows<Backlog>(sql`
    select count(*) as unchained, min(r.at) as oldest_at
    from audit_cursor as cursor
    cross join lateral (
      select r.recorded_in, r.record_id, r.environment, r.desk_id, r.at
      from audit_records as r
      where (r.recorded_in, r.record_id) > (cursor.recorded_in, cursor.record_id)
      order by r.recorded_in, r.record_id
      limit ${backlogMax}
    ) as r
    where (${desk?.desk_id ?? null}::text is null or r.desk_id = ${desk?.desk_id ?? null})
      and (${desk?.environment ?? null}::text is null or r.environment = ${desk?.environment ?? null})
      and (
        select c.seq
        from audit_chain as c
        where c.recorded_in = r.recorded_in and c.record_id = r.record_id
      ) is null`);
  return row ?? { unchained: 0, oldest_at: null };
}
