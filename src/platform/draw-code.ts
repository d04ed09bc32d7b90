// QR codes, drawn here: what they carry is asked from nobody.

import { encodeQR } from "qr";

/** The quiet edge around a code, in modules, as readers expect it. */
const border = 4;

/** Square modules, and the dark ones of them as the path of an SVG of that size. */
export type DrawnCode = { readonly size: number; readonly path: string };

export function drawCode(text: string): DrawnCode {
  const rows = encodeQR(text, "raw", { ecc: "medium", border });
  const runs = rows.flatMap((row, y) =>
    listRuns(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`),
  );
  return { size: rows.length, path: runs.join("") };
}

/** For a terminal, two rows of modules in a line of text. */
export function printCode(text: string): string {
  return encodeQR(text, "ascii", { ecc: "low", border: 2 });
}

/** Where dark modules begin, and how many follow one another. */
function listRuns(row: readonly boolean[]): (readonly [number, number])[] {
  return row.flatMap((isDark, x) => {
    if (!isDark || row[x - 1] === true) return [];
    const end = row.indexOf(false, x);
    return [[x, (end < 0 ? row.length : end) - x] as const];
  });
}
