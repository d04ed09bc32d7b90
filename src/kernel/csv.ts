// Tables as text for spreadsheets. A cell that a spreadsheet would take for a formula is text again
// behind an apostrophe, because names in it were chosen by others.

import { showLines } from "./text.ts";

export type Cell = string | number | null;

const formulaStart = /^[=+\-@\t\r]/;

/** Lines of cells, the first of them the names. A number is one; every other cell is guarded. */
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

/** `-12.50` is a number to every spreadsheet and no formula. */
function isAmount(text: string): boolean {
  return /^-?\d+\.\d{2}$/.test(text);
}
