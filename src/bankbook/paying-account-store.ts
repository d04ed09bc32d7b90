import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { bytes, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import { sealedColumn } from "../platform/sealed-column.ts";

const payingAccounts = table("paying_accounts", {
  firm_id: text(),
  account_sealed: bytes(),
  last4: text(),
  ifsc: text(),
  /** Who holds it, as the bank's letter says. */
  name: text(),
  entered_by: text(),
  entered_at: time(),
  confirmed_by: text().orNull,
  confirmed_at: time().orNull,
});
export type PayingAccountRow = RowOf<typeof payingAccounts>;

export async function insertPayingAccount(tx: Tx, row: PayingAccountRow): Promise<void> {
  await tx.rows(sql`
    insert into paying_accounts ${payingAccounts.values(payingAccounts.all, [row])}`);
}

export async function findPayingAccount(
  db: Db,
  firmId: string,
): Promise<PayingAccountRow | undefined> {
  const [row] = await db.rows<PayingAccountRow>(sql`
    select ${payingAccounts.columns}
    from paying_accounts
    where firm_id = ${firmId}`);
  return row;
}

export async function lockPayingAccount(
  tx: Tx,
  firmId: string,
): Promise<PayingAccountRow | undefined> {
  const [row] = await tx.rows<PayingAccountRow>(sql`
    select ${payingAccounts.columns}
    from paying_accounts
    where firm_id = ${firmId}
    for update`);
  return row;
}

/** The confirmed ones. */
export async function listPayingAccounts(
  db: Db,
  firmIds: readonly string[],
): Promise<PayingAccountRow[]> {
  return await db.rows(sql`
    select ${payingAccounts.columns}
    from paying_accounts
    where firm_id = any(${firmIds}::text[]) and confirmed_at is not null`);
}

export async function setConfirmed(
  tx: Tx,
  { firm_id, confirmed_by, confirmed_at }: PayingAccountRow,
): Promise<void> {
  await tx.rows(sql`
    update paying_accounts
    set confirmed_by = ${confirmed_by}, confirmed_at = ${confirmed_at}
    where firm_id = ${firm_id}`);
}

export async function deletePayingAccount(tx: Tx, firmId: string): Promise<void> {
  await tx.rows(sql`
    delete from paying_accounts
    where firm_id = ${firmId}`);
}

/** The sealed numbers. */
export const payingAccountColumn = sealedColumn({
  table: "paying_accounts",
  id: "firm_id",
  sealed: "account_sealed",
});
