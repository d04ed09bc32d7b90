import { UsageError } from "./command.ts";

/** The rows of a small CSV file by the names in its first line. Quoted cells may hold commas. */
export function csvRows(
  text: string,
  columns: readonly string[],
): Readonly<Record<string, string>>[] {
  const [names = [], ...lines] = cellsOf(text.replace(/^\uFEFF/, ""));
  const missing = columns.filter((column) => !names.includes(column));
  if (missing.length > 0) throw new UsageError(`the file lacks the column ${missing.join(", ")}`);
  return lines.map((cells, index) => {
    if (cells.length !== names.length) {
      throw new UsageError(`line ${index + 2} has ${cells.length} cells, not ${names.length}`);
    }
    return Object.fromEntries(names.map((name, at) => [name, (cells[at] ?? "").trim()]));
  });
}

function cellsOf(text: string): string[][] {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  const lines: string[][] = [];
  let line: string[] = [];
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const found = cell.exec(text);
    if (!found) throw new UsageError(`line ${lines.length + 1} is not CSV at character ${at + 1}`);
    line.push((found[1]?.replaceAll('""', '"') ?? found[2] ?? "").trim());
    if (found[3] === ",") {
      if (cell.lastIndex === text.length) line.push("");
      else continue;
    }
    if (line.some((content) => content !== "")) lines.push(line);
    line = [];
  }
  return lines;
}
