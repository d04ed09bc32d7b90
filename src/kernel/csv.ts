// CSV for spreadsheets. An apostrophe escapes cells that a spreadsheet would run as formulas, because
// tenants choose the names in them.

import { showLines } from "./text.ts";

export type Cell = string | number | null;

const formulaStart = /^[=+\-@\t\r]/;

/** The first row holds the column names. Numbers stay numbers; every other cell is escaped. */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((cells) => `${cells.map(cellText).join(",")}\r\n`).join("");
}

function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const shown = showLines(cell);
  const guarded = formulaStart.test(shown) && !isAmount(shown) ? `'${shown}` : shown;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** A spreadsheet reads `-12.50` as a number, not as a formula. */
function isAmount(text: string): boolean {
  return /^-?\d+\.\d{2}$/.test(text);
}
