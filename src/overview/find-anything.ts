// Finds a thing by what somebody has of it: its id, that of a request, an IEC or a PAN, a scrip number, a
// UTR or another reference, a ticket or a letter that was given as evidence, or a part of a firm's name.
// Every lookup is bounded, and by an index but for one (`findDelivered`). Beside it: what people said
// about a thing and by what they knew it.

import { normalizeScripNo } from "../credits/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { everything } from "../kernel/desk-search.ts";
import { isAnyId, isId } from "../kernel/ids.ts";
import { isCleanText } from "../kernel/json.ts";
import { dayMs, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { listAllRequests } from "../requests/read-requests.ts";
import { findNames } from "./desks.ts";
import {
  type EvidenceRow,
  findByEvidence,
  findById,
  findByIdentifier,
  findByNameStart,
  findByNameWords,
  findByReference,
  findByScripNo,
  findDelivered,
  findNewestByWords,
  type FoundRow,
  listEvidenceRows,
  loosenSearch,
} from "./find-store.ts";
import { splitWords, toNamePattern, toStartQuery, toWordQuery } from "./rules.ts";

type FoundThing = FoundRow;

const limitEach = 20;
/** A word that so many of the newest firms do not have often is rare enough to be looked for in all. */
const newestFirms = 100;

/** What the text may mean, the surest first: ids, then identifiers and references, then names. */
export async function findAnything(ctx: Context, text: string): Promise<FoundThing[]> {
  const { db } = ctx;
  const asked = text.trim();
  if (asked === "" || !isCleanText(asked)) return [];
  if (isId("req", asked.toLowerCase())) return await findRequests(ctx, asked.toLowerCase());
  if (isAnyId(asked.toLowerCase())) return await findOne(ctx, asked.toLowerCase());
  const upper = asked.toUpperCase();
  const scripNo = normalizeScripNo(asked);
  const found = await Promise.all([
    findByIdentifier(db, upper, limitEach),
    scripNo === undefined ? [] : findByScripNo(db, scripNo, limitEach),
    findByReference(db, upper, limitEach),
    findByEvidence(db.planned, asked, limitEach),
    findByName(db, asked),
  ]);
  const rows = found.flat();
  const seen = new Set<string>();
  return rows.filter(({ kind, id }) => {
    const name = `${kind} ${id}`;
    return !seen.has(name) && seen.add(name);
  });
}

async function findRequests(ctx: Context, requestId: string): Promise<FoundThing[]> {
  const search = { ...everything, request_id: requestId, limit: limitEach };
  const { rows } = await listAllRequests(ctx, search);
  const names = await findNames(
    ctx.db.planned,
    rows.flatMap(({ desk_id, firm_id }) => [desk_id, firm_id]),
  );
  return rows.map(({ request_id, environment, status, desk_id, firm_id, ...call }) => ({
    kind: "request",
    id: request_id,
    environment,
    status: String(status),
    note: [call.method, call.route, call.code, call.reason].filter(Boolean).join(" "),
    desk_id,
    desk_name: names[desk_id] ?? null,
    firm_id,
    firm_name: names[firm_id] ?? null,
  }));
}

/** Names that begin so; when these are few, also names with the words somewhere. */
async function findByName(db: Context["db"], asked: string): Promise<FoundThing[]> {
  const starts = await findByNameStart(db.planned, toNamePattern(asked), limitEach);
  const words = splitWords(asked);
  if (starts.length === limitEach || words.length === 0) return starts;
  const others = words.length === 1 ? findByWord(db, words) : findByWords(db, words);
  return [...starts, ...(await others)];
}

/** The index reads all firms that have a word, so a common one is looked for among the newest first. */
async function findByWord(db: Context["db"], words: readonly string[]): Promise<FoundThing[]> {
  const search = toStartQuery(words);
  const limits = { among: newestFirms, limit: limitEach };
  const newest = await findNewestByWords(db.planned, search, limits);
  if (newest.length === limitEach) return newest;
  return await db.transaction(async (tx) => {
    await loosenSearch(tx);
    return await findByNameWords(tx, search, limitEach);
  });
}

const deliveryId = /^dlv_[0-9a-f]{26}$/;
const deliveredDays = 31;

async function findOne(
  { db, now }: Pick<Context, "db" | "now">,
  id: string,
): Promise<FoundThing[]> {
  const found = await findById(db, id);
  if (found.length > 0 || !deliveryId.test(id)) return found;
  return await findDelivered(db, id, new Date(now().getTime() - deliveredDays * dayMs));
}

/** The index skips from word to word, but reads all firms that have a word which begins so. */
async function findByWords(db: Context["db"], words: readonly string[]): Promise<FoundThing[]> {
  const whole = await findByNameWords(db.planned, toWordQuery(words), limitEach);
  if (whole.length > 0) return whole;
  return await findByNameWords(db.planned, toStartQuery(words), limitEach);
}

/** The environment of a thing by its id; undefined when there is none, or it belongs to neither. */
export async function findEnvironmentById(
  ctx: Pick<Context, "db" | "now">,
  id: string,
): Promise<Environment | undefined> {
  const [found] = isAnyId(id) ? await findOne(ctx, id) : [];
  return found?.environment ?? undefined;
}

const evidenceMax = 100;

type Evidence = Omit<EvidenceRow, "at"> & { readonly at: string };

/** Answers of customs and banks, acts of two people and bank lines about a thing, the newest first. */
export async function listEvidence(
  { db }: Pick<Context, "db">,
  about: string,
): Promise<Evidence[]> {
  const rows = await listEvidenceRows(db.planned, about, evidenceMax);
  return rows.map(({ at, ...row }) => ({ ...row, at: istTimestamp(at) }));
}
