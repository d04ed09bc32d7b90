import { sql, type Tx } from "../platform/postgres/postgres.ts";
import { type RowOf, table, text, time } from "../platform/postgres/table.ts";
import { sealedColumn } from "../platform/sealed-column.ts";

const confirmedAccounts = table("confirmed_accounts", {
  account_id: text(),
  firm_id: text(),
  ifsc: text(),
  last4: text(),
  confirmed_at: time(),
});
export type ConfirmedAccountRow = RowOf<typeof confirmedAccounts>;

export async function insertConfirmedAccounts(
  tx: Tx,
  rows: readonly ConfirmedAccountRow[],
): Promise<void> {
  await tx.rows(sql`
    insert into confirmed_accounts ${confirmedAccounts.values(confirmedAccounts.all, rows)}`);
}

/** The sealed account numbers, for the change of the master key. */
export const accountColumn = sealedColumn({
  table: "firms",
  id: "firm_id",
  sealed: "bank_sealed",
});
