// Paging by keyset. A cursor carries where the last page ended and the total counted for the first
// one, signed together with the question it answers: a cursor that was edited, or that is used for
// another list, other filters or by another desk, is refused.

import { createHmac, timingSafeEqual } from "node:crypto";

import { Failure } from "./failure.ts";
import { exactJson, canonicalJson } from "./json.ts";

export const pageSizeDefault = 100;
export const pageSizeMax = 500;
/** Rows of a list without paging. */
export const unpagedMax = 1_000;

const signatureBytes = 16;
const keyBytes = 32;

/** Newest first: everything before this row, by its time and then by its id. */
export type Position = { readonly at: Date; readonly id: string };

export type PageQuery = {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

/** Identifies the list, its filters and its reader. A cursor is bound to it. */
export type ListQuery = Readonly<Record<string, string | undefined>>;

export type PageRequest = {
  readonly paged: boolean;
  /** One more row than the page, to see whether there are more. */
  readonly fetch: number;
  readonly size: number;
  readonly after: Position | undefined;
  /** The total from the cursor, if there is one. */
  readonly total: number | undefined;
};

export type Page<Row> = {
  readonly rows: readonly Row[];
  readonly truncated: boolean;
  readonly paging: Paging | undefined;
};

type Paging = {
  readonly count: number;
  readonly total: number;
  readonly next_cursor: string | null;
  readonly has_more: boolean;
};

function openPage(query: PageQuery, question: ListQuery, signingKey: Buffer): PageRequest {
  const paged = query.limit !== undefined || query.cursor !== undefined;
  const size = paged ? (query.limit ?? pageSizeDefault) : unpagedMax;
  const opened = query.cursor ? openCursor(query.cursor, question, signingKey) : undefined;
  return { paged, size, fetch: size + 1, after: opened?.position, total: opened?.total };
}

/** The rows of a page, of which one more was read to see whether there is a next one. */
export function cutPage<Row>(
  found: readonly Row[],
  size: number,
  toCursor: (last: Row) => string,
): Leaf<Row> {
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  const hasMore = found.length > size && last !== undefined;
  return { rows, nextCursor: hasMore ? toCursor(last) : null };
}

/** Reads a page of a list, and counts the list where paging begins. */
export async function readPage<Row>(
  {
    query,
    question,
    signingKey,
  }: { readonly query: PageQuery; readonly question: ListQuery; readonly signingKey: Buffer },
  {
    list,
    count,
    toPosition,
  }: {
    readonly list: (request: PageRequest) => Promise<readonly Row[]>;
    readonly count: () => Promise<number> | number;
    readonly toPosition: (row: Row) => Position;
  },
): Promise<Page<Row>> {
  const request = openPage(query, question, signingKey);
  const { paged, size } = request;
  const found = await list(request);
  const total = request.total ?? (paged ? await count() : 0);
  const { rows, nextCursor } = cutPage(found, size, (last) =>
    sealCursor(toPosition(last), total, question, signingKey),
  );
  const has_more = nextCursor !== null;
  const paging = { count: rows.length, total, next_cursor: nextCursor, has_more };
  return { rows, truncated: has_more && !paged, paging: paged ? paging : undefined };
}

/** A page of an operator's list, which has no total: to count all desks takes longer than to read. */
export type Leaf<Row> = { readonly rows: readonly Row[]; readonly nextCursor: string | null };

export async function readLeaf<Row extends object>(
  { cursorKey: signingKey }: { readonly cursorKey: Buffer },
  [list, id, at]: readonly [list: string, id: keyof Row, at?: keyof Row],
  { limit = pageSizeDefault, cursor, ...filter }: PageQuery,
  read: (request: Pick<PageRequest, "after" | "fetch">) => Promise<readonly Row[]>,
): Promise<Leaf<Row>> {
  const narrowed: readonly [string, SearchedValue][] = Object.entries(filter);
  const asked = narrowed.map(([name, value]) => [name, toText(value)]);
  const question: ListQuery = { ...Object.fromEntries(asked), list: `every desk's ${list}` };
  const request = openPage(
    { limit, ...(cursor !== undefined && { cursor }) },
    question,
    signingKey,
  );
  return cutPage(await read(request), request.size, (last) => {
    const made = last[at ?? ("created_at" as keyof Row)] as Date; // As the names say.
    return sealCursor({ at: made, id: last[id] as string }, 0, question, signingKey);
  });
}

type SearchedValue = string | number | boolean | Date | null | undefined;

function toText(value: SearchedValue): string | undefined {
  if (value === null || value === undefined) return undefined;
  return value instanceof Date ? value.toISOString() : String(value);
}

function sealCursor(
  position: Position,
  total: number,
  question: ListQuery,
  signingKey: Buffer,
): string {
  const content = Buffer.from(exactJson([position.at.getTime(), position.id, total]));
  const [key = signingKey] = splitKeys(signingKey);
  return Buffer.concat([sign(content, question, key), content]).toString("base64url");
}

function openCursor(
  cursor: string,
  question: ListQuery,
  signingKey: Buffer,
): { position: Position; total: number } {
  const bytes = Buffer.from(cursor, "base64url");
  const content = bytes.subarray(signatureBytes);
  const signature = bytes.subarray(0, signatureBytes);
  const genuine =
    signature.length === signatureBytes &&
    bytes.toString("base64url") === cursor &&
    splitKeys(signingKey).some((key) => timingSafeEqual(signature, sign(content, question, key)));
  if (!genuine) {
    throw new Failure("bad_request", "this cursor does not belong to this list", {
      detail: { field: "cursor", problem: "take next_cursor of the previous page, unchanged" },
    });
  }
  const [at, id, total] = JSON.parse(content.toString()) as [number, string, number];
  return { position: { at: new Date(at), id }, total };
}

/** One key, or two while the master key is being changed: the first signs, either verifies. */
function splitKeys(signingKey: Buffer): Buffer[] {
  const keys = [signingKey.subarray(0, keyBytes), signingKey.subarray(keyBytes)];
  return keys.filter((key) => key.length > 0);
}

function sign(content: Buffer, question: ListQuery, signingKey: Buffer): Buffer {
  return createHmac("sha256", signingKey)
    .update(canonicalJson(question))
    .update("\n")
    .update(content)
    .digest()
    .subarray(0, signatureBytes);
}

/** The first items of a walk, which is read no further. */
export async function takeFrom<Item>(items: AsyncIterable<Item>, most: number): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === most) break;
  }
  return taken;
}
