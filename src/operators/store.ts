import type { OperatorRole } from "../kernel/actor.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  bytes,
  bytesList,
  int,
  type RowOf,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import { sealedColumn } from "../platform/sealed-column.ts";

const operators = table("operators", {
  operator_id: text(),
  name: text(),
  name_key: text(),
  role: text<OperatorRole>(),
  password_hash: text().orNull,
  totp_sealed: bytes().orNull,
  totp_step: bigint(),
  enrol_hashes: bytesList().orNull,
  enrol_until: time().orNull,
  recovery_hashes: bytesList(),
  /** Who signs in by the house's directory: that directory, and the person's id there. */
  directory_issuer: text().orNull,
  directory_subject: text().orNull,
  created_by: text(),
  created_at: time(),
  disabled_at: time().orNull,
  recovered_at: time().orNull,
  version: int(),
});
export type OperatorRow = RowOf<typeof operators>;

/** Serializes changes of people, so that "the first" and "the last admin" are certain. */
export async function lockOperators(tx: Tx): Promise<void> {
  await tx.rows(sql`select pg_advisory_xact_lock(hashtext('operators'))`);
}

export async function listOperatorRows(db: Db): Promise<OperatorRow[]> {
  return await db.rows(sql`
    select ${operators.columns}
    from operators
    order by created_at, operator_id`);
}

export const { find: findOperator, insert: insertOperator } = rowsBy(operators, {
  key: ["name_key"],
});

export async function findByDirectory(
  db: Db,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<OperatorRow | undefined> {
  const [row] = await db.rows<OperatorRow>(sql`
    select ${operators.columns}
    from operators
    where directory_issuer = ${issuer} and directory_subject = ${subject}`);
  return row;
}

export async function hasOperators(db: Db): Promise<boolean> {
  const rows = await db.rows(sql`select from operators limit 1`);
  return rows.length > 0;
}

/** All but the recovery codes, which are used while this is changed. */
export async function setOperator(tx: Tx, row: OperatorRow): Promise<void> {
  await tx.rows(sql`
    update operators
    set role = ${row.role}, password_hash = ${row.password_hash}, totp_sealed = ${row.totp_sealed},
      totp_step = ${row.totp_step}, enrol_hashes = ${row.enrol_hashes}::bytea[],
      enrol_until = ${row.enrol_until}, disabled_at = ${row.disabled_at},
      recovered_at = ${row.recovered_at}, version = ${row.version}
    where operator_id = ${row.operator_id}`);
}

/** Uses up a code; false when this step or a later one was used, or the person has changed. */
export async function useStep(
  tx: Tx,
  { operator_id, version }: Pick<OperatorRow, "operator_id" | "version">,
  step: number,
): Promise<boolean> {
  const rows = await tx.rows(sql`
    update operators
    set totp_step = ${step}
    where operator_id = ${operator_id} and version = ${version} and totp_step < ${step}
      and disabled_at is null
    returning operator_id`);
  return rows.length > 0;
}

/** Uses up a recovery code; undefined when there is none like it, otherwise how many are left. */
export async function useRecoveryCode(
  tx: Tx,
  { operator_id, version }: Pick<OperatorRow, "operator_id" | "version">,
  hash: Buffer,
): Promise<number | undefined> {
  const [row] = await tx.rows<{ readonly left: number }>(sql`
    update operators
    set recovery_hashes = array_remove(recovery_hashes, ${hash}::bytea)
    where operator_id = ${operator_id} and version = ${version} and disabled_at is null
      and ${hash}::bytea = any(recovery_hashes)
    returning cardinality(recovery_hashes) as left`);
  return row?.left;
}

export async function setRecoveryCodes(
  tx: Tx,
  operatorId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.rows(sql`
    update operators
    set recovery_hashes = ${hashes}::bytea[]
    where operator_id = ${operatorId}`);
}

type SessionRow = {
  readonly token_hash: Buffer;
  readonly operator_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  /** When the directory saw who it is; null after a password. */
  readonly proved_at: Date | null;
};

export async function insertSession(tx: Tx, row: SessionRow): Promise<void> {
  await tx.rows(sql`
    insert into operator_sessions (token_hash, operator_id, created_at, expires_at, proved_at)
    values (
      ${row.token_hash}, ${row.operator_id}, ${row.created_at}, ${row.expires_at}, ${row.proved_at}
    )`);
}

type PersonRow = Pick<OperatorRow, "operator_id" | "name" | "role"> &
  Pick<SessionRow, "token_hash" | "expires_at" | "proved_at">;

/** The person of the newest valid one of these tokens. */
export async function findPerson(
  db: Db,
  tokenHashes: readonly Buffer[],
  now: Date,
): Promise<PersonRow | undefined> {
  const [row] = await db.rows<PersonRow>(sql`
    select o.operator_id, o.name, o.role, s.token_hash, s.expires_at, s.proved_at
    from unnest(${tokenHashes}::bytea[]) as given (token_hash)
    cross join lateral (
      select token_hash, operator_id, created_at, expires_at, proved_at
      from operator_sessions
      where token_hash = given.token_hash and revoked_at is null and expires_at > ${now}
      limit 1
    ) as s
    join operators as o on o.operator_id = s.operator_id
    where o.disabled_at is null
      and (o.password_hash is not null or o.directory_subject is not null)
    order by s.created_at desc, s.token_hash
    limit 1`);
  return row;
}

export async function revokeSession(tx: Tx, tokenHash: Buffer, now: Date): Promise<void> {
  await tx.rows(sql`
    update operator_sessions
    set revoked_at = ${now}
    where token_hash = ${tokenHash} and revoked_at is null`);
}

/** Revokes the sessions of a person, but the one that is kept. */
export async function revokeSessions(
  tx: Tx,
  operatorId: string,
  { now, kept = null }: { readonly now: Date; readonly kept?: Buffer | null },
): Promise<void> {
  await tx.rows(sql`
    update operator_sessions
    set revoked_at = ${now}
    where operator_id = ${operatorId} and revoked_at is null
      and token_hash is distinct from ${kept}::bytea`);
}

/** The sealed secrets of authenticators. */
export const secretColumn = sealedColumn({
  table: "operators",
  id: "operator_id",
  sealed: "totp_sealed",
});

export type AttemptsRow = {
  readonly name_key: string;
  readonly network: string;
  readonly failures: number;
  readonly next_at: Date;
};

type AttemptsKey = { readonly nameKey: string; readonly network: string };

/** Serializes attempts at one name from one network. What was counted before `since` is forgotten. */
export async function lockAttempts(
  tx: Tx,
  { nameKey, network }: AttemptsKey,
  { now, since }: { readonly now: Date; readonly since: Date },
): Promise<AttemptsRow> {
  const [row] = await tx.rows<AttemptsRow>(sql`
    insert into operator_attempts as a (name_key, network, failures, next_at)
    values (${nameKey}, ${network}, 0, ${now})
    on conflict (name_key, network) do update
    set
      failures = case when a.next_at < ${since} then 0 else a.failures end,
      next_at = case when a.next_at < ${since} then ${now} else a.next_at end
    returning name_key, network, failures, next_at`);
  if (!row) throw new Error("a row that is inserted or updated is returned");
  return row;
}

export async function setAttempts(tx: Tx, row: AttemptsRow): Promise<void> {
  await tx.rows(sql`
    update operator_attempts
    set failures = ${row.failures}, next_at = ${row.next_at}
    where name_key = ${row.name_key} and network = ${row.network}`);
}

export async function forgetAttempts(db: Db, { nameKey, network }: AttemptsKey): Promise<void> {
  await db.rows(sql`
    delete from operator_attempts
    where name_key = ${nameKey} and network = ${network}`);
}

/** Forgets what was counted before `since`, and the oldest of more than `most` counts, some at a time. */
export async function forgetOldAttempts(
  tx: Tx,
  { since, most }: { readonly since: Date; readonly most: number },
): Promise<void> {
  await tx.rows(sql`
    with old as (
      select name_key, network
      from operator_attempts
      where next_at < greatest(
        ${since}::timestamptz,
        (select next_at from operator_attempts order by next_at desc offset ${most} limit 1)
      )
      order by next_at
      limit 1000
      for update skip locked
    )
    delete from operator_attempts as a
    using old
    where a.name_key = old.name_key and a.network = old.network`);
}
