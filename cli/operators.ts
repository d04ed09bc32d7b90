// What commands that change something share: who runs them, and files of many at once.

import { readFile } from "node:fs/promises";

import { type Actor, operator, operatorNamed } from "../src/kernel/actor.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { UsageError } from "./command.ts";
import { csvRows } from "./csv.ts";

export const operatorOption = {
  operator: {
    help: "your name, for the audit trail (SCRIPDESK_OPERATOR); required where two operators take it",
  },
} as const;

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

type Named = { readonly operator: string | undefined };

export function actorOf(options: Named): Actor {
  const name = nameOf(options);
  if (name === undefined) return operator;
  if (nameForm.test(name)) return operatorNamed(name);
  throw new UsageError("--operator must be a name of letters, digits and . _ @ -");
}

/** Said with the command, or once for all commands of a shell. */
function nameOf({ operator: name }: Named): string | undefined {
  return name ?? (process.env["SCRIPDESK_OPERATOR"] || undefined);
}

/** Where it matters who of several it was. */
export function namedActorOf(options: Named): Actor {
  if (nameOf(options) === undefined) throw new UsageError("--operator is required");
  return actorOf(options);
}

/** One thing by its id, or the rows of a file that has a column for each of these. */
export async function rowsOf<Column extends string>(
  id: string,
  {
    csv,
    idColumn,
    columns,
  }: {
    readonly csv: string | undefined;
    readonly idColumn: string;
    readonly columns: Readonly<Record<Column, string | undefined>>;
  },
): Promise<({ readonly id: string } & Readonly<Record<Column, string>>)[]> {
  const names = Object.keys(columns) as Column[];
  if (csv === undefined) {
    if (id === "") throw new UsageError(`give one ${idColumn.toUpperCase()}, or --csv FILE`);
    return [row(id, (name) => columns[name] ?? "")];
  }
  if (id !== "") throw new UsageError("give --csv alone, or one id without it");
  const text = await readFile(csv, "utf8").catch((error: Error) => {
    throw new UsageError(`--csv cannot be read: ${error.message}`);
  });
  return csvRows(text, [idColumn, ...names]).map((cells) =>
    row(cells[idColumn] ?? "", (name) => cells[name] ?? ""),
  );

  function row(of: string, valueOf: (name: Column) => string) {
    const values = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
    return { id: of, ...values } as { readonly id: string } & Readonly<Record<Column, string>>; // By these names.
  }
}

export function required(name: string, text: string): string {
  if (text.trim() !== "") return text.trim();
  throw new UsageError(`--${name} is required`);
}

/** A row as people and programs read it: times in IST. */
export function inIst(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Date ? istTimestamp(value) : value,
    ]),
  );
}
