// The forms of banks' statements, saved by name, so that an import only names the bank. A form decides
// how a file is read and nothing else: what a file brings in is limited where it is imported.

import {
  genericStatement,
  parseStatementFormat,
  type StatementFormat,
} from "../bankbook/read-statement.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  deleteForm,
  findFormRow,
  listFormRows,
  lockForm,
  type StatementFormRow,
  upsertForm,
} from "./store.ts";

type FormContext = Pick<Context, "db" | "now">;

type SavedForm = Omit<StatementFormRow, "form"> & { readonly form: StatementFormat };

export async function listStatementForms({ db }: { readonly db: Db }): Promise<SavedForm[]> {
  return (await listFormRows(db)).map((row) => ({ ...row, form: parseStatementFormat(row.form) }));
}

/** The saved form of this name, or the generic one. */
export async function findStatementForm(db: Db, name: string): Promise<StatementFormat> {
  if (name === genericStatement.name) return genericStatement;
  const row = await findFormRow(db, name);
  if (!row) throw noForm(name);
  return parseStatementFormat(row.form);
}

/** Saves a form under its name, in place of the one that had it. */
export async function saveStatementForm(
  { db, now }: FormContext,
  actor: Actor,
  given: unknown,
): Promise<SavedForm> {
  const form = parseStatementFormat(given);
  const { name } = form;
  if (name === genericStatement.name) {
    throw unprocessable({ path: "name", problem: "is the name of the form that is always there" });
  }
  const at = now();
  return await db.transaction(async (tx) => {
    await lockForm(tx, name);
    const before = await findFormRow(tx, name);
    const version = (before?.version ?? 0) + 1;
    const row = { name, form: { ...form }, saved_by: actor.id, saved_at: at, version };
    await upsertForm(tx, row);
    await recordChanges(tx, actor, [buildFormChange("save", row, { form })], at);
    return { ...row, form };
  });
}

export async function removeStatementForm(
  { db, now }: FormContext,
  actor: Actor,
  name: string,
): Promise<void> {
  const at = now();
  await db.transaction(async (tx) => {
    await lockForm(tx, name);
    const before = await findFormRow(tx, name);
    if (!before || !(await deleteForm(tx, name))) throw noForm(name);
    const gone = { name, version: before.version + 1 };
    await recordChanges(tx, actor, [buildFormChange("remove", gone, null)], at);
  });
}

function noForm(name: string): Failure {
  return new Failure("not_found", `no form ${name} of a bank's statement`);
}

/** Forms belong to the house: their changes are recorded on its desk. */
function buildFormChange(
  action: "save" | "remove",
  { name, version }: Pick<StatementFormRow, "name" | "version">,
  after: Change["after"],
): Change {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action: `statement_form.${action}`,
    entity: { type: "statement_form", id: name, version, href: "/ops/bank/forms" },
    after,
  };
}
