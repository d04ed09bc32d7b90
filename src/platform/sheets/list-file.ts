// A list as JSON or as a file. A file has the rows of its page where one is asked for, otherwise all of
// them up to a limit.

import { type Static, type TObject, Type } from "typebox";

import type { Caller } from "../../kernel/caller.ts";
import { type Page, type PageQuery, pageSizeMax } from "../../kernel/page.ts";
import { visibleTo } from "../../kernel/visibility.ts";
import type { Context } from "../context.ts";
import type { Heavy, HeavyOptions } from "../heavy/kinds.ts";
import { mapPaced } from "../heavy/pace.ts";
import { type ListFile, sendList } from "../http/documents.ts";
import type { DeskCall, Listing } from "../http/operation.ts";
import { formatQuery, listFormats, pageFields } from "../http/wire.ts";
import type { Filters, List } from "../postgres/list.ts";
import { readAtReplica } from "../postgres/replica.ts";
import { formatTable, type TableFormat } from "./format-table.ts";
import type { Table, TableCell, TableColumn, TableRow } from "./table.ts";

/** About 20 MB of cells. A longer list is cut after the page that passes this. */
const rowsMax = 20_000;

type ListTable<Item> = Omit<Table, "rows"> & {
  /** An item may have several rows. */
  readonly toRows: (item: Item) => readonly TableRow[];
};

/** A column of a file, and its cell in the row of a line: the field of its name, or what `cell` says. */
export type FileColumn<Line> = TableColumn &
  (
    | { readonly cell: (line: Line) => TableCell | undefined }
    | { readonly name: keyof Line & string; readonly cell?: undefined }
  );

type ListQuery = PageQuery & {
  readonly format?: "json" | TableFormat | undefined;
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal;
};

/** Reads a list in the format that was asked for. */
export function listReader<Query extends PageQuery, Item, Line>(
  {
    name,
    title,
    columns,
    toLines,
  }: {
    /** The name of the file, without its ending. */
    readonly name: string;
    readonly title: string;
    readonly columns: readonly FileColumn<Line>[];
    /** The lines of an item, a row each. */
    readonly toLines: (item: Item) => readonly Line[];
  },
  readPage: (ctx: Context, caller: Caller, query: Query) => Promise<Page<Item>>,
) {
  const readers = columns.map(({ name: field, cell }) => cell ?? readField(field));
  const toRows = (item: Item) =>
    toLines(item).map((line) => readers.map((read) => read(line) ?? null));
  // Columns are sent to a thread, which takes no functions.
  const described = columns.map(({ cell: _cell, ...column }) => column);
  const table = { sheet: title, title, columns: described, toRows };
  return async (
    ctx: Context,
    caller: Caller,
    { format = "json", gone, ...asked }: Query & ListQuery,
  ): Promise<Page<Item> | ListFile> => {
    const query = asked as unknown as Query; // The rest is the query.
    if (format === "json") return await readPage(ctx, caller, query);
    const list = (page: PageQuery) =>
      readAtReplica(ctx, (reading) => readPage(reading, caller, { ...query, ...page }));
    const listing = { query, list, table, format, name, dated: ctx.now() };
    return await listAsFile(ctx.heavy, listing, { by: caller, signal: gone });
  };
}

function readField(name: string): (line: unknown) => TableCell | undefined {
  return (line) => (line as Readonly<Record<string, TableCell | undefined>>)[name];
}

/** What the operation of a desk's list is made of: `list`, and how its rows are seen and filed. */
export function deskListing<Declared extends Filters, Row, Item extends TObject>(
  list: List<Declared, Row>,
  {
    of,
    order,
    title,
    columns,
    view,
  }: {
    /** The shape of an item; it has a title. */
    readonly of: Item;
    /** Describes the items in the document. */
    readonly order: string;
    readonly title: string;
    readonly columns: readonly FileColumn<Static<Item>>[];
    readonly view: (ctx: Context, rows: readonly Row[]) => Promise<readonly Static<Item>[]>;
  },
): Listing<DeskCall> {
  type Query = Parameters<typeof list.read>[2];
  const { name } = list;
  const { title: itemTitle } = of as { readonly title?: string };
  const read = listReader<Query, Static<Item>, Static<Item>>(
    { name, title, columns, toLines: (item) => [item] },
    async (ctx, caller, query) => {
      const page = await list.read(ctx, visibleTo(caller), query);
      return { ...page, rows: await view(ctx, page.rows) };
    },
  );
  return {
    query: list.queryWith({ format: formatQuery(listFormats) }),
    answer: Type.Object(
      { [name]: Type.Array(of, { description: order }), ...pageFields },
      { title: `${itemTitle}List` },
    ),
    run: async ({ ctx, caller, gone }, query: Query) =>
      await read(ctx, caller, { ...query, gone: gone() }),
    send: (reply, page: Page<Static<Item>> | ListFile) => sendList(reply, name, page),
  };
}

type FiledList<Item> = {
  readonly query: PageQuery;
  readonly list: (page: PageQuery) => Promise<Page<Item>>;
  readonly table: ListTable<Item>;
  readonly format: TableFormat;
  readonly name: string;
  readonly dated: Date;
};

export async function listAsFile<Item>(
  heavy: Heavy,
  { query, list, table: { toRows, ...table }, ...file }: FiledList<Item>,
  asked: HeavyOptions,
): Promise<ListFile> {
  const isPage = query.limit !== undefined || query.cursor !== undefined;
  const { rows, nextCursor } = await heavy.inPieces(
    "list file",
    async (pace) => {
      const collected: TableRow[] = [];
      let next: PageQuery = isPage ? query : { limit: pageSizeMax };
      for (;;) {
        const { rows: items, paging } = await list(next);
        const found = await mapPaced(items, toRows, pace);
        for (const some of found) collected.push(...some);
        const cursor = paging?.next_cursor ?? null;
        if (cursor === null || isPage || collected.length >= rowsMax) {
          return { rows: collected, nextCursor: cursor };
        }
        next = { limit: pageSizeMax, cursor };
        await pace.turn();
      }
    },
    asked,
  );
  const answer = await formatTable(heavy, { ...table, rows }, { ...file, ...asked });
  return { ...answer, truncated: nextCursor !== null, nextCursor };
}
