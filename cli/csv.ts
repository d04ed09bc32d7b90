import { readCsv } from "../src/platform/read-csv.ts";
import { UsageError } from "./command.ts";

const rowsMax = 100_000;

type Row = {
  /** The row number of a spreadsheet. */
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
};

/** The rows of a CSV file by the names in its first line; a row that is not whole refuses the file. */
export async function readRows(text: string, columns: readonly string[]): Promise<Row[]> {
  const { records } = await readCsv(text, { recordsMax: rowsMax + 2 });
  const faulty = records.find(({ problem }) => problem);
  if (faulty) throw new UsageError(`line ${faulty.row}: ${faulty.problem}`);
  if (records.length > rowsMax + 1) throw new UsageError(`the file has more than ${rowsMax} rows`);
  const [heading, ...rows] = records;
  const names = heading?.cells.map((name) => name.trim()) ?? [];
  const missing = columns.filter((column) => !names.includes(column));
  if (missing.length > 0) throw new UsageError(`the file lacks the column ${missing.join(", ")}`);
  return rows.map(({ row, cells }) => {
    if (cells.length !== names.length) {
      throw new UsageError(`line ${row} has ${cells.length} cells, not ${names.length}`);
    }
    const named = names.map((name, at) => [name, (cells[at] ?? "").trim()]);
    return { line: row, cells: Object.fromEntries(named) };
  });
}
