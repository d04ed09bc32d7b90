// Audit records from before there were blocks. Their rows stay as they are, and nothing is added: the
// chain of a desk goes on in its blocks.

import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";
import type { AuditRecord, Head } from "./audit-rules.ts";
import type { ChainDesk } from "./audit-store.ts";
import type { TrailFilter } from "./block-store.ts";

/** The hashed columns. The time is text, because a Date would lose the microseconds. */
const recordColumns = fragment`
  environment, desk_id, seq, record_id,
  to_char(at at time zone interval '5:30', 'YYYY-MM-DD"T"HH24:MI:SS.US"+05:30"') as at_text,
  actor_kind, actor_id, request_id, action, entity_type, entity_id, entity_version, before_hash,
  after_hash, encode(hash, 'hex') as hash`;

/** A record with its `seq` and hash. */
type AuditRow = AuditRecord & Head;

type FormerRow = AuditRow & { readonly at: Date };

/** Newest first, before a given `seq`. */
export async function listFormerTrail(
  db: Db,
  { environment, desk_id }: ChainDesk,
  { entityType, entityId, actor, action, from, to }: TrailFilter,
  { before, fetch }: { readonly before: number | null; readonly fetch: number },
): Promise<FormerRow[]> {
  return await db.rows(sql`
    select at, ${recordColumns}
    from former_audit_records
    where environment = ${environment} and desk_id = ${desk_id}
      and seq < ${before ?? Number.MAX_SAFE_INTEGER}
      and (${from}::timestamptz is null or at >= ${from})
      and (${to}::timestamptz is null or at < ${to})
      and (${entityType}::text is null or entity_type = ${entityType})
      and (${entityId}::text is null or entity_id = ${entityId})
      and (${actor}::text is null or actor_id = ${actor})
      and (${action}::text is null or action = ${action})
    order by former_audit_records.seq desc
    limit ${fetch}`);
}

export async function countFormerTrail(
  db: Db,
  { environment, desk_id }: ChainDesk,
  { entityType, entityId, actor, action, from, to }: TrailFilter,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from former_audit_records
    where environment = ${environment} and desk_id = ${desk_id}
      and (${from}::timestamptz is null or at >= ${from})
      and (${to}::timestamptz is null or at < ${to})
      and (${entityType}::text is null or entity_type = ${entityType})
      and (${entityId}::text is null or entity_id = ${entityId})
      and (${actor}::text is null or actor_id = ${actor})
      and (${action}::text is null or action = ${action})`);
  return row?.total ?? 0;
}

export async function findFormerLink(
  db: Db,
  { environment, desk_id }: ChainDesk,
  seq: number,
): Promise<Head | undefined> {
  const [row] = await db.rows<Head>(sql`
    select seq, encode(hash, 'hex') as hash
    from former_audit_records
    where environment = ${environment} and desk_id = ${desk_id} and seq = ${seq}`);
  return row;
}

/** By `seq`, after one number and up to another. */
export async function listFormerRecords(
  db: Db,
  { environment, desk_id }: ChainDesk,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<(AuditRow & { readonly form: number })[]> {
  return await db.rows(sql`
    select form, ${recordColumns}
    from former_audit_records
    where environment = ${environment} and desk_id = ${desk_id}
      and seq > ${after} and seq <= ${upTo}
    order by former_audit_records.seq
    limit ${limit}`);
}
