import type { Environment } from "../kernel/caller.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Db, type Query, query, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { day, int, type RowOf, table, text, textList, time } from "../platform/postgres/table.ts";

const houses = table("houses", {
  environment: text<Environment>(),
  version: int(),
  /** The first day on which these particulars hold. */
  effective_from: day(),
  legal_name: text(),
  iec: text().orNull,
  pan: text().orNull,
  tan: text().orNull,
  gstin: text().orNull,
  cin: text().orNull,
  address: textList(),
  state_code: text().orNull,
  signatory: text().orNull,
  bank_beneficiary: text().orNull,
  bank_account_no: text().orNull,
  bank_ifsc: text().orNull,
  bank_name: text().orNull,
  set_at: time(),
  set_by: text(),
  approved_by: text().orNull,
});
export type HouseRow = RowOf<typeof houses>;

/** Serializes the setting of a house, and acts that depend on who it is. */
export async function lockHouse(tx: Tx, environment: Environment): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('houses'), hashtext(${environment}))`);
}

/** The particulars in force on a day. */
export function findHouseRow(environment: Environment, on: IstDay): Query<HouseRow | undefined> {
  return query<HouseRow>(sql`
    select ${houses.columns}
    from houses
    where environment = ${environment} and effective_from <= ${on}::date
    order by effective_from desc, version desc
    limit 1`).map(([row]) => row);
}

/** Every version, the latest first. */
export async function listHouseRows(db: Db, environment: Environment): Promise<HouseRow[]> {
  return await db.rows(sql`
    select ${houses.columns}
    from houses
    where environment = ${environment}
    order by version desc`);
}

export const { insert: insertHouse } = rowsBy(houses, { key: ["environment", "version"] });
