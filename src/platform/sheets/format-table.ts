// A table as a file: CSV, or .xlsx by a thread. Its rows are written in pieces, so that a long one does
// not hold the event loop.

import { exactJson } from "../../kernel/json.ts";
import type { Heavy, HeavyOptions } from "../heavy/kinds.ts";
import { mapPaced, type Pace } from "../heavy/pace.ts";
import type { FileAnswer } from "../http/documents.ts";
import {
  type SheetTable,
  type TableColumn,
  type TableRow,
  writeCells,
  writeCsvHeading,
  writeCsvRow,
} from "./table.ts";
import { writeWorkbook } from "./write-xlsx.ts";

export const tableFormats = ["csv", "xlsx"] as const;
export type TableFormat = (typeof tableFormats)[number];

type TableFile = {
  readonly format: TableFormat;
  /** The file's name without its ending. */
  readonly name: string;
  readonly dated: Date;
};

/** Rows that are handed to a thread together; some hundred microseconds of work. */
const blockRows = 50;

/** A line of JSON for each row, as bytes: they are copied to a thread far faster than cells. */
function writeBlock(columns: readonly TableColumn[], block: readonly TableRow[]): Uint8Array {
  const lines = block.map((row) => `${exactJson(writeCells(columns, row))}\n`);
  return Buffer.from(lines.join(""));
}

export async function formatTable(
  heavy: Heavy,
  { columns, rows, sheet, title, total }: SheetTable,
  { format, name: stem, dated, ...asked }: TableFile & HeavyOptions,
): Promise<FileAnswer> {
  const name = `${stem}.${format}`;
  if (format === "csv") {
    const write = async (pace: Pace) => {
      const lines = await mapPaced(rows, (row) => writeCsvRow(columns, row), pace);
      const last = total ? writeCsvRow(columns, total) : "";
      return writeCsvHeading(columns) + lines.join("") + last;
    };
    const content = await heavy.inPieces("table text", write, asked);
    return { type: "text/csv; charset=utf-8; header=present", name, content };
  }
  const blocks: TableRow[][] = [];
  for (let at = 0; at < rows.length; at += blockRows) blocks.push(rows.slice(at, at + blockRows));
  const write = (pace: Pace) => mapPaced(blocks, (block) => writeBlock(columns, block), pace);
  const lines = await heavy.inPieces("table text", write, asked);
  const last = total && writeCells(columns, total);
  const workbook = { sheet, title, dated, columns, lines, total: last };
  const bytes = await heavy.run(writeWorkbook, workbook, asked);
  return {
    type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    name,
    content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  };
}
