// A list is described once, beside its table: whose rows a reader sees, their order, and the filters of
// its query. The parameters of the query, the statements of a page and of its count, and what a cursor
// is bound to are read from the description:
//
//   export const payoutList = list(payouts, {
//     name: "payouts",
//     within: ["desk_id", "firm_id"],
//     newestFirst: ["created_at", "payout_id"],
//     filters: { status: equals("state", closedEnum(payoutStates)), firm_id: ofFirm("Only …") },
//   });
//   const page = await payoutList.read(ctx, visibleTo(caller), query);
//
// A statement has the same text whatever is asked for; `planned` plans it for what is.

import {
  type Static,
  type TObject,
  type TOptional,
  type TSchema,
  type TString,
  Type,
} from "typebox";

import {
  type Page,
  type PageQuery,
  type PageRequest,
  type ListQuery,
  readPage,
} from "../../kernel/page.ts";
import { parseQueryInstant } from "../../kernel/query-time.ts";
import { toFirmFilter, type Visibility } from "../../kernel/visibility.ts";
import type { Context } from "../context.ts";
import { pageQuery, timestamp } from "../http/wire.ts";
import type { Db } from "./postgres.ts";
import { type Fragment, type Part, textStatement } from "./statement.ts";
import type { Columns, Row, Table } from "./table.ts";
import type { WireValue } from "./wire-value.ts";

/** A query parameter, and the condition that rows meet where it is given. */
type Filter<Schema extends TSchema = TSchema> = {
  readonly parameter: TOptional<Schema>;
  /** The type of the value in SQL. */
  readonly type: string;
  /** Written with the placeholder of the value; absent where the reader's reach is narrowed instead. */
  readonly condition?: (value: string) => string;
  /** Converts what was asked for; refuses what is not valid. */
  readonly parse?: (asked: string, name: string) => unknown;
};

export type Filters = Readonly<Record<string, Filter>>;
type Parameters<Declared extends Filters> = {
  [Name in keyof Declared]: Declared[Name]["parameter"];
};

/** Rows that meet a condition on the value. */
export function meets<Schema extends TSchema>(
  condition: (value: string) => string,
  parameter: TOptional<Schema>,
  { type = "text", parse }: Partial<Pick<Filter, "type" | "parse">> = {},
): Filter<Schema> {
  return { parameter, type, condition, ...(parse && { parse }) };
}

/** Rows whose column has the value. */
export function equals<Schema extends TSchema>(
  column: string,
  parameter: TOptional<Schema>,
  how?: Partial<Pick<Filter, "type" | "parse">>,
): Filter<Schema> {
  return meets((value) => `${column} = ${value}`, parameter, how);
}

/** Rows of one of the firms that the reader sees. */
export function ofFirm(parameter: TOptional<TString>): Filter<TString> {
  return { parameter, type: "text" };
}

/** `from` and `to`: rows whose time is at the first or later, and before the second. */
export function between(column: string, done: string) {
  const bound = (comparison: ">=" | "<", description: string): Filter<TString> => ({
    parameter: Type.Optional(timestamp(description)),
    type: "timestamptz",
    condition: (value) => `${column} ${comparison} ${value}`,
    parse: (asked, name) => parseQueryInstant(name, asked),
  });
  return {
    from: bound(">=", `Only those ${done} at this time or later.`),
    to: bound("<", `Only those ${done} before this time.`),
  };
}

type Spec<Declared extends Filters, Found> = {
  /** The name of the rows in the answer. */
  readonly name: string;
  /** The columns of a reader's desk and of the one firm that a `sub_account` key sees. */
  readonly within: readonly [desk: keyof Found & string, firm: keyof Found & string];
  /** The time and the id that rows are ordered by. */
  readonly newestFirst: readonly [at: keyof Found & string, id: keyof Found & string];
  readonly filters: Declared;
};

/** What rows are narrowed to, by the names of filters; null, or nothing, for all. */
type Narrowed<Declared extends Filters> = { readonly [Name in keyof Declared]?: unknown };

export type List<Declared extends Filters, Found> = {
  readonly name: string;
  /** The filters of its query. */
  readonly parameters: Parameters<Declared>;
  /** Its query: the filters and the page. */
  readonly query: TObject<Parameters<Declared> & typeof pageQuery>;
  /** A page of what the reader sees. */
  readonly read: (
    ctx: Pick<Context, "db" | "cursorKey">,
    visible: Visibility,
    query: Static<TObject<Parameters<Declared>>> & PageQuery,
  ) => Promise<Page<Found>>;
  /** Rows of a desk, or of one firm of it. */
  rows(
    db: Db,
    owner: Visibility,
    narrowed: Narrowed<Declared>,
    place: Pick<PageRequest, "after" | "fetch">,
  ): Promise<Found[]>;
};

/** Rows that one condition finds, for a page of them and their count. */
export type ListedRows<Found> = {
  readonly columns: Fragment;
  /** From `from` to the end of the condition. */
  readonly found: Part;
  readonly newestFirst: readonly [at: keyof Found & string, id: keyof Found & string];
};

/** A page of rows, newest first, and how many they are where paging begins. */
export async function readNewest<Found>(
  { db: { planned }, cursorKey }: Pick<Context, "db" | "cursorKey">,
  { query, question }: { readonly query: PageQuery; readonly question: ListQuery },
  { columns, found, newestFirst: [at, id] }: ListedRows<Found>,
): Promise<Page<Found>> {
  const next = placeholders();
  const rest = found.write(next);
  const values: WireValue[] = [];
  found.addValues(values);
  const pageText = `
    select ${columns.text} ${rest}
      and (${at}, ${id}) < (coalesce(${next()}::timestamptz, 'infinity'), ${next()})
    order by ${at} desc, ${id} desc
    limit ${next()}`;
  return await readPage(
    { query, question, signingKey: cursorKey },
    {
      list: async ({ after, fetch }) =>
        await planned.rows<Found>(
          textStatement(pageText, [...values, after?.at ?? null, after?.id ?? "", fetch]),
        ),
      count: async () => {
        const counting = textStatement(`select count(*) as total ${rest}`, values);
        const [row] = await planned.rows<{ total: number }>(counting);
        return row?.total ?? 0;
      },
      toPosition: (row) => ({ at: row[at] as Date, id: row[id] as string }), // As the spec says.
    },
  );
}

export function list<const Cs extends Columns, const Declared extends Filters>(
  table: Table<Cs>,
  { name, within, newestFirst, filters }: Spec<Declared, Row<Cs>>,
): List<Declared, Row<Cs>> {
  const [at, id] = newestFirst;
  const narrowing = Object.entries(filters).filter(([, { condition }]) => condition !== undefined);
  const next = placeholders();
  const where = writeScope();
  const countText = `select count(*) as total from ${table.name} where ${where}`;
  const pageText = `
    select ${table.columns.text}
    from ${table.name}
    where ${where}
      and (${at}, ${id}) < (coalesce(${next()}::timestamptz, 'infinity'), ${next()})
    order by ${at} desc, ${id} desc
    limit ${next()}`;

  function writeScope(): string {
    const [desk, firm] = within;
    const [ofDesk, ofOne, ofClient] = [next(), next(), next()];
    const conditions = narrowing.map(([, { type, condition }]) => {
      const value = next();
      return `(${value}::${type} is null or ${condition?.(value)})`;
    });
    return [
      `${desk} = ${ofDesk}`,
      `(${ofOne}::text is null or ${firm} = ${ofOne})`,
      // An index may have the rows of client firms only.
      `(not ${ofClient}::boolean or ${firm} <> ${desk})`,
      ...conditions,
    ].join("\n      and ");
  }

  function listValues({ deskId, firmId }: Visibility, narrowed: Narrowed<Declared>): unknown[] {
    const ofClient = firmId !== null && firmId !== deskId;
    return [deskId, firmId, ofClient, ...narrowing.map(([filter]) => narrowed[filter] ?? null)];
  }

  const rows: List<Declared, Row<Cs>>["rows"] = async (db, owner, narrowed, { after, fetch }) => {
    const values = [...listValues(owner, narrowed), after?.at ?? null, after?.id ?? "", fetch];
    return await db.rows(textStatement(pageText, values));
  };

  async function count(db: Db, owner: Visibility, narrowed: Narrowed<Declared>): Promise<number> {
    const values = listValues(owner, narrowed);
    const [found] = await db.rows<{ total: number }>(textStatement(countText, values));
    return found?.total ?? 0;
  }

  return {
    name,
    parameters: pickParameters(filters),
    query: Type.Object(
      { ...pickParameters(filters), ...pageQuery },
      { additionalProperties: false },
    ),
    rows,
    async read(ctx, visible, query) {
      const {
        limit: _limit,
        cursor: _cursor,
        ...asked
      } = query as PageQuery & Record<string, string>;
      const narrowed = parseAsked(filters, asked);
      const { deskId, firmId } = visible;
      const owner = { deskId, firmId: toFirmFilter(visible, asked["firm_id"]) };
      const question = { list: name, desk: deskId, firm: firmId ?? "", ...asked };
      return await readPage(
        { query, question, signingKey: ctx.cursorKey },
        {
          list: (place) => rows(ctx.db.planned, owner, narrowed, place),
          count: () => count(ctx.db.planned, owner, narrowed),
          toPosition: (row) => ({ at: row[at] as Date, id: row[id] as string }), // As the spec says.
        },
      );
    },
  };
}

function pickParameters<Declared extends Filters>(filters: Declared): Parameters<Declared> {
  const each = Object.entries(filters).map(([name, { parameter }]) => [name, parameter]);
  return Object.fromEntries(each) as Parameters<Declared>; // The same names, each with its parameter.
}

function parseAsked(
  filters: Filters,
  asked: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const each = Object.entries(asked).map(([name, value]) => {
    const parse = filters[name]?.parse;
    return [name, parse ? parse(value, name) : value];
  });
  return Object.fromEntries(each);
}

function placeholders(): () => string {
  let count = 0;
  return () => `$${++count}`;
}
