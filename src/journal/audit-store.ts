import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { type AuditRecord, chainForm, type Head } from "./audit-rules.ts";

export type Desk = { readonly environment: Environment; readonly desk_id: string };

/** A record in its place. */
export type AuditRow = AuditRecord & Head;

/**
 * Where the chains of these desks end, from the start for a desk without a record. It stays so until
 * the transaction adds to them. In the order of the desks and in one statement, so that nobody who
 * begins a chain locks it later than others do.
 */
export async function lockHeads(
  tx: Tx,
  desks: readonly Desk[],
  start: Head,
): Promise<(Desk & Head)[]> {
  return await tx.rows(sql`
    insert into audit_heads as h (environment, desk_id, seq, hash)
    select environment, desk_id, ${start.seq}, decode(${start.hash}, 'hex')
    from unnest(
      ${desks.map(({ environment }) => environment)}::text[],
      ${desks.map(({ desk_id }) => desk_id)}::text[]
    ) as d (environment, desk_id)
    order by environment, desk_id
    on conflict (environment, desk_id) do update set seq = h.seq
    returning environment, desk_id, seq, encode(hash, 'hex') as hash`);
}

/** For heads that are locked. */
export async function setHeads(tx: Tx, heads: readonly (Desk & Head)[]): Promise<void> {
  await tx.rows(sql`
    update audit_heads as h
    set seq = n.seq, hash = decode(n.hash, 'hex')
    from unnest(
      ${heads.map(({ environment }) => environment)}::text[],
      ${heads.map(({ desk_id }) => desk_id)}::text[],
      ${heads.map(({ seq }) => seq)}::bigint[],
      ${heads.map(({ hash }) => hash)}::text[]
    ) as n (environment, desk_id, seq, hash)
    where h.environment = n.environment and h.desk_id = n.desk_id`);
}

export async function insertRecords(tx: Tx, rows: readonly AuditRow[], at: Date): Promise<void> {
  await tx.rows(sql`
    insert into audit_records (
      environment, desk_id, seq, record_id, at, actor_kind, actor_id, request_id, action,
      entity_type, entity_id, entity_version, before_hash, after_hash, form, hash
    )
    select
      environment, desk_id, seq, record_id, ${at}, actor_kind, actor_id, request_id, action,
      entity_type, entity_id, entity_version, before_hash, after_hash, ${chainForm},
      decode(hash, 'hex')
    from unnest(
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.seq)}::bigint[],
      ${rows.map((row) => row.record_id)}::text[],
      ${rows.map((row) => row.actor_kind)}::text[],
      ${rows.map((row) => row.actor_id)}::text[],
      ${rows.map((row) => row.request_id)}::text[],
      ${rows.map((row) => row.action)}::text[],
      ${rows.map((row) => row.entity_type)}::text[],
      ${rows.map((row) => row.entity_id)}::text[],
      ${rows.map((row) => row.entity_version)}::int[],
      ${rows.map((row) => row.before_hash)}::text[],
      ${rows.map((row) => row.after_hash)}::text[],
      ${rows.map((row) => row.hash)}::text[]
    ) as r (
      environment, desk_id, seq, record_id, actor_kind, actor_id, request_id, action, entity_type,
      entity_id, entity_version, before_hash, after_hash, hash
    )`);
}

type SuccessionRow = {
  readonly former_key: string;
  readonly public_key: string;
  readonly signed_by_former: string;
  readonly signed_by_new: string;
};

export async function insertSuccession(db: Db, row: SuccessionRow, now: Date): Promise<void> {
  await db.rows(sql`
    insert into audit_key_successions (
      former_key, public_key, signed_by_former, signed_by_new, at
    )
    values (
      ${row.former_key}, ${row.public_key}, ${row.signed_by_former}, ${row.signed_by_new}, ${now}
    )
    on conflict do nothing`);
}

export async function listSuccessions(db: Db): Promise<SuccessionRow[]> {
  return await db.rows(sql`
    select former_key, public_key, signed_by_former, signed_by_new
    from audit_key_successions
    order by at desc, former_key`);
}
