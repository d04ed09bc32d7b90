// Seals anew with the first of two keys what was sealed with the second, wherever slices keep it. A row
// that was done is known by its seal, so whoever is interrupted begins again and goes on where it was;
// a row that changed meanwhile is left to the next pass.

import { isSealedAnew, open, seal } from "./seal.ts";

export type SealedRow = {
  /** Orders the rows of its place. */
  readonly id: string;
  readonly sealed: Buffer;
  readonly purpose: string;
};

export type ResealedRow<Row extends SealedRow = SealedRow> = {
  readonly row: Row;
  readonly text: string;
  readonly sealed: Buffer;
};

/** One column of one table. */
export type SealedPlace<Row extends SealedRow = SealedRow> = {
  readonly name: string;
  /** The next rows after an id, in order. */
  readonly list: (after: string, limit: number) => Promise<readonly Row[]>;
  /** Each only where it is still sealed as it was. */
  readonly set: (rows: readonly ResealedRow<Row>[]) => Promise<void>;
};

export type ResealProgress = {
  readonly place: string;
  readonly looked: number;
  readonly resealed: number;
  /** Rows that neither key opens. */
  readonly unreadable: readonly string[];
};

const rowsPerPage = 200;

/** One pass over a place; answers after every page with what it has done so far. */
export async function* resealPlace<Row extends SealedRow>(
  { name, list, set }: SealedPlace<Row>,
  sealKey: Buffer,
): AsyncGenerator<ResealProgress> {
  const unreadable: string[] = [];
  let [looked, resealed, after] = [0, 0, ""];
  for (;;) {
    const rows = await list(after, rowsPerPage);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    const due = rows.flatMap((row): ResealedRow<Row>[] => {
      if (isSealedAnew(row.sealed, row.purpose, sealKey)) return [];
      const text = openIfAble(row, sealKey);
      if (text !== undefined) return [{ row, text, sealed: seal(text, row.purpose, sealKey) }];
      unreadable.push(row.id);
      return [];
    });
    if (due.length > 0) await set(due);
    looked += rows.length;
    resealed += due.length;
    yield { place: name, looked, resealed, unreadable };
  }
}

function openIfAble({ sealed, purpose }: SealedRow, sealKey: Buffer): string | undefined {
  try {
    return open(sealed, purpose, sealKey);
  } catch {
    return undefined;
  }
}
