// What commands print: JSON with raw values for programs, tables in rupees and names for people.

import { exactJson } from "../src/kernel/json.ts";
import { rupeesText } from "../src/kernel/money.ts";
import { escapeControls, showLine } from "../src/kernel/text.ts";

type Row = Readonly<Record<string, unknown>>;

type PrintOptions = {
  readonly json: boolean;
  /** The names of firms, by their ids; a table shows them in the place of the ids. */
  readonly names?: Readonly<Record<string, string>>;
};

/** JSON for programs, a table for people. */
export function print(rows: readonly Row[], options: PrintOptions): void {
  if (options.json) return printJson(rows);
  if (rows.length === 0) return write("none");
  for (const line of layTable(listCells(rows, options), process.stdout.columns)) write(line);
}

/** The cells of a table under their headings: amounts in rupees, and firms by their names. */
export function listCells(
  rows: readonly Row[],
  { names }: Pick<PrintOptions, "names"> = {},
): string[][] {
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const heads = fields.map((field) =>
    toHead(
      field,
      rows.map((row) => row[field] ?? null),
      names,
    ),
  );
  return [heads, ...rows.map((row) => fields.map((field) => toShown(field, row[field], names)))];
}

const gap = "  ";

/**
 * The lines of a table. Where it is wider than the terminal, its widest columns break between words; a
 * word, such as an id, stays whole.
 */
export function layTable(
  rows: readonly (readonly string[])[],
  terminalWidth = Number.POSITIVE_INFINITY,
): string[] {
  const longest = (at: number, split: (cell: string) => readonly string[]) =>
    Math.max(...rows.flatMap((row) => split(row[at] ?? "").map((text) => text.length)));
  const columns = (rows[0] ?? []).map((_, at) => ({
    width: longest(at, (cell) => [cell]),
    narrowest: longest(at, (cell) => cell.split(" ")),
  }));
  let excess =
    columns.reduce((sum, { width }) => sum + width + gap.length, -gap.length) - terminalWidth;
  for (; excess > 0; excess -= 1) {
    const [widest] = columns
      .filter(({ width, narrowest }) => width > narrowest)
      .toSorted((one, other) => other.width - one.width);
    if (!widest) break;
    widest.width -= 1;
  }
  const widths = columns.map(({ width }) => width);
  return rows.flatMap((row) => {
    const cells = row.map((cell, at) => breakWords(cell, widths[at] ?? 0));
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((lines, at) => (lines[line] ?? "").padEnd(widths[at] ?? 0))
        .join(gap)
        .trimEnd(),
    );
  });
}

function breakWords(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

export function printOne(row: Row, options: PrintOptions): void {
  if (options.json) return printJson(row);
  const [heads = [], values = []] = listCells([spreadParts(row)], options);
  const widest = Math.max(...heads.map((name) => name.length));
  for (const [at, name] of heads.entries()) write(`${name.padEnd(widest)}  ${values[at]}`);
}

/** A part of what is shown is shown field by field, under its own name and the field's. */
function spreadParts(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
      if (!isPart(value)) return [[name, value]];
      const fields = Object.entries(value);
      if (fields.length === 0) return [[name, null]];
      return fields.map(([field, own]) => [`${name} ${field}`, own]);
    }),
  );
}

function isPart(value: unknown): value is Row {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

function printJson(value: unknown): void {
  write(escapeControls(exactJson(value)));
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A column has one heading, whatever of it is unknown: amounts and firms are named without their unit. */
function toHead(field: string, values: readonly unknown[], names: PrintOptions["names"]): string {
  if (values.every((value) => isAmount(field, value))) return toAmountName(field);
  const isOfFirm = names !== undefined && /(^|_)(firm|desk)_id$/.test(field);
  const isNamed = values.some((value) => findName(field, value, names) !== undefined);
  return isOfFirm || isNamed ? field.replace(/_id$/, "") : field;
}

function toShown(field: string, value: unknown, names: PrintOptions["names"]): string {
  if (isAmount(field, value) && value !== null) return `₹${rupeesText(value)}`;
  const name = findName(field, value, names);
  return name === undefined ? toCell(value) : showLine(name);
}

/** What a row is itself called by stays its id. */
function findName(field: string, value: unknown, names: PrintOptions["names"]): string | undefined {
  return typeof value === "string" && field !== "id" ? names?.[value] : undefined;
}

/** Of a column of amounts some may be unknown. */
function isAmount(name: string, value: unknown): value is number | bigint | null {
  const isMoney = name === "paise" || name.endsWith("_paise");
  return isMoney && (value === null || typeof value === "bigint" || Number.isInteger(value));
}

function toAmountName(name: string): string {
  return name === "paise" ? "amount" : name.replace(/_paise$/, "");
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return "-";
  const items = Array.isArray(value)
    ? value.map((item) => (isStep(item) ? showStep(item) : item))
    : [value];
  if (Array.isArray(value) && items.every((item) => typeof item !== "object")) {
    return items.length === 0 ? "-" : showLine(items.join(","));
  }
  return showLine(typeof value === "string" ? value : exactJson(value));
}

/** A part of a history. */
type HistoryStep = { readonly status: string; readonly at: string; readonly reason: string | null };

function isStep(item: unknown): item is HistoryStep {
  return typeof item === "object" && item !== null && "status" in item && "at" in item;
}

function showStep({ status, at, reason }: HistoryStep): string {
  return `${status} ${at}${reason === null ? "" : ` (${reason})`}`;
}
