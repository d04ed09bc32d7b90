import { rowsBy } from "../platform/postgres/rows.ts";
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

export const { insert: insertConfirmedAccounts } = rowsBy(confirmedAccounts, {
  key: ["account_id"],
});

/** The sealed account numbers, for the change of the master key. */
export const accountColumn = sealedColumn({
  table: "firms",
  id: "firm_id",
  sealed: "bank_sealed",
});
