import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  bytes,
  int,
  type RowOf,
  table,
  text,
  textList,
  time,
} from "../platform/postgres/table.ts";
import type { MachinePermission, MachineRefusal } from "./machine-rules.ts";

const machines = table("machines", {
  machine_id: text(),
  name: text(),
  permissions: textList<MachinePermission>(),
  networks: textList(),
  day_limit_paise: bigint(),
  token_hash: bytes(),
  held_by: text(),
  created_by: text(),
  created_at: time(),
  expires_at: time(),
  disabled_at: time().orNull,
  last_used_at: time().orNull,
  refused_at: time().orNull,
  refused_from: text().orNull,
  refusal: text<MachineRefusal>().orNull,
  told_at: time().orNull,
  version: int(),
});
export type MachineRow = RowOf<typeof machines>;

export async function listMachineRows(db: Db): Promise<MachineRow[]> {
  return await db.rows(sql`
    select ${machines.columns}
    from machines
    order by created_at, machine_id`);
}

export const { find: findMachine } = rowsBy(machines, { key: ["name"] });

export async function findMachineByToken(
  db: Db,
  tokenHash: Buffer,
): Promise<MachineRow | undefined> {
  const [row] = await db.rows<MachineRow>(sql`
    select ${machines.columns}
    from machines
    where token_hash = ${tokenHash}`);
  return row;
}

/** A machine of the same name gets the new token, permissions, networks and limit. */
export async function putMachine(tx: Tx, row: MachineRow): Promise<void> {
  await tx.rows(sql`
    insert into machines ${machines.values(machines.all, [row])}
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
