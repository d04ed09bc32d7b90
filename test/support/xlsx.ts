// A workbook as another program reads it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

export type XlsxCell = {
  /** `n` for a number, `inlineStr` for text. */
  readonly kind: string;
  readonly value: string;
  readonly formula: boolean;
  /** The number format. */
  readonly format: string;
  /** Whether it stays text when somebody edits it. */
  readonly guarded: boolean;
};

export type Xlsx = {
  readonly sheet: string;
  readonly title: string;
  readonly frozen: boolean;
  readonly widths: readonly number[];
  /** Under the names of the first row. */
  readonly rows: readonly Readonly<Record<string, XlsxCell>>[];
};

export function readXlsx(bytes: Uint8Array): Xlsx {
  const script = join(import.meta.dirname, "read-xlsx.py");
  const read = spawnSync("python3", [script], { input: bytes, encoding: "utf8", maxBuffer: 1e9 });
  assert.equal(read.status, 0, read.stderr);
  const { rows, ...book } = JSON.parse(read.stdout) as Xlsx;
  const [heading = {}, ...below] = rows;
  const named = below.map((cells) =>
    Object.fromEntries(
      Object.entries(cells).map(([column, cell]) => [heading[column]?.value ?? column, cell]),
    ),
  );
  return { ...book, rows: named };
}

/** The time of a cell as a spreadsheet shows it. */
export function showTime({ value }: XlsxCell): string {
  const ms = Math.round((Number(value) - 25_569) * 86_400_000);
  return new Date(ms).toISOString().slice(0, 23);
}
