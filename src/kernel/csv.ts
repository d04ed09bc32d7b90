// CSV for spreadsheets and for banks. An apostrophe escapes what a spreadsheet would run as a formula,
// because tenants choose the names in it.

import { showLines } from "./text.ts";

export type Cell = string | number | null;

/**
 * What begins a formula, at the start of a cell or behind a separator inside it: a spreadsheet whose
 * separator is `;` cuts `Acme;=1+1` into two cells, and one that is told of no quotation marks cuts at
 * a comma or a line end too. Some spreadsheets read the full-width signs like the plain ones.
 */
const formulaSign = /(?<=(?:^|[,;|\t\r\n])["\s]*)[=+\-@\uff1d\uff0b\uff0d\uff20]/g;
const formulaStart = /^[=+\-@\t\r]/;

/** For people. The first row holds the column names. Numbers stay numbers; other cells are escaped. */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  return writeRows(rows, (shown) => {
    const guarded = shown.replaceAll(formulaSign, "'$&");
    return /^[\t\r]/.test(guarded) ? `'${guarded}` : guarded;
  });
}

/** For a bank's program, which takes an apostrophe inside a name for a part of the name. */
export function bankCsvText(rows: readonly (readonly Cell[])[]): string {
  return writeRows(rows, (shown) => (formulaStart.test(shown) ? `'${shown}` : shown));
}

function writeRows(
  rows: readonly (readonly Cell[])[],
  escapeFormulas: (shown: string) => string,
): string {
  return rows
    .map((cells) => `${cells.map((cell) => writeCell(cell, escapeFormulas)).join(",")}\r\n`)
    .join("");
}

function writeCell(cell: Cell, escapeFormulas: (shown: string) => string): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const shown = showLines(cell);
  const guarded = isAmount(shown) ? shown : escapeFormulas(shown);
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** A spreadsheet reads `-12.50` as a number, not as a formula. */
function isAmount(text: string): boolean {
  return /^-?\d+\.\d{2}$/.test(text);
}
