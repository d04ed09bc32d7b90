// Values on their way to PostgreSQL. Sets travel as arrays: the driver escapes those element by
// element, and a set has thousands of elements, so they are written here.
//
// JSON quotes a text as PostgreSQL does within an array, with a backslash before a quote and before a
// backslash, and writes numbers, booleans and null alike. They part at what JSON has a letter or a
// number for, such as \n: arrays with such characters are escaped one by one.

/** As it goes over the wire: text, or bytes for a bytea. */
export type WireValue = string | Buffer | null;

/** What JSON may have written by a letter or a number; also found behind a backslash of the text. */
const lettered = /\\[bfnrtu]/;
const needsEscape = /["\\]/g;

export function wireValue(value: unknown): WireValue {
  if (Array.isArray(value)) return arrayLiteral(value);
  if (Buffer.isBuffer(value)) return value;
  const cell = cellOf(value);
  return cell === null ? null : String(cell);
}

/** An array as PostgreSQL reads it. */
export function arrayLiteral(values: readonly unknown[]): string {
  const cells = values.map(cellOf);
  const json = JSON.stringify(cells);
  if (lettered.test(json)) return `{${cells.map(escaped).join(",")}}`;
  return `{${json.slice(1, -1)}}`;
}

const plainField = /^[^"\\(),\s]+$/;
const needsDoubling = /["\\]/g;

/** A row of a composite type, written as PostgreSQL itself writes it. */
export function recordLiteral(fields: readonly unknown[]): string {
  const texts = fields.map((field) => {
    const cell = cellOf(field);
    if (cell === null) return "";
    const text = String(cell);
    return plainField.test(text) ? text : `"${text.replaceAll(needsDoubling, "$&$&")}"`;
  });
  return `(${texts.join(",")})`;
}

type Cell = string | number | boolean | null;

function cellOf(value: unknown): Cell {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint") return String(value);
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return textOf(value);
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  // Rows of one length are all that PostgreSQL would take.
  if (Array.isArray(value)) throw new Error("an array of arrays does not travel");
  return JSON.stringify(value);
}

let lastMs = Number.NaN;
let lastText = "";

/** A set is mostly of one instant. */
function textOf(instant: Date): string {
  const ms = instant.getTime();
  if (ms !== lastMs) {
    lastText = isoText(instant);
    lastMs = ms;
  }
  return lastText;
}

/** PostgreSQL has no year 0 and no sign: years before the first are counted back from it. */
function isoText(instant: Date): string {
  const year = instant.getUTCFullYear();
  const text = instant.toISOString();
  const withinYear = text.slice(text.indexOf("-", 1));
  if (year < 1) return `${String(1 - year).padStart(4, "0")}${withinYear} BC`;
  return year > 9_999 ? `${year}${withinYear}` : text;
}

function escaped(cell: Cell): string {
  return typeof cell === "string" ? `"${cell.replaceAll(needsEscape, "\\$&")}"` : String(cell);
}
