import type { Environment } from "../kernel/caller.ts";
import { command, type Db, type Query, query, sql } from "../platform/postgres/postgres.ts";
import { bigint, hex, int, smallint, table, text, time } from "../platform/postgres/table.ts";
import { type AuditRecord, chainForm, type Head } from "./audit-rules.ts";

export type Desk = { readonly environment: Environment; readonly desk_id: string };

/** A record with its `seq` and hash. */
export type AuditRow = AuditRecord & Head;

const auditHeads = table("audit_heads", {
  environment: text<Environment>(),
  desk_id: text(),
  seq: bigint(),
  hash: hex(),
});

const auditRecords = table("audit_records", {
  environment: text<Environment>(),
  desk_id: text(),
  seq: bigint(),
  record_id: text(),
  at: time(),
  actor_kind: text(),
  actor_id: text(),
  request_id: text().orNull,
  action: text(),
  entity_type: text(),
  entity_id: text(),
  entity_version: int(),
  before_hash: text().orNull,
  after_hash: text().orNull,
  form: smallint(),
  hash: hex(),
});

/**
 * Locks the heads of the desks' chains until the end of the transaction; a desk without records gets
 * `start`. One statement in the order of the desks, so that new chains are locked in that order too.
 */
export function lockHeads(desks: readonly Desk[], start: Head): Query<(Desk & Head)[]> {
  return query(sql`
    insert into audit_heads as h ${auditHeads.values(["environment", "desk_id"], desks, start)}
    order by environment, desk_id
    on conflict (environment, desk_id) do update set seq = h.seq
    returning environment, desk_id, seq, encode(hash, 'hex') as hash`);
}

/** The heads must be locked. */
export function setHeads(heads: readonly (Desk & Head)[]): Query<void> {
  return command(sql`
    update audit_heads as h
    set seq = r.seq, hash = r.hash
    from ${auditHeads.rows(auditHeads.all, heads)} as r
    where h.environment = r.environment and h.desk_id = r.desk_id`);
}

export function insertRecords(rows: readonly AuditRow[], at: Date): Query<void> {
  const shared = { at, form: chainForm };
  return command(sql`
    insert into audit_records ${auditRecords.values(auditRecords.all, rows, shared)}`);
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
