// A list as JSON or as a file. A file has the rows of its page where one is asked for, otherwise all of
// them up to a limit.

import { type Static, type TObject, type TProperties, Type } from "typebox";

import type { Caller } from "../../kernel/caller.ts";
import { type Page, type PageQuery, pageSizeMax } from "../../kernel/page.ts";
import { visibleTo } from "../../kernel/visibility.ts";
import type { Context } from "../context.ts";
import type { Heavy, HeavyOptions } from "../heavy/kinds.ts";
import { mapPaced } from "../heavy/pace.ts";
import { sendPage } from "../http/calls.ts";
import { type ListFile, sendList } from "../http/documents.ts";
import type { DeskCall, DeskWiring, Listing } from "../http/operation.ts";
import { formatQuery, listFormats, pageFields, pageQuery } from "../http/wire.ts";
import type { Filters, List } from "../postgres/list.ts";
import { readAtReplica } from "../postgres/replica.ts";
import { formatTable, type TableFormat } from "./format-table.ts";
import type { SheetTable, TableCell, TableColumn, TableRow } from "./table.ts";

/** About 20 MB of cells. A longer list is cut after the page that passes this. */
const rowsMax = 20_000;

type ListTable<Item> = Omit<SheetTable, "rows"> & {
  /** An item may have several rows. */
  readonly toRows: (item: Item) => readonly TableRow[];
};

/** A column of a file, and its cell in the row of a line: the field of its name, or what `cell` says. */
type FileColumn<Line> = TableColumn &
  (
    | { readonly cell: (line: Line) => TableCell | undefined }
    | { readonly name: FileColumnName<keyof Line & string>; readonly cell?: undefined }
  );

/** Files have rupees and percent where answers have paise and basis points. */
type FileColumnName<Field extends string> = Field extends `${infer Stem}_paise`
  ? `${Stem}_rupees`
  : Field extends `${infer Stem}_bps`
    ? `${Stem}_percent`
    : Field;

/** How the items of a desk's list are described, and sent. */
type Shown<Item extends TObject, Line> = {
  /** The shape of an item; it has a title. */
  readonly of: Item;
  /** Describes the items in the document. */
  readonly order: string;
  /** The title of the answer's shape, if it is not the item's and "List"; null for none. */
  readonly listTitle?: string | null;
  /** Of its files. */
  readonly title?: string;
  /** Of its files; a list without columns is JSON only. */
  readonly columns?: readonly FileColumn<Line>[];
  /** The lines of an item, a row each in files; the item itself, where it does not say. */
  readonly toLines?: (item: Static<Item>) => readonly Line[];
};

/** The list of a desk that `read` reads; `query` is what it takes besides the page. */
export function deskPages<
  Item extends TObject,
  Own extends TProperties = TProperties,
  Path extends TObject = TObject,
  Line = Static<Item>,
>({
  name,
  params,
  query: own,
  of,
  order,
  listTitle = `${(of as { readonly title?: string }).title}List`,
  read,
  ...filed
}: Shown<Item, Line> & {
  /** Of the items in the answer, and of the file without its ending. */
  readonly name: string;
  /** What its path names. */
  readonly params?: Path;
  readonly query?: Own;
  readonly read: (
    ctx: Context,
    caller: Caller,
    query: Static<Path> & Static<TObject<Own>> & PageQuery,
    wiring: DeskWiring,
  ) => Promise<Page<Static<Item>>>;
}): Listing<DeskCall> {
  type Query = Parameters<typeof read>[2];
  type Asked = Query & { readonly format?: "json" | TableFormat };
  const table = buildTable(filed);
  const format = table && { format: formatQuery(listFormats) };
  return {
    ...(params && { params }),
    query: Type.Object({ ...own, ...format, ...pageQuery }, { additionalProperties: false }),
    answer: Type.Object(
      { [name]: Type.Array(of, { description: order }), ...pageFields },
      listTitle === null ? {} : { title: listTitle },
    ),
    run: async ({ ctx, caller, wiring, gone }, { format: chosen = "json", ...asked }: Asked) => {
      const query = asked as unknown as Query; // The rest is the query.
      if (!table || chosen === "json") return await read(ctx, caller, query, wiring);
      const list = (page: PageQuery) =>
        readAtReplica(ctx, (reading) => read(reading, caller, { ...query, ...page }, wiring));
      const listing = { query, list, table, format: chosen, name, dated: ctx.now() };
      return await listAsFile(ctx.heavy, listing, { by: caller, signal: gone() });
    },
    send: table
      ? (reply, page: Page<Static<Item>> | ListFile) => sendList(reply, name, page)
      : (reply, page: Page<Static<Item>>) => sendPage(reply, name, page),
  };
}

function buildTable<Item extends TObject, Line>({
  title = "",
  columns,
  toLines = (item) => [item],
}: Omit<Shown<Item, Line>, "of" | "order">): ListTable<Static<Item>> | undefined {
  if (!columns) return undefined;
  const readers = columns.map(({ name: field, cell }) => cell ?? readField(field));
  const toRows = (item: Static<Item>) =>
    toLines(item).map((line) => readers.map((read) => read(line) ?? null));
  // Columns are sent to a thread, which takes no functions.
  const described = columns.map(({ cell: _cell, ...column }) => column);
  return { sheet: title, title, columns: described, toRows };
}

function readField(name: string): (line: unknown) => TableCell | undefined {
  const field = name.replace(/_rupees$/, "_paise").replace(/_percent$/, "_bps");
  return (line) => (line as Readonly<Record<string, TableCell | undefined>>)[field];
}

/** The list of a desk that is described beside its table. */
export function deskListing<Declared extends Filters, Row, Item extends TObject>(
  { name, parameters, read }: List<Declared, Row>,
  {
    view,
    ...shown
  }: Shown<Item, Static<Item>> & {
    readonly view: (
      ctx: Context,
      rows: readonly Row[],
    ) => Promise<readonly Static<Item>[]> | readonly Static<Item>[];
  },
): Listing<DeskCall> {
  return deskPages({
    ...shown,
    name,
    query: parameters,
    read: async (ctx, caller, query) => {
      const asked = query as Parameters<typeof read>[2]; // Of these parameters.
      const page = await read(ctx, visibleTo(caller), asked);
      return { ...page, rows: await view(ctx, page.rows) };
    },
  });
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
