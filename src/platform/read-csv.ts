// Reads CSV as banks, portals and spreadsheets write it: any of three delimiters, any line ending, an
// optional byte order mark. The parser is `csv-parse`. It is fed a piece at a time, so that not even
// one endless row holds the event loop. No text makes this throw: a quoting fault is noted on its row.

import { pipeline } from "node:stream/promises";

import { CsvError, parse } from "csv-parse";

import { noPace, type Pace } from "./heavy/pace.ts";

type CsvRecord = {
  /** The row number of a spreadsheet: the first record of the file is row 1. */
  readonly row: number;
  /** None where there is a problem. */
  readonly cells: readonly string[];
  readonly problem: string | undefined;
};

/** Blank records are counted, not kept. */
type CsvRecords = { readonly records: readonly CsvRecord[]; readonly blank: number };

const delimiters = [",", ";", "\t"] as const;
const pieceBytes = 4_096;
/**
 * A row as it is written. It bounds the buffer that the parser copies for every faulty cell, and the
 * number of cells.
 */
const rowBytesMax = 8_192;
const tooLong = `is longer than ${rowBytesMax} bytes; a quotation mark may not be closed`;

/** Stops after `recordsMax` records. */
export async function readCsv(
  text: string,
  { recordsMax, pace = noPace }: { readonly recordsMax: number; readonly pace?: Pace },
): Promise<CsvRecords> {
  const bytes = Buffer.from(text.replace(/^\uFEFF/, ""));
  const records: CsvRecord[] = [];
  let row = 0;
  let start = 0;
  let isOver = false;
  const take = (cells: readonly string[], problem: string | undefined) => {
    if (isOver) return;
    row += 1;
    if (problem) records.push({ row, cells: [], problem });
    else if (cells.some((cell) => cell.trim())) records.push({ row, cells, problem });
    isOver = problem === tooLong || records.length === recordsMax;
  };
  const parser = parse({
    delimiter: detectDelimiter(text),
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    relax_quotes: true,
    on_record: (cells, { bytes: end }) => {
      take(cells, findFault(cells, bytes.subarray(start, end)));
      start = end;
      return null; // The stream has nothing to hand on.
    },
  });
  async function* cutPieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      yield bytes.subarray(at, at + pieceBytes);
      if (at - start > rowBytesMax) take([], tooLong);
      if (pace.isOver()) await pace.turn();
      if (isOver) return;
    }
  }
  try {
    await pipeline(cutPieces, parser);
  } catch (error) {
    if (!(error instanceof CsvError && error.code === "CSV_QUOTE_NOT_CLOSED")) throw error;
    take([], bytes.length - start > rowBytesMax ? tooLong : "a quotation mark is not closed");
  }
  return { records, blank: row - records.length };
}

/**
 * With `relax_quotes` the parser returns `"a"b` as it stands. Such a cell begins with a quotation
 * mark, as does the well quoted `"""a"""`; they differ in how they were written.
 */
function findFault(cells: readonly string[], raw: Buffer): string | undefined {
  if (raw.length > rowBytesMax) return tooLong;
  if (!cells.some((cell) => cell.startsWith('"'))) return undefined;
  const written = raw.toString();
  let at = 0;
  for (const cell of cells) {
    const expected = written[at] === '"' ? `"${cell.replaceAll('"', '""')}"` : cell;
    if (!written.startsWith(expected, at)) return "text follows a closing quotation mark";
    at += expected.length + 1;
  }
  return undefined;
}

/** The delimiter that splits the heading into the most cells. */
function detectDelimiter(text: string): string {
  const heading = text.slice(0, 4_096).split(/[\r\n]/, 1)[0] ?? "";
  const count = (delimiter: string) => heading.split(delimiter).length;
  return delimiters.reduce((best, next) => (count(next) > count(best) ? next : best));
}
