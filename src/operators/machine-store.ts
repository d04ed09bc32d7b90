import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { MachinePermission, MachineRefusal } from "./machine-rules.ts";

export type MachineRow = {
  readonly machine_id: string;
  readonly name: string;
  readonly permissions: readonly MachinePermission[];
  readonly networks: readonly string[];
  readonly day_limit_paise: number;
  readonly token_hash: Buffer;
  readonly held_by: string;
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly disabled_at: Date | null;
  readonly last_used_at: Date | null;
  readonly refused_at: Date | null;
  readonly refused_from: string | null;
  readonly refusal: MachineRefusal | null;
  readonly told_at: Date | null;
  readonly version: number;
};

const machineColumns = fragment`
  machine_id, name, permissions, networks, day_limit_paise, token_hash, held_by, created_by, created_at,
  expires_at, disabled_at, last_used_at, refused_at, refused_from, refusal, told_at, version`;

export async function listMachineRows(db: Db): Promise<MachineRow[]> {
  return await db.rows(sql`
    select ${machineColumns}
    from machines
    order by created_at, machine_id`);
}

export async function findMachine(db: Db, name: string): Promise<MachineRow | undefined> {
  const [row] = await db.rows<MachineRow>(sql`
    select ${machineColumns}
    from machines
    where name = ${name}`);
  return row;
}

export async function findMachineByToken(
  db: Db,
  tokenHash: Buffer,
): Promise<MachineRow | undefined> {
  const [row] = await db.rows<MachineRow>(sql`
    select ${machineColumns}
    from machines
    where token_hash = ${tokenHash}`);
  return row;
}

/** A machine of the same name gets the new token, permissions, networks and limit. */
export async function putMachine(tx: Tx, row: MachineRow): Promise<void> {
  await tx.rows(sql`
    insert into machines (${machineColumns})
    values (
      ${row.machine_id}, ${row.name}, ${row.permissions}::text[], ${row.networks}::text[],
      ${row.day_limit_paise}, ${row.token_hash}, ${row.held_by}, ${row.created_by},
      ${row.created_at}, ${row.expires_at}, ${row.disabled_at}, ${row.last_used_at},
      ${row.refused_at}, ${row.refused_from}, ${row.refusal}, ${row.told_at}, ${row.version}
    )
    on conflict (name) do update
    set permissions = excluded.permissions, networks = excluded.networks,
      day_limit_paise = excluded.day_limit_paise, token_hash = excluded.token_hash,
      held_by = excluded.held_by, created_by = excluded.created_by, created_at = excluded.created_at,
      expires_at = excluded.expires_at, disabled_at = excluded.disabled_at,
      version = excluded.version`);
}

export async function setMachineDisabled(
  tx: Tx,
  { machine_id, disabled_at, version }: MachineRow,
): Promise<void> {
  await tx.rows(sql`
    update machines
    set disabled_at = ${disabled_at}, version = ${version}
    where machine_id = ${machine_id}`);
}

/** To the minute, so that a busy machine does not write on every call. */
export async function noteUse(
  db: Db,
  { machineId, now }: { readonly machineId: string; readonly now: Date },
): Promise<void> {
  const before = new Date(now.getTime() - 60_000);
  await db.rows(sql`
    update machines
    set last_used_at = ${now}
    where machine_id = ${machineId} and (last_used_at is null or last_used_at < ${before})`);
}

export async function noteRefused(
  tx: Tx,
  {
    machine_id,
    refused_at,
    refused_from,
    refusal,
  }: Pick<MachineRow, "machine_id" | "refused_at" | "refused_from" | "refusal">,
): Promise<void> {
  await tx.rows(sql`
    update machines
    set refused_at = ${refused_at}, refused_from = ${refused_from}, refusal = ${refusal}
    where machine_id = ${machine_id}`);
}

/** True for one of several at once, and again only after a while. */
export async function claimTelling(
  tx: Tx,
  {
    machineId,
    now,
    since,
  }: { readonly machineId: string; readonly now: Date; readonly since: Date },
): Promise<boolean> {
  const rows = await tx.rows(sql`
    update machines
    set told_at = ${now}
    where machine_id = ${machineId} and (told_at is null or told_at < ${since})
    returning machine_id`);
  return rows.length > 0;
}
