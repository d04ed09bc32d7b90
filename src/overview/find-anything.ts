// Finds a thing by what somebody has of it: its id, an IEC or a PAN, a scrip number, a UTR or another
// reference, or a part of a firm's name. Every lookup is by an index and bounded.

import { normalizeScripNo } from "../credits/rules.ts";
import type { Environment } from "../kernel/caller.ts";
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
} from "./find-store.ts";
import { isAnyId, toNamePattern, toWordQuery } from "./rules.ts";

export type Found = FoundRow;

const limitEach = 20;

/** What the text may mean, the surest first: ids, then identifiers and references, then names. */
export async function findAnything({ db }: Pick<Context, "db">, text: string): Promise<Found[]> {
  const asked = text.trim();
  if (asked === "" || !isCleanText(asked)) return [];
  if (isAnyId(asked)) return await findById(db, asked.toLowerCase());
  const upper = asked.toUpperCase();
  const scripNo = normalizeScripNo(asked);
  const words = toWordQuery(asked);
  const found = await Promise.all([
    findByIdentifier(db, upper, limitEach),
    scripNo === undefined ? [] : findByScripNo(db, scripNo, limitEach),
    findByReference(db, upper, limitEach),
    findByNameStart(db.planned, toNamePattern(asked), limitEach),
    words === "" ? [] : findByNameWords(db.planned, words, limitEach),
  ]);
  const rows = found.flat();
  const seen = new Set<string>();
  return rows.filter(({ kind, id }) => {
    const name = `${kind} ${id}`;
    return !seen.has(name) && seen.add(name);
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
