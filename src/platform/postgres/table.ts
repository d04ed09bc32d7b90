// A table is described once, its columns with their types in SQL and here:
//
//   const orders = table("orders", { order_id: text(), face_paise: bigint().orNull, … });
//   type OrderRow = RowOf<typeof orders>;
//
// A set of rows is sent as one array per column. A statement names the columns it uses, so their
// order does not matter:
//
//   insert into orders ${orders.values(orders.all, rows, { created_at: now })}
//   update orders as o set ${orders.assign(changed)} from ${orders.rows(["order_id", ...changed], rows)} as r
//   select … from ${asked.rows({ desk_id: ({ caller }) => caller.deskId }, asks)} as a join …
//
// Where values have other names than the columns, each column is given with a function that reads it.
// A set of other columns than a table's has its own `shape`. Lists within rows are sent as array
// literals, because PostgreSQL accepts no array of arrays of different lengths.

import { exactJson } from "../../kernel/json.ts";
import type { PaiseSum } from "../../kernel/money.ts";
import { Fragment, Part } from "./statement.ts";
import { arrayLiteral, recordLiteral, type WireValue, wireValue } from "./wire-value.ts";

type ToCell = (value: never) => unknown;

class Column<Value> {
  declare readonly value: Value;
  /** The type's name in SQL. */
  readonly type: string;
  /** Converts a value to an array element that PostgreSQL accepts; absent when none is needed. */
  readonly toCell: ToCell | undefined;
  readonly isNullable: boolean;

  constructor(type: string, toCell?: ToCell, isNullable = false) {
    this.type = type;
    this.toCell = toCell;
    this.isNullable = isNullable;
  }

  get orNull(): Column<Value | null> {
    return new Column(this.type, this.toCell, true);
  }

  /** A list cannot be an array element, so it is sent as text. */
  get isList(): boolean {
    return this.type.endsWith("[]");
  }
}

class LineColumn extends Column<string> {}

export const text = <Value extends string = string>() => new Column<Value>("text");
/**
 * A long text without a line break, such as JSON. A set of them is sent as lines: escaping every
 * quote for an array literal takes three times as long as encoding all other columns.
 */
export const line = (): Column<string> => new LineColumn("text");
export const smallint = <Value extends number = number>() => new Column<Value>("smallint");
export const int = <Value extends number = number>() => new Column<Value>("integer");
/** One amount or count; a constraint keeps it within what a double holds exactly. */
export const bigint = <Value extends number = number>() => new Column<Value>("bigint");
/** A sum of amounts, of any size. */
export const numeric = <Value extends PaiseSum = PaiseSum>() => new Column<Value>("numeric");
export const time = () => new Column<Date>("timestamptz");
export const day = <Value extends string = string>() => new Column<Value>("date");
export const flag = () => new Column<boolean>("boolean");
export const uuid = () => new Column<string>("uuid");
export const json = <Value>() => new Column<Value>("jsonb", exactJson);
export const bytes = () => new Column<Buffer>("bytea");
/** Bytes, given as hexadecimal digits. */
export const hex = () => new Column<string>("bytea", (digits: string) => `\\x${digits}`);
export const textList = <Value extends string = string>() =>
  new Column<readonly Value[]>("text[]", arrayLiteral);
export const bytesList = () => new Column<readonly Buffer[]>("bytea[]", arrayLiteral);
export const bigintList = () => new Column<readonly number[]>("bigint[]", arrayLiteral);
/** A list of rows of a composite type; `fields` are in the order of the type. */
export const recordList = <Value extends object>(
  type: string,
  fields: readonly (keyof Value & string)[],
) =>
  new Column<readonly Value[]>(`${type}[]`, (records: readonly Value[]) =>
    arrayLiteral(records.map((record) => recordLiteral(fields.map((field) => record[field])))),
  );

export type Columns = Readonly<Record<string, Column<unknown>>>;
type ColumnName<Cs extends Columns> = keyof Cs & string;
export type Row<Cs extends Columns> = { readonly [Name in keyof Cs]: Cs[Name]["value"] };
/** The values of a row to send; a nullable column may be left out, which means null. */
export type Sent<Cs extends Columns, Name extends keyof Cs> = {
  readonly [Key in Name as null extends Cs[Key]["value"] ? never : Key]: Cs[Key]["value"];
} & {
  readonly [Key in Name as null extends Cs[Key]["value"] ? Key : never]?:
    | Cs[Key]["value"]
    | undefined;
};
type Picks<Cs extends Columns, Item> = {
  readonly [Name in keyof Cs]?: (item: Item) => Cs[Name]["value"];
};

export type RowOf<Described extends { readonly described: Columns }> = Row<Described["described"]>;

class Shape<Cs extends Columns> {
  readonly described: Cs;
  /** The names of all columns. */
  readonly all: readonly ColumnName<Cs>[];

  constructor(described: Cs) {
    this.described = described;
    this.all = Object.keys(described);
  }

  /** A set as a table: `from ${shape.rows(columns, set)} as r`. */
  rows<const Name extends ColumnName<Cs>>(
    names: readonly Name[],
    rows: readonly Sent<Cs, Name>[],
  ): Part;
  rows<Item>(picks: Picks<Cs, Item>, items: readonly Item[]): Part;
  rows(columns: readonly string[] | object, rows: readonly object[]): Part {
    return new RowSet(new ColumnArrays(this.described, columns, rows));
  }

  /** The same with `position`, from 1 in the order of the set. */
  numbered<const Name extends ColumnName<Cs>>(
    names: readonly Name[],
    rows: readonly Sent<Cs, Name>[],
  ): Part;
  numbered<Item>(picks: Picks<Cs, Item>, items: readonly Item[]): Part;
  numbered(columns: readonly string[] | object, rows: readonly object[]): Part {
    return new RowSet(new ColumnArrays(this.described, columns, rows), "position");
  }
}

/** All described tables, for the test that compares them with the database. */
export const describedTables: Table<Columns>[] = [];

export class Table<Cs extends Columns> extends Shape<Cs> {
  readonly name: string;
  /** All columns, for a select list. */
  readonly columns: Fragment;

  constructor(name: string, described: Cs) {
    super(described);
    this.name = name;
    this.columns = new Fragment(this.all.join(", "));
    describedTables.push(this as unknown as Table<Columns>);
  }

  /** All columns, or the named ones, with the alias of the table. */
  as(alias: string, names: readonly ColumnName<Cs>[] = this.all): Fragment {
    return new Fragment(names.map((name) => `${alias}.${name}`).join(", "));
  }

  /** Columns and rows of an insert: the named columns from each row, the shared ones for all rows. */
  values<const Name extends ColumnName<Cs>>(
    names: readonly Name[],
    rows: readonly Sent<Cs, Name>[],
  ): Part;
  values<const Name extends ColumnName<Cs>, Shared extends Partial<Row<Cs>>>(
    names: readonly Name[],
    rows: readonly Sent<Cs, Exclude<Name, keyof Shared>>[],
    shared: Shared & Record<Exclude<keyof Shared, keyof Cs>, never>,
  ): Part;
  values<Item>(picks: Picks<Cs, Item>, items: readonly Item[], shared?: Partial<Row<Cs>>): Part;
  values(
    columns: readonly string[] | object,
    rows: readonly object[],
    shared: Readonly<Record<string, unknown>> = {},
  ): Part {
    return new InsertedRows(this.described, columns, rows, shared);
  }

  /** For `set`: each column from the same column of `r`. */
  assign(names: readonly ColumnName<Cs>[]): Fragment {
    return new Fragment(names.map((name) => `${name} = r.${name}`).join(", "));
  }
}

export function table<const Cs extends Columns>(name: string, columns: Cs): Table<Cs> {
  return new Table(name, columns);
}

export function shape<const Cs extends Columns>(columns: Cs): Shape<Cs> {
  return new Shape(columns);
}

type PickCell = (item: unknown) => unknown;

/** The columns of a set, one array per column. */
class ColumnArrays {
  readonly names: readonly string[];
  readonly #columns: Columns;
  readonly #picks: Readonly<Record<string, PickCell>> | undefined;
  readonly #rows: readonly object[];

  constructor(columns: Columns, wanted: readonly string[] | object, rows: readonly object[]) {
    this.#columns = columns;
    this.#picks = Array.isArray(wanted) ? undefined : (wanted as Record<string, PickCell>);
    this.names = Array.isArray(wanted) ? wanted : Object.keys(wanted);
    this.#rows = rows;
  }

  /** For a select list. */
  writeSelected(): string[] {
    return this.names.map((name) => {
      const { type, isList } = findColumn(this.#columns, name);
      return isList ? `r.${name}::${type} as ${name}` : `r.${name}`;
    });
  }

  /** For a from clause, as `r`. */
  writeFrom(next: () => string, position?: string): string {
    const arrays = this.names.map((name) => {
      const column = findColumn(this.#columns, name);
      const { type, isList } = column;
      if (column instanceof LineColumn) return `string_to_array(${next()}, E'\\n')`;
      return `${next()}::${isList ? "text" : type}[]`;
    });
    const numbered = position === undefined ? "" : " with ordinality";
    const names = position === undefined ? this.names : [...this.names, position];
    return `unnest(${arrays.join(", ")})${numbered} as r (${names.join(", ")})`;
  }

  addValues(values: WireValue[]): void {
    const rows = this.#rows;
    for (const name of this.names) {
      const column = findColumn(this.#columns, name);
      const { toCell } = column;
      const pick = this.#picks?.[name];
      const cells: unknown[] = [];
      for (const row of rows) {
        const value = pick ? pick(row) : (row as Readonly<Record<string, unknown>>)[name];
        cells.push(
          toCell && value !== null && value !== undefined ? toCell(value as never) : value,
        );
      }
      values.push(column instanceof LineColumn ? joinLines(cells) : arrayLiteral(cells));
    }
  }
}

function joinLines(cells: readonly unknown[]): string {
  const text = cells.join("\n");
  const lines = cells.length === 0 ? 0 : text.split("\n", cells.length + 1).length;
  if (lines !== cells.length || cells.includes(""))
    throw new Error("a line has no break and is not empty");
  return text;
}

class RowSet extends Part {
  readonly #arrays: ColumnArrays;
  readonly #position: string | undefined;

  constructor(arrays: ColumnArrays, position?: string) {
    super();
    this.#arrays = arrays;
    this.#position = position;
  }

  get shape(): readonly string[] {
    return this.#arrays.names;
  }

  write(next: () => string): string {
    const selected = this.#arrays.writeSelected();
    if (this.#position !== undefined) selected.push(`r.${this.#position}`);
    const from = this.#arrays.writeFrom(next, this.#position);
    return `(select ${selected.join(", ")} from ${from})`;
  }

  addValues(values: WireValue[]): void {
    this.#arrays.addValues(values);
  }
}

class InsertedRows extends Part {
  readonly shape: readonly string[];
  readonly #columns: Columns;
  readonly #arrays: ColumnArrays;
  readonly #shared: Readonly<Record<string, unknown>>;

  constructor(
    columns: Columns,
    wanted: readonly string[] | object,
    rows: readonly object[],
    shared: Readonly<Record<string, unknown>>,
  ) {
    super();
    const own = Array.isArray(wanted) ? wanted.filter((name) => !(name in shared)) : wanted;
    this.#columns = columns;
    this.#arrays = new ColumnArrays(columns, own, rows);
    this.#shared = shared;
    this.shape = [...this.#arrays.names, ...Object.keys(shared)];
  }

  write(next: () => string): string {
    const shared = Object.keys(this.#shared).map(
      (name) => `${next()}::${findColumn(this.#columns, name).type} as ${name}`,
    );
    const selected = [...this.#arrays.writeSelected(), ...shared];
    const from = this.#arrays.writeFrom(next);
    return `(${this.shape.join(", ")}) select ${selected.join(", ")} from ${from}`;
  }

  addValues(values: WireValue[]): void {
    for (const [name, value] of Object.entries(this.#shared)) {
      const { toCell } = findColumn(this.#columns, name);
      values.push(wireValue(toCell && value !== null ? toCell(value as never) : value));
    }
    this.#arrays.addValues(values);
  }
}

function findColumn(columns: Columns, name: string): Column<unknown> {
  const column = columns[name];
  if (!column) throw new Error(`there is no column ${name}`);
  return column;
}
