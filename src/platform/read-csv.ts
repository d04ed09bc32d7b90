// Reads CSV as banks, portals and spreadsheets write it: any of three delimiters, any line ending, an
// optional byte order mark. The parser is `csv-parse`. It is fed a piece at a time, so that not even
// one endless row holds the event loop. No text makes this throw: a quoting fault is noted on its row.

import { pipeline } from "node:stream/promises";

import { CsvError, type CsvErrorCode, parse } from "csv-parse";

import { noPace, type Pace } from "./heavy/pace.ts";

export type CsvRecord = {
  /** The row number of a spreadsheet: the first record of the file is row 1. */
  readonly row: number;
  /** None where there is a problem. */
  readonly cells: readonly string[];
  readonly problem: string | undefined;
};

/** Blank records are counted, not kept. */
export type CsvRecords = { readonly records: readonly CsvRecord[]; readonly blank: number };

const delimiters = [",", ";", "\t"] as const;
const pieceBytes = 8_192;
/** The parser copies its buffer for every faulty cell, so the longest record bounds that buffer. */
const recordBytesMax = 8_192;
/** As many columns as a spreadsheet has. */
const cellsMax = 16_384;

/** Faults after which the rest of the file cannot be told apart from the row. */
const endingFaults: Partial<Record<CsvErrorCode, string>> = {
  CSV_QUOTE_NOT_CLOSED: "a quotation mark is not closed",
  CSV_MAX_RECORD_SIZE: `is longer than ${recordBytesMax} bytes; a quotation mark may not be closed`,
};

/** Stops after `recordsMax` records. */
export async function readCsv(
  text: string,
  { recordsMax, pace = noPace }: { readonly recordsMax: number; readonly pace?: Pace },
): Promise<CsvRecords> {
  const bytes = Buffer.from(text.replace(/^\uFEFF/, ""));
  const records: CsvRecord[] = [];
  let row = 0;
  const take = (cells: readonly string[], problem: string | undefined) => {
    if (records.length === recordsMax) return;
    row += 1;
    if (problem) records.push({ row, cells: [], problem });
    else if (cells.some((cell) => cell.trim())) records.push({ row, cells, problem });
  };
  let start = 0;
  const parser = parse({
    delimiter: detectDelimiter(text),
    max_record_size: recordBytesMax,
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
    for (let at = 0; at < bytes.length && records.length < recordsMax; at += pieceBytes) {
      yield bytes.subarray(at, at + pieceBytes);
      if (pace.isOver()) await pace.turn();
    }
  }
  try {
    await pipeline(cutPieces, parser);
  } catch (error) {
    const problem = error instanceof CsvError ? endingFaults[error.code] : undefined;
    if (problem === undefined) throw error;
    take([], problem);
  }
  return { records, blank: row - records.length };
}

/**
 * With `relax_quotes` the parser returns `"a"b` as it stands. Such a cell begins with a quotation
 * mark, as does the well quoted `"""a"""`; they differ in how they were written.
 */
function findFault(cells: readonly string[], raw: Buffer): string | undefined {
  if (cells.length > cellsMax) return `has more than ${cellsMax} cells`;
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
