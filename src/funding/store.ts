import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { int, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import type { Alphabet } from "./rules.ts";

const numberForms = table("number_forms", {
  environment: text<Environment>(),
  version: int(),
  prefix: text().orNull,
  length: int().orNull,
  alphabet: text<Alphabet>().orNull,
  ifsc: text().orNull,
  set_at: time(),
  set_by: text(),
  approved_by: text().orNull,
});
export type NumberFormRow = RowOf<typeof numberForms>;

/** Serializes the setting of a form. */
export async function lockForms(tx: Tx, environment: Environment): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('number_forms'), hashtext(${environment}))`);
}

/** Every version, the latest first. */
export async function listFormRows(db: Db, environment: Environment): Promise<NumberFormRow[]> {
  return await db.rows(sql`
    select ${numberForms.columns}
    from number_forms
    where environment = ${environment}
    order by version desc`);
}

export const { insert: insertForm } = rowsBy(numberForms, { key: ["environment", "version"] });

export async function findFirmNo(db: Db, firmId: string): Promise<number | undefined> {
  const [row] = await db.rows<{ firm_no: number }>(sql`
    select firm_no
    from firms
    where firm_id = ${firmId}`);
  return row?.firm_no;
}

export async function listFirmsByNo(
  db: Db,
  environment: Environment,
  numbers: readonly number[],
): Promise<{ readonly firm_id: string; readonly firm_no: number }[]> {
  return await db.rows(sql`
    select firm_id, firm_no
    from firms
    where environment = ${environment} and firm_no = any(${numbers}::bigint[])`);
}
