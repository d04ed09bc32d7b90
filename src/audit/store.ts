import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { sql, type Tx } from "../platform/postgres.ts";

export type AuditRow = {
  readonly record_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly actor_kind: Actor["kind"];
  readonly actor_id: string;
  readonly request_id: string | null;
  readonly action: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly entity_version: number;
  readonly before_hash: string | null;
  readonly after_hash: string | null;
};

export async function insertAuditRecords(
  tx: Tx,
  rows: readonly AuditRow[],
  at: Date,
): Promise<void> {
  await tx.rows(sql`
    insert into audit_records (
      record_id, environment, desk_id, at, actor_kind, actor_id, request_id, action, entity_type,
      entity_id, entity_version, before_hash, after_hash
    )
    select
      record_id, environment, desk_id, ${at}, actor_kind, actor_id, request_id, action, entity_type,
      entity_id, entity_version, before_hash, after_hash
    from unnest(
      ${rows.map((row) => row.record_id)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.actor_kind)}::text[],
      ${rows.map((row) => row.actor_id)}::text[],
      ${rows.map((row) => row.request_id)}::text[],
      ${rows.map((row) => row.action)}::text[],
      ${rows.map((row) => row.entity_type)}::text[],
      ${rows.map((row) => row.entity_id)}::text[],
      ${rows.map((row) => row.entity_version)}::int[],
      ${rows.map((row) => row.before_hash)}::text[],
      ${rows.map((row) => row.after_hash)}::text[]
    ) as r (
      record_id, environment, desk_id, actor_kind, actor_id, request_id, action, entity_type,
      entity_id, entity_version, before_hash, after_hash
    )`);
}
