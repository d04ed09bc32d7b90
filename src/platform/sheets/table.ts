// A table for spreadsheets. Its columns have kinds, from which CSV and .xlsx files are written alike.

import { csvText } from "../../kernel/csv.ts";
import { rupeesPlain } from "../../kernel/money.ts";

/**
 *   text      opaque text: never a number, a date or a formula
 *   count     a whole number
 *   money     paise, written as rupees
 *   percent   basis points, written as per cent
 *   time      an IST timestamp
 */
export type ColumnKind = "text" | "count" | "money" | "percent" | "time";

export type TableColumn = {
  readonly name: string;
  readonly kind: ColumnKind;
  /** In characters; the usual width of its kind unless given. */
  readonly width?: number;
};

export type TableCell = string | number | bigint | null;
export type TableRow = readonly TableCell[];

/** A cell as it is written: amounts as exact decimal text. */
export type WrittenCell = string | number | null;

export type SheetTable = {
  /** The name of the sheet. */
  readonly sheet: string;
  /** The title of the document. */
  readonly title: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly TableRow[];
  /** Below the rows, in bold. */
  readonly total?: TableRow | undefined;
};

export function writeCells(columns: readonly TableColumn[], row: TableRow): WrittenCell[] {
  return columns.map(({ kind }, at) => {
    const cell = row[at] ?? null;
    if (typeof cell === "bigint" || typeof cell === "number") {
      return kind === "count" ? Number(cell) : rupeesPlain(cell);
    }
    return cell;
  });
}

export function writeCsvHeading(columns: readonly TableColumn[]): string {
  return csvText([columns.map(({ name }) => name)]);
}

export function writeCsvRow(columns: readonly TableColumn[], row: TableRow): string {
  return csvText([writeCells(columns, row)]);
}
