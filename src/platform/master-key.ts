// The master key, from which the keys of all purposes are derived, and its rotation.
//
// A rotation reseals every sealed value with the new key. A resealed row is recognized by its seal, so
// an interrupted rotation starts again and skips those; a row that changed during a pass is left to
// the next pass.

import { hkdfSync, randomBytes } from "node:crypto";
import { chmod, copyFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Unusable } from "./http/errors.ts";
import { isSealedAnew, open, seal } from "./seal.ts";
import type { Part } from "./postgres/statement.ts";
import { bytes, shape, text } from "./postgres/table.ts";

/**
 * The key of this DATA_DIR. It is created only while no data depends on it: a new key in place of a
 * lost one would hide that the sealed data is lost.
 */
export async function localMasterKey(
  dataDir: string,
  { mayMake }: { readonly mayMake: boolean },
): Promise<Buffer> {
  const path = join(dataDir, "master.key");
  if (mayMake) await makeKey(path);
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) {
    throw new Unusable(
      `${path} is missing, and the data in ${dataDir} was sealed with it: restore it`,
    );
  }
  await chmod(path, 0o600);
  if (!keyForm.test(text)) throw new Unusable(`${path} does not hold 64 hex digits`);
  return Buffer.from(text.trim(), "hex");
}

const keyForm = /^[0-9a-f]{64}\s*$/;

async function makeKey(path: string): Promise<void> {
  const text = `${randomBytes(32).toString("hex")}\n`;
  await writeFile(path, text, { flag: "wx", mode: 0o600, flush: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}

const nextName = "master.key.next";

/** The next key of a DATA_DIR during a rotation. */
export async function nextLocalKey(dataDir: string): Promise<Buffer | undefined> {
  const path = join(dataDir, nextName);
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  if (!keyForm.test(text)) throw new Unusable(`${path} does not hold 64 hex digits`);
  return Buffer.from(text.trim(), "hex");
}

/** Created once: an interrupted rotation continues with the same key. */
export async function makeNextLocalKey(dataDir: string): Promise<void> {
  await makeKey(join(dataDir, nextName));
}

/** Installs the next key; the former one is kept beside it, for older backups. */
export async function installNextLocalKey(dataDir: string, day: string): Promise<void> {
  const path = join(dataDir, "master.key");
  await copyFile(path, `${path}.until-${day}`);
  await chmod(`${path}.until-${day}`, 0o600);
  await rename(join(dataDir, nextName), path);
}

/** The checks in the database: of the current key, of the next one, and of retired ones. */
export type KeptChecks = {
  readonly key_check: Buffer;
  readonly next_key_check: Buffer | null;
  readonly retired: readonly Buffer[];
};

/** Whether a process with these keys may run, or begins a rotation; throws when it must not run. */
export function judgeMasterKeys(
  kept: KeptChecks,
  {
    main,
    other,
    name,
  }: { readonly main: Buffer; readonly other: Buffer | undefined; name: string },
): "usable" | "begins" {
  const { key_check, next_key_check, retired } = kept;
  const isMain = (check: Buffer | null) => check?.equals(masterKeyCheck(main)) ?? false;
  const isOther = (check: Buffer | null) =>
    other !== undefined && (check?.equals(masterKeyCheck(other)) ?? false);
  if (isMain(key_check)) {
    if (next_key_check === null || isOther(next_key_check)) return "usable";
    throw new Unusable(`${name} is being replaced: give the new key as MASTER_KEY_OTHER`);
  }
  if (isOther(key_check)) {
    if (retired.some(isMain)) {
      throw new Unusable(`${name} was replaced before: make MASTER_KEY_OTHER the MASTER_KEY`);
    }
    if (next_key_check === null) return "begins";
    if (isMain(next_key_check)) return "usable";
    throw new Unusable(`the master key is being replaced by another one than ${name}`);
  }
  if (isMain(next_key_check)) {
    throw new Unusable(
      `${name} is taking the place of another key: give that one as MASTER_KEY_OTHER`,
    );
  }
  throw new Unusable(`${name} is not the key that the data in this database was sealed with`);
}

/** A derived value that the database keeps, to recognize the key that sealed its data. */
export function masterKeyCheck(masterKey: Buffer): Buffer {
  return keyFor("check", masterKey);
}

export function keyFor(purpose: string, masterKey: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", masterKey, "", `scripdesk:${purpose}`, 32));
}

export type SealedRow = {
  /** Rows are listed in its order. */
  readonly id: string;
  readonly sealed: Buffer;
  readonly purpose: string;
};

export type ResealedRow<Row extends SealedRow = SealedRow> = {
  readonly row: Row;
  readonly text: string;
  readonly sealed: Buffer;
};

const resealed = shape({ id: text(), before: bytes(), after: bytes() });

/** Rows for a statement of a store: `id`, and the sealed value `before` and `after`. */
export function resealedRows(rows: readonly ResealedRow[]): Part {
  return resealed.rows(
    {
      id: ({ row }) => row.id,
      before: ({ row }) => row.sealed,
      after: ({ sealed }) => sealed,
    },
    rows,
  );
}

/** One column of one table. */
export type SealedPlace<Row extends SealedRow = SealedRow> = {
  readonly name: string;
  /** The next rows after an id, in order. */
  readonly list: (after: string, limit: number) => Promise<readonly Row[]>;
  /** Updates each row only if its sealed value has not changed since it was read. */
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

/** One pass over a place; yields its progress after every page. */
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
