// A list as a file: the rows of its page where one is asked for, otherwise all of them up to a limit.

import { type Page, type PageQuery, pageSizeMax } from "../../kernel/page.ts";
import type { Heavy, HeavyOptions } from "../heavy/kinds.ts";
import { mapPaced } from "../heavy/pace.ts";
import type { ListFile } from "../http/documents.ts";
import { formatTable, type TableFormat } from "./format-table.ts";
import type { Table, TableRow } from "./table.ts";

/** About 20 MB of cells. A longer list is cut after the page that passes this. */
const rowsMax = 20_000;

type ListTable<Item> = Omit<Table, "rows"> & {
  /** An item may have several rows. */
  readonly toRows: (item: Item) => readonly TableRow[];
};

type Listing<Item> = {
  readonly query: PageQuery;
  readonly list: (page: PageQuery) => Promise<Page<Item>>;
  readonly table: ListTable<Item>;
  readonly format: TableFormat;
  readonly name: string;
  readonly dated: Date;
};

export async function listAsFile<Item>(
  heavy: Heavy,
  { query, list, table: { toRows, ...table }, ...file }: Listing<Item>,
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
