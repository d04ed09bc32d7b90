// The statements of one table that are no thought: insert, find by the key, list, lock, set.
//
//   export const { insert: insertFiles, find: findFile, lock: lockFiles, set: setFiles } = rowsBy(files, {
//     key: ["file_id"],
//     set: ["state", "version"],
//   });
//
// `find`, `list` and `lock` take values of the first column of the key, and go in the order of the
// whole key. Rows that are set were locked before.

import { command, type Db, type Tx } from "./postgres.ts";
import { sql } from "./statement.ts";
import type { Columns, Row, Sent, Table } from "./table.ts";

type RowStatements<Cs extends Columns, Key extends keyof Cs, Changing extends keyof Cs> = {
  readonly insert: (tx: Tx, rows: readonly Sent<Cs, keyof Cs>[]) => Promise<void>;
  readonly find: (db: Db, key: string) => Promise<Row<Cs> | undefined>;
  readonly list: (db: Db, keys: readonly string[]) => Promise<Row<Cs>[]>;
  readonly lock: (tx: Tx, keys: readonly string[]) => Promise<Row<Cs>[]>;
  readonly set: (tx: Tx, rows: readonly Pick<Row<Cs>, Key | Changing>[]) => Promise<void>;
  /** The same with the next list of the transaction. */
  readonly setLater: (tx: Tx, rows: readonly Pick<Row<Cs>, Key | Changing>[]) => void;
};

type Name<Cs extends Columns> = keyof Cs & string;

export function rowsBy<
  const Cs extends Columns,
  const Key extends Name<Cs>,
  const Changing extends Name<Cs> = never,
>(
  table: Table<Cs>,
  {
    key,
    set: changing = [],
  }: { readonly key: readonly [Key, ...Key[]]; readonly set?: readonly Changing[] },
): RowStatements<Cs, Key, Changing> {
  const [first] = key;
  const { name } = table;
  const ofKeys = `
    select ${table.columns.text}
    from ${name}
    where ${first} = any(`;
  const inOrder = `::text[])
    order by ${key.join(", ")}`;
  const inserting = phrase(`insert into ${name} `, "");
  const listing = phrase(ofKeys, inOrder);
  const locking = phrase(ofKeys, `${inOrder}\n    for update`);
  const setting = phrase(
    `
    update ${name} as changed
    set ${table.assign(changing).text}
    from `,
    ` as r
    where ${key.map((column) => `changed.${column} = r.${column}`).join(" and ")}`,
  );
  // A row has these columns.
  const toSet = (rows: readonly object[]) =>
    command(sql(setting, table.rows([...key, ...changing], rows as never)));
  const list: RowStatements<Cs, Key, Changing>["list"] = async (db, keys) =>
    await db.rows(sql(listing, keys));
  return {
    async insert(tx, rows) {
      await tx.rows(sql(inserting, table.values(table.all, rows)));
    },
    async find(db, given) {
      const [row] = await list(db, [given]);
      return row;
    },
    list,
    lock: async (tx, keys) => await tx.rows(sql(locking, keys)),
    set: async (tx, rows) => await tx.run(toSet(rows)),
    setLater: (tx, rows) => tx.defer(toSet(rows)),
  };
}

/** Text around parameters, as the `sql` tag knows it by. */
function phrase(...texts: readonly string[]): TemplateStringsArray {
  return Object.assign([...texts], { raw: texts });
}
