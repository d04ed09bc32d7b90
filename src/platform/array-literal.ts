// Sets travel to PostgreSQL as arrays. The driver escapes an array element by element; a set has
// thousands of elements, so arrays are written here and handed over as text.
//
// JSON quotes a text as PostgreSQL does within an array, with a backslash before a quote and before a
// backslash, and writes numbers, booleans and null alike. They part at what JSON has a letter or a
// number for, such as \n: arrays with such characters are escaped one by one.

/** What JSON may have written by a letter or a number; also found behind a backslash of the text. */
const lettered = /\\[bfnrtu]/;
const needsEscape = /["\\]/g;

/** An array as PostgreSQL reads it; undefined for what the driver had better write itself. */
export function arrayLiteral(values: readonly unknown[]): string | undefined {
  const cells: Cell[] = [];
  for (const value of values) {
    const cell = cellOf(value);
    if (cell === undefined) return undefined;
    cells.push(cell);
  }
  const json = JSON.stringify(cells);
  if (lettered.test(json)) return `{${cells.map(escaped).join(",")}}`;
  return `{${json.slice(1, -1)}}`;
}

type Cell = string | number | boolean | null;

function cellOf(value: unknown): Cell | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return value instanceof Date ? textOf(value) : undefined;
}

let lastMs = Number.NaN;
let lastText = "";

/** A set is mostly of one instant. */
function textOf(instant: Date): string {
  const ms = instant.getTime();
  if (ms !== lastMs) {
    lastText = instant.toISOString();
    lastMs = ms;
  }
  return lastText;
}

function escaped(cell: Cell): string {
  return typeof cell === "string" ? `"${cell.replaceAll(needsEscape, "\\$&")}"` : String(cell);
}
