// Reads a desk's audit records by `seq`.

import type { Environment } from "../kernel/caller.ts";
import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";
import { type Head, startOfChain } from "./audit-rules.ts";
import type { AuditRow, Desk } from "./audit-store.ts";

/** The hashed columns. The time is text, because a Date would lose the microseconds. */
const recordColumns = fragment`
  environment, desk_id, seq, record_id,
  to_char(at at time zone interval '5:30', 'YYYY-MM-DD"T"HH24:MI:SS.US"+05:30"') as at_text,
  actor_kind, actor_id, request_id, action, entity_type, entity_id, entity_version, before_hash,
  after_hash, encode(hash, 'hex') as hash`;

export type TrailRow = AuditRow & { readonly at: Date };

export type TrailFilter = {
  readonly entityType: string | null;
  readonly entityId: string | null;
  readonly actor: string | null;
  readonly action: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
};

/** Newest first, before a given `seq`. */
export async function listTrail(
  db: Db,
  { environment, desk_id }: Desk,
  { entityType, entityId, actor, action, from, to }: TrailFilter,
  { before, fetch }: { readonly before: number | null; readonly fetch: number },
): Promise<TrailRow[]> {
  return await db.rows(sql`
    select at, ${recordColumns}
    from audit_records
    where environment = ${environment} and desk_id = ${desk_id}
      and seq < ${before ?? Number.MAX_SAFE_INTEGER}
      and (${from}::timestamptz is null or at >= ${from})
      and (${to}::timestamptz is null or at < ${to})
      and (${entityType}::text is null or entity_type = ${entityType})
      and (${entityId}::text is null or entity_id = ${entityId})
      and (${actor}::text is null or actor_id = ${actor})
      and (${action}::text is null or action = ${action})
    order by audit_records.seq desc
    limit ${fetch}`);
}

export async function countTrail(
  db: Db,
  { environment, desk_id }: Desk,
  { entityType, entityId, actor, action, from, to }: TrailFilter,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from audit_records
    where environment = ${environment} and desk_id = ${desk_id}
      and (${from}::timestamptz is null or at >= ${from})
      and (${to}::timestamptz is null or at < ${to})
      and (${entityType}::text is null or entity_type = ${entityType})
      and (${entityId}::text is null or entity_id = ${entityId})
      and (${actor}::text is null or actor_id = ${actor})
      and (${action}::text is null or action = ${action})`);
  return row?.total ?? 0;
}

/** The head of a desk's chain; `startOfChain` when it has no record. */
export async function findHead(db: Db, { environment, desk_id }: Desk): Promise<Head> {
  const [row] = await db.rows<Head>(sql`
    select seq, encode(hash, 'hex') as hash
    from audit_heads
    where environment = ${environment} and desk_id = ${desk_id}`);
  return row ?? startOfChain;
}

export async function findLink(
  db: Db,
  { environment, desk_id }: Desk,
  seq: number,
): Promise<Head | undefined> {
  const [row] = await db.rows<Head>(sql`
    select seq, encode(hash, 'hex') as hash
    from audit_records
    where environment = ${environment} and desk_id = ${desk_id} and seq = ${seq}`);
  return row;
}

/** By `seq`, after one number and up to another. */
export async function listInOrder(
  db: Db,
  { environment, desk_id }: Desk,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<(AuditRow & { readonly form: number })[]> {
  return await db.rows(sql`
    select form, ${recordColumns}
    from audit_records
    where environment = ${environment} and desk_id = ${desk_id}
      and seq > ${after} and seq <= ${upTo}
    order by audit_records.seq
    limit ${limit}`);
}

/** The next desk with records or a head, by environment and id. */
export async function findNextDesk(
  db: Db,
  { environment, desk_id }: { readonly environment: Environment | ""; readonly desk_id: string },
): Promise<Desk | undefined> {
  const [row] = await db.rows<Desk>(sql`
    (
      select environment, desk_id
      from audit_records
      where (environment, desk_id) > (${environment}, ${desk_id})
      order by environment, desk_id
      limit 1
    )
    union all
    (
      select environment, desk_id
      from audit_heads
      where (environment, desk_id) > (${environment}, ${desk_id})
      order by environment, desk_id
      limit 1
    )
    order by environment, desk_id
    limit 1`);
  return row;
}
