import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { int, json, type RowOf, table, text, time } from "../platform/postgres/table.ts";

const statementForms = table("statement_forms", {
  name: text(),
  form: json<Readonly<Record<string, string>>>(),
  saved_by: text(),
  saved_at: time(),
  version: int(),
});
export type StatementFormRow = RowOf<typeof statementForms>;

export async function listFormRows(db: Db): Promise<StatementFormRow[]> {
  return await db.rows(sql`
    select ${statementForms.columns}
    from statement_forms
    order by name`);
}

export const { find: findFormRow } = rowsBy(statementForms, { key: ["name"] });

/** Serializes changes of the form of this name. */
export async function lockForm(tx: Tx, name: string): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('statement_forms'), hashtext(${name}))`);
}

export async function upsertForm(tx: Tx, row: StatementFormRow): Promise<void> {
  await tx.rows(sql`
    insert into statement_forms ${statementForms.values(statementForms.all, [row])}
    on conflict (name) do update
    set form = excluded.form, saved_by = excluded.saved_by, saved_at = excluded.saved_at,
      version = excluded.version`);
}

export async function deleteForm(tx: Tx, name: string): Promise<boolean> {
  const rows = await tx.rows(sql`
    delete from statement_forms
    where name = ${name}
    returning name`);
  return rows.length > 0;
}
