// Addresses, and the cursor of each desk that has some.

import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  int,
  type RowOf,
  table,
  text,
  textList,
  time,
} from "../platform/postgres/table.ts";
import type { Occasion } from "./rules.ts";

const addresses = table("notice_addresses", {
  address_id: text(),
  environment: text<Environment>(),
  /** The house's for a person. */
  desk_id: text(),
  /** The person; null for an address of a desk. */
  operator_id: text().orNull,
  /** The firm whose contact it is; null for an address of a desk or a person. */
  firm_id: text().orNull,
  email: text(),
  opted_out: textList<Occasion>(),
  after_sequence: bigint(),
  removed_at: time().orNull,
  created_by: text(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type AddressRow = RowOf<typeof addresses>;

const addressColumns = addresses.columns;

/**
 * Makes the cursor of a desk at its last event; one that is there stays, and is locked. Returns the
 * number of the desk's last event.
 */
export async function openCursor(tx: Tx, deskId: string): Promise<number> {
  const [row] = await tx.rows<{ last_sequence: number }>(sql`
    with last as (
      select coalesce(
        (select last_sequence from desk_sequences where desk_id = ${deskId}), 0
      ) as last_sequence
    )
    insert into notice_cursors as c (desk_id, told_sequence)
    select ${deskId}, last_sequence
    from last
    on conflict (desk_id) do update set told_sequence = c.told_sequence
    returning (select last_sequence from last) as last_sequence`);
  return row?.last_sequence ?? 0;
}

export async function lockCursor(tx: Tx, deskId: string): Promise<void> {
  await tx.rows(sql`
    select from notice_cursors
    where desk_id = ${deskId}
    for update`);
}

/** Deletes the cursor of a desk without addresses, so that an address to come begins at that time. */
export async function closeCursor(tx: Tx, deskId: string): Promise<void> {
  await tx.rows(sql`
    delete from notice_cursors
    where desk_id = ${deskId} and not exists (
      select from notice_addresses as a
      where a.desk_id = ${deskId} and a.removed_at is null
    )`);
}

/** The address of an owner with this email, also a removed one. The desk's cursor is locked. */
export async function findByEmail(
  tx: Tx,
  {
    desk_id,
    operator_id,
    firm_id,
    email,
  }: Pick<AddressRow, "desk_id" | "operator_id" | "firm_id" | "email">,
): Promise<AddressRow | undefined> {
  const [row] = await tx.rows<AddressRow>(sql`
    select ${addressColumns}
    from notice_addresses
    where desk_id = ${desk_id} and operator_id is not distinct from ${operator_id}
      and firm_id is not distinct from ${firm_id} and email = ${email}`);
  return row;
}

export async function countAddresses(
  tx: Tx,
  { desk_id, operator_id }: Pick<AddressRow, "desk_id" | "operator_id">,
): Promise<number> {
  const [row] = await tx.rows<{ count: number }>(sql`
    select count(*)::int as count
    from notice_addresses
    where desk_id = ${desk_id} and operator_id is not distinct from ${operator_id}
      and firm_id is null and removed_at is null`);
  return row?.count ?? 0;
}

export const {
  insert: insertAddress,
  find: findAddress,
  lock: lockAddress,
} = rowsBy(addresses, { key: ["address_id"] });

/** The row is locked. */
export async function setAddress(tx: Tx, row: AddressRow): Promise<void> {
  await tx.rows(sql`
    update notice_addresses
    set opted_out = ${row.opted_out}::text[], after_sequence = ${row.after_sequence},
      removed_at = ${row.removed_at}, version = ${row.version}, updated_at = ${row.updated_at}
    where address_id = ${row.address_id}`);
}

/** The addresses of these desks that are not removed. */
export async function listAddressesOfDesks(
  db: Db,
  deskIds: readonly string[],
): Promise<AddressRow[]> {
  return await db.rows(sql`
    select ${addressColumns}
    from notice_addresses
    where desk_id = any(${deskIds}::text[]) and removed_at is null
    order by address_id`);
}

export type AddressFilter = {
  readonly environment: Environment | null;
  readonly deskId: string | null;
  /** The house's desk, whose addresses are people's. */
  readonly of: "desks" | "people" | null;
  /** Only those made before this one. */
  readonly before: string | null;
  readonly limit: number;
};

/** Contacts of a firm that leaves: their addresses are forgotten. */
export async function forgetOfFirm(tx: Tx, firmId: string, now: Date): Promise<void> {
  await tx.rows(sql`
    update notice_addresses
    set email = address_id || '@removed.invalid', removed_at = ${now}, version = version + 1,
      updated_at = ${now}
    where firm_id = ${firmId}`);
}

/** Of desks and people, newest first, without removed ones. */
export async function listAddressRows(
  db: Db,
  { environment, deskId, of, before, limit }: AddressFilter,
): Promise<AddressRow[]> {
  return await db.rows(sql`
    select ${addressColumns}
    from notice_addresses
    where removed_at is null and firm_id is null
      and (${before}::text is null or address_id < ${before})
      and (${environment}::text is null or environment = ${environment})
      and (${deskId}::text is null or desk_id = ${deskId})
      and (${of}::text is null or (${of} = 'people') = (operator_id is not null))
    order by address_id desc
    limit ${limit}`);
}

/** The names of firms, for notices that mention them, and their contacts. */
export async function listNames(
  db: Db,
  firmIds: readonly string[],
): Promise<{ firm_id: string; legal_name: string; email: string | null }[]> {
  return await db.rows(sql`
    select firm_id, legal_name, email
    from firms
    where firm_id = any(${firmIds}::text[])`);
}
