// Finds a thing by what somebody has of it: its id, an IEC or a PAN, a scrip number, a UTR or another
// reference, or a part of a firm's name. Every lookup is by an index and bounded.

import { normalizeScripNo } from "../credits/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { isAnyId } from "../kernel/ids.ts";
import { isCleanText } from "../kernel/json.ts";
import type { Context } from "../platform/context.ts";
import {
  findById,
  findByIdentifier,
  findByNameStart,
  findByNameWords,
  findByReference,
  findByScripNo,
  type FoundRow,
  loosenSearch,
} from "./find-store.ts";
import { splitWords, toNamePattern, toWordQuery } from "./rules.ts";

export type Found = FoundRow;

const limitEach = 20;

/** What the text may mean, the surest first: ids, then identifiers and references, then names. */
export async function findAnything({ db }: Pick<Context, "db">, text: string): Promise<Found[]> {
  const asked = text.trim();
  if (asked === "" || !isCleanText(asked)) return [];
  if (isAnyId(asked.toLowerCase())) return await findById(db, asked.toLowerCase());
  const upper = asked.toUpperCase();
  const scripNo = normalizeScripNo(asked);
  const words = splitWords(asked);
  const found = await Promise.all([
    findByIdentifier(db, upper, limitEach),
    scripNo === undefined ? [] : findByScripNo(db, scripNo, limitEach),
    findByReference(db, upper, limitEach),
    findByNameStart(db.planned, toNamePattern(asked), limitEach),
    findByWords(db, words),
  ]);
  const rows = found.flat();
  const seen = new Set<string>();
  return rows.filter(({ kind, id }) => {
    const name = `${kind} ${id}`;
    return !seen.has(name) && seen.add(name);
  });
}

async function findByWords(db: Context["db"], words: readonly string[]): Promise<Found[]> {
  if (words.length === 0) return [];
  const search = toWordQuery(words);
  if (words.length > 1) return await findByNameWords(db.planned, search, limitEach);
  return await db.transaction(async (tx) => {
    await loosenSearch(tx);
    return await findByNameWords(tx, search, limitEach);
  });
}

/** The environment of a thing by its id; undefined when there is none, or it belongs to neither. */
export async function findEnvironmentById(
  { db }: Pick<Context, "db">,
  id: string,
): Promise<Environment | undefined> {
  const [found] = isAnyId(id) ? await findById(db, id) : [];
  return found?.environment ?? undefined;
}
