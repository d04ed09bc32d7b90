// Encodes values for PostgreSQL. Sets are sent as arrays of thousands of elements, and the driver
// escapes those one by one, so arrays are encoded here.
//
// JSON.stringify does the work of most arrays: inside an array literal PostgreSQL escapes quotes and
// backslashes as JSON does, and writes numbers, booleans and null alike. They differ in control
// characters, which JSON writes as \n or \u0001: arrays with such escapes are escaped one by one.

import { exactJson } from "../../kernel/json.ts";

/** The encoded form: text, or bytes for a bytea. */
export type WireValue = string | Buffer | null;

/** Escapes of JSON that PostgreSQL does not know; a false match after an escaped backslash is harmless. */
const jsonOnlyEscape = /\\[bfnrtu]/;
const needsEscape = /["\\]/g;

export function wireValue(value: unknown): WireValue {
  if (Array.isArray(value)) return arrayLiteral(value);
  if (Buffer.isBuffer(value)) return value;
  const cell = toCell(value);
  return cell === null ? null : String(cell);
}

/** The array literal of PostgreSQL. */
export function arrayLiteral(values: readonly unknown[]): string {
  const cells = values.map(toCell);
  const json = exactJson(cells);
  if (jsonOnlyEscape.test(json)) return `{${cells.map(escapeCell).join(",")}}`;
  return `{${json.slice(1, -1)}}`;
}

/** The server puts quotes where there is a space of ASCII, and not around others. */
const plainField = /^[^"\\(), \t\n\r\v\f]+$/;
const needsDoubling = /["\\]/g;

/** The literal of a row of a composite type, in the form that PostgreSQL prints. */
export function recordLiteral(fields: readonly unknown[]): string {
  const texts = fields.map((field) => {
    const cell = toCell(field);
    if (cell === null) return "";
    const text = String(cell);
    return plainField.test(text) ? text : `"${text.replaceAll(needsDoubling, "$&$&")}"`;
  });
  return `(${texts.join(",")})`;
}

/** The fields of the records of an array, as PostgreSQL prints an array of a composite type. */
export function readRecords(text: string): (string | null)[][] {
  if (text === "{}") return [];
  // Without a backslash no field has quotes; a record of several fields has them around it.
  if (!text.includes("\\") && text.startsWith('{"(') && text.endsWith(')"}')) {
    return text
      .slice(3, -3)
      .split(')","(')
      .map((record) => record.split(",").map((field) => (field === "" ? null : field)));
  }
  return splitQuoted(text.slice(1, -1)).map((record) => splitQuoted((record ?? "").slice(1, -1)));
}

/** Splits what PostgreSQL has put commas between; what is empty and has no quotes is null. */
function splitQuoted(text: string): (string | null)[] {
  const parts: (string | null)[] = [];
  let part = "";
  let wasQuoted = false;
  let isQuoted = false;
  for (let at = 0; at <= text.length; at++) {
    const sign = text[at];
    if (sign === undefined || (sign === "," && !isQuoted)) {
      parts.push(part === "" && !wasQuoted ? null : part);
      part = "";
      wasQuoted = false;
    } else if (sign === "\\") part += text[++at] ?? "";
    else if (sign !== '"') part += sign;
    else if (isQuoted && text[at + 1] === '"') part += text[++at];
    else {
      isQuoted = !isQuoted;
      wasQuoted = true;
    }
  }
  return parts;
}

type Cell = string | number | boolean | null;

function toCell(value: unknown): Cell {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint") return String(value);
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return formatInstant(value);
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  // PostgreSQL accepts nested arrays of one length only; lists in rows are sent by `table.ts`.
  if (Array.isArray(value)) throw new Error("an array of arrays cannot be sent");
  return exactJson(value);
}

let lastMs = Number.NaN;
let lastText = "";

/** Formats an instant; remembers the last one, because most instants of a set are equal. */
function formatInstant(instant: Date): string {
  const ms = instant.getTime();
  if (ms !== lastMs) {
    lastText = isoText(instant);
    lastMs = ms;
  }
  return lastText;
}

/** PostgreSQL has no year 0 and no negative years: it counts years before 1 as BC. */
function isoText(instant: Date): string {
  const year = instant.getUTCFullYear();
  const text = instant.toISOString();
  const withinYear = text.slice(text.indexOf("-", 1));
  if (year < 1) return `${String(1 - year).padStart(4, "0")}${withinYear} BC`;
  return year > 9_999 ? `${year}${withinYear}` : text;
}

function escapeCell(cell: Cell): string {
  return typeof cell === "string" ? `"${cell.replaceAll(needsEscape, "\\$&")}"` : String(cell);
}
