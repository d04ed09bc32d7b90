// What commands print: JSON with raw values for programs, tables in rupees and names for people.

import { exactJson } from "../src/kernel/json.ts";
import { rupeesText } from "../src/kernel/money.ts";
import { escapeControls, showLine } from "../src/kernel/text.ts";

type Row = Readonly<Record<string, unknown>>;

export type PrintOptions = {
  readonly json: boolean;
  /** The names of firms, by their ids; a table shows them in the place of the ids. */
  readonly names?: Readonly<Record<string, string>>;
};

/** JSON for programs, a table for people. */
export function print(rows: readonly Row[], options: PrintOptions): void {
  if (options.json) return printJson(rows);
  if (rows.length === 0) return write("none");
  const shownRows = rows.map((row) => toReadable(row, options));
  const names = [...new Set(shownRows.flatMap((row) => Object.keys(row)))];
  const cells = [names, ...shownRows.map((row) => names.map((name) => row[name] ?? "-"))];
  const widths = names.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  for (const line of cells) {
    write(
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}

export function printOne(row: Row, options: PrintOptions): void {
  if (options.json) return printJson(row);
  const readable = Object.entries(toReadable(row, options));
  const widest = Math.max(...readable.map(([name]) => name.length));
  for (const [name, value] of readable) write(`${name.padEnd(widest)}  ${value}`);
}

function printJson(value: unknown): void {
  write(escapeControls(exactJson(value)));
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Amounts in rupees, under their name without its unit; firms by their names. */
function toReadable(row: Row, { names }: PrintOptions): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (isAmount(name, value)) {
        return [toAmountName(name), value === null ? toCell(value) : `₹${rupeesText(value)}`];
      }
      // What a row is itself called by stays its id.
      const known = typeof value === "string" && name !== "id" ? names?.[value] : undefined;
      if (known !== undefined) return [name.replace(/_id$/, ""), showLine(known)];
      const isOfFirm = names !== undefined && /(^|_)(firm|desk)_id$/.test(name);
      return [isOfFirm ? name.replace(/_id$/, "") : name, toCell(value)];
    }),
  );
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
type Step = { readonly status: string; readonly at: string; readonly reason: string | null };

function isStep(item: unknown): item is Step {
  return typeof item === "object" && item !== null && "status" in item && "at" in item;
}

function showStep({ status, at, reason }: Step): string {
  return `${status} ${at}${reason === null ? "" : ` (${reason})`}`;
}
