// The readers' side of the trail: a desk's records by their place in its chain.

import type { Environment } from "../kernel/caller.ts";
import { type Db, fragment, sql } from "../platform/postgres.ts";
import { type Desk, type Position, recordColumns } from "./chain-store.ts";
import { type AuditRecord, type Head, startOfChain } from "./rules.ts";

export type TrailRow = AuditRecord & Head & { readonly at: Date };

/** The record of a link, looked up by itself whatever the statistics say. */
const recordOfLink = fragment`
  left join lateral (
    select *
    from audit_records as r
    where r.recorded_in = c.recorded_in and r.record_id = c.record_id
    limit 1
  ) as r on true`;

export type TrailFilter = {
  readonly entityType: string | null;
  readonly entityId: string | null;
  readonly actor: string | null;
  readonly action: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
};

type TrailPage = { readonly before: number | null; readonly fetch: number };

/** Newest first, before a place in the chain. */
export async function listTrail(
  db: Db,
  desk: Desk,
  filter: TrailFilter,
  page: TrailPage,
): Promise<TrailRow[]> {
  const { entityId, ...others } = filter;
  return entityId === null
    ? await listByPlace(db, desk, others, page)
    : await listByEntity(db, desk, { ...others, entityId }, page);
}

async function listByPlace(
  db: Db,
  { environment, desk_id }: Desk,
  { entityType, actor, action, from, to }: Omit<TrailFilter, "entityId">,
  { before, fetch }: TrailPage,
): Promise<TrailRow[]> {
  return await db.rows(sql`
    select c.seq, encode(c.hash, 'hex') as hash, r.at, ${recordColumns}
    from audit_chain as c
    ${recordOfLink}
    where c.environment = ${environment} and c.desk_id = ${desk_id}
      and c.seq < ${before ?? Number.MAX_SAFE_INTEGER} and r.record_id is not null
      and (${from}::timestamptz is null or c.at >= ${from})
      and (${to}::timestamptz is null or c.at < ${to})
      and (${entityType}::text is null or r.entity_type = ${entityType})
      and (${actor}::text is null or r.actor_id = ${actor})
      and (${action}::text is null or r.action = ${action})
    order by c.seq desc
    limit ${fetch}`);
}

/** A statement of its own, so that it is planned for the index by entity. */
async function listByEntity(
  db: Db,
  { environment, desk_id }: Desk,
  { entityType, entityId, actor, action, from, to }: TrailFilter,
  { before, fetch }: TrailPage,
): Promise<TrailRow[]> {
  return await db.rows(sql`
    select c.seq, encode(c.hash, 'hex') as hash, r.at, ${recordColumns}
    from audit_chain as c
    ${recordOfLink}
    where c.environment = ${environment} and c.desk_id = ${desk_id} and c.entity_id = ${entityId}
      and c.seq < ${before ?? Number.MAX_SAFE_INTEGER} and r.record_id is not null
      and (${from}::timestamptz is null or c.at >= ${from})
      and (${to}::timestamptz is null or c.at < ${to})
      and (${entityType}::text is null or r.entity_type = ${entityType})
      and (${actor}::text is null or r.actor_id = ${actor})
      and (${action}::text is null or r.action = ${action})
    order by c.seq desc
    limit ${fetch}`);
}

export async function countTrail(
  db: Db,
  { environment, desk_id }: Desk,
  filter: TrailFilter,
): Promise<number> {
  const { entityType, entityId, actor, action, from, to } = filter;
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from (
      select at, recorded_in, record_id
      from audit_chain
      where environment = ${environment} and desk_id = ${desk_id} and ${entityId}::text is null
      union all
      select at, recorded_in, record_id
      from audit_chain
      where environment = ${environment} and desk_id = ${desk_id} and entity_id = ${entityId}
    ) as c
    join audit_records as r on r.recorded_in = c.recorded_in and r.record_id = c.record_id
    where (${from}::timestamptz is null or c.at >= ${from})
      and (${to}::timestamptz is null or c.at < ${to})
      and (${entityType}::text is null or r.entity_type = ${entityType})
      and (${actor}::text is null or r.actor_id = ${actor})
      and (${action}::text is null or r.action = ${action})`);
  return row?.total ?? 0;
}

/** The last link of a desk; the start of its chain when it has none. */
export async function findHead(db: Db, { environment, desk_id }: Desk): Promise<Head> {
  const [row] = await db.rows<Head>(sql`
    select seq, encode(hash, 'hex') as hash
    from audit_chain
    where environment = ${environment} and desk_id = ${desk_id}
    order by seq desc
    limit 1`);
  return row ?? startOfChain;
}

export async function findLink(
  db: Db,
  { environment, desk_id }: Desk,
  seq: number,
): Promise<Head | undefined> {
  const [row] = await db.rows<Head>(sql`
    select seq, encode(hash, 'hex') as hash
    from audit_chain
    where environment = ${environment} and desk_id = ${desk_id} and seq = ${seq}`);
  return row;
}

/** Whether the link's own copies of its record are right; null when there is no such record. */
const copiesHold = fragment`
  c.environment = r.environment and c.desk_id = r.desk_id and c.at = r.at
  and c.entity_id = r.entity_id as copies_hold`;

/** A link with its record; the record is missing when somebody removed it. */
export type LinkedRow = Head & {
  readonly form: number;
  readonly copies_hold: boolean | null;
} & (AuditRecord | { readonly record_id: null });

/** In the order of the chain, from after one place up to another. */
export async function listLinked(
  db: Db,
  { environment, desk_id }: Desk,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<LinkedRow[]> {
  return await db.rows(sql`
    select c.seq, encode(c.hash, 'hex') as hash, c.form, ${copiesHold}, ${recordColumns}
    from audit_chain as c
    ${recordOfLink}
    where c.environment = ${environment} and c.desk_id = ${desk_id}
      and c.seq > ${after} and c.seq <= ${upTo}
    order by c.seq
    limit ${limit}`);
}

/** The next desk that has a chain, in the order of environment and id. */
export async function findNextDesk(
  db: Db,
  { environment, desk_id }: { readonly environment: Environment | ""; readonly desk_id: string },
): Promise<Desk | undefined> {
  const [row] = await db.rows<Desk>(sql`
    select environment, desk_id
    from audit_chain
    where (environment, desk_id) > (${environment}, ${desk_id})
    order by environment, desk_id
    limit 1`);
  return row;
}

export type RecordPlace = Desk &
  Position & {
    readonly chained: boolean;
    /** Whether the sequencer is past it. */
    readonly passed: boolean;
  };

/** All records, whether they are chained and whether they should be. */
export async function listPlaces(db: Db, after: Position, limit: number): Promise<RecordPlace[]> {
  return await db.rows(sql`
    select
      r.environment, r.desk_id, r.recorded_in, r.record_id,
      (
        select c.seq
        from audit_chain as c
        where c.recorded_in = r.recorded_in and c.record_id = r.record_id
      ) is not null as chained,
      (r.recorded_in, r.record_id) <= (cursor.recorded_in, cursor.record_id) as passed
    from audit_cursor as cursor
    cross join audit_records as r
    where (r.recorded_in, r.record_id) > (${after.recorded_in}::xid8, ${after.record_id})
    order by r.recorded_in, r.record_id
    limit ${limit}`);
}
