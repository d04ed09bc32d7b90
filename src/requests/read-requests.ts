// Reads the calls that were answered. A root key sees those of its desk, any other key its own.

import type { Caller } from "../kernel/caller.ts";
import type { ListSearch } from "../kernel/desk-search.ts";
import { notFound } from "../kernel/failure.ts";
import { idTime, isId } from "../kernel/ids.ts";
import { isCleanText } from "../kernel/json.ts";
import {
  type Leaf,
  type Page,
  type Position,
  readLeaf,
  readPage,
  takeFrom,
} from "../kernel/page.ts";
import { parseQueryInstant } from "../kernel/query-time.ts";
import { dayMs, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { openPace } from "../platform/heavy/pace.ts";
import type { Recorder } from "./record-requests.ts";
import {
  type CallKind,
  isOfKind,
  type KeptCall,
  parseRoute,
  readBlock,
  toSecond,
} from "./rules.ts";
import type { ListRequestsQuery, Request } from "./schema.ts";
import {
  type BlockFilter,
  countCalls,
  listBlocks,
  listBlocksOfId,
  type PageOfBlocks,
  type StoredBlock,
} from "./store.ts";

/** Older calls are not shown, and their month is dropped some time later. */
const keptDays = 30;
/** Blocks read by one statement: few for the first page, then more. */
const [blocksFirst, blocksMax] = [8, 256];

type Narrower = Pick<
  ListRequestsQuery,
  "status" | "code" | "reason" | "route" | "key_id" | "request_id"
>;

type CallFilter = BlockFilter & { readonly requestId: string | null };

type PositionedCall = KeptCall & Position;

/** An operator sees whose it is. */
type RequestOfDesk = Request & Pick<KeptCall, "environment" | "desk_id" | "firm_id">;

type Reading = Context & { readonly recorder: Pick<Recorder, "write"> };

/** A caller finds its last call at once, where this process answered it. */
export async function listRequests(
  ctx: Reading,
  caller: Caller,
  { limit, cursor, from, to, ...asked }: ListRequestsQuery,
): Promise<Page<Request>> {
  await ctx.recorder.write();
  const wanted = toWanted(ctx, asked, {
    environment: caller.environment,
    deskId: caller.deskId,
    from: parseQueryInstant("from", from),
    to: parseQueryInstant("to", to),
  });
  const own = caller.kind === "root" ? wanted : ofKey(wanted, caller.keyId);
  const question = {
    list: "requests",
    reader: caller.keyId,
    from,
    to,
    ...asked,
    status: asked.status === undefined ? undefined : String(asked.status),
  };
  const page = await readPage<PositionedCall>(
    { query: { limit, cursor }, question, signingKey: ctx.cursorKey },
    {
      list: ({ after, fetch }) => takeFrom(walk(ctx, own, after), fetch),
      count: () => countAll(ctx, own),
      toPosition: (call) => call,
    },
  );
  return { ...page, rows: page.rows.map(viewRequest) };
}

/** The newest call with this id. */
export async function readRequest(
  ctx: Reading,
  caller: Caller,
  requestId: string,
): Promise<Request> {
  if (!isCleanText(requestId)) throw notFound("request_id");
  const { rows } = await listRequests(ctx, caller, { request_id: requestId, limit: 1 });
  const [request] = rows;
  if (!request) throw notFound("request_id");
  return request;
}

/** The calls of every desk, or of one, newest first, for the operator. */
export async function listAllRequests(
  ctx: Context,
  search: ListSearch<Narrower>,
): Promise<Leaf<RequestOfDesk>> {
  const { environment, deskId, firmId, from, to, ...asked } = search;
  const all = toWanted(ctx, asked, { environment, deskId, from, to });
  const kind = { ...all.kind, ...(firmId !== null && { firm_id: firmId }) };
  const page = await readLeaf<PositionedCall>(
    ctx,
    ["requests", "id", "at"],
    search,
    ({ after, fetch }) => takeFrom(walk(ctx, { ...all, kind }, after), fetch),
  );
  const view = (call: PositionedCall) => {
    const { environment: where, desk_id, firm_id } = call;
    return { environment: where, desk_id, firm_id, ...viewRequest(call) };
  };
  return { ...page, rows: page.rows.map(view) };
}

function toWanted(
  { now }: Pick<Context, "now">,
  { status, code, reason, key_id, route, request_id: requestId }: Narrower,
  {
    from,
    to,
    ...whose
  }: Pick<BlockFilter, "environment" | "deskId" | "to"> & { from: Date | null },
): CallFilter {
  const oldestMs = now().getTime() - keptDays * dayMs;
  return {
    ...whose,
    requestId: requestId ?? null,
    from: new Date(Math.max(toSecond(from?.getTime() ?? 0), oldestMs)),
    to: to && new Date(toSecond(to.getTime())),
    kind: {
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
      ...(reason !== undefined && { reason }),
      ...(key_id !== undefined && { key_id }),
      ...(route !== undefined && parseRoute(route)),
    },
  };
}

/** Nothing, where another key is asked for. */
function ofKey(wanted: CallFilter, keyId: string): CallFilter {
  const { key_id: asked = keyId } = wanted.kind;
  return { ...wanted, kind: { ...wanted.kind, key_id: asked === keyId ? keyId : "" } };
}

async function countAll({ db }: Pick<Context, "db">, wanted: CallFilter): Promise<number> {
  if (wanted.requestId === null) return await countCalls(db.planned, wanted);
  return (await takeFrom(walk({ db }, wanted, undefined), Infinity)).length;
}

/** The wanted calls before a place, newest first. */
async function* walk(
  { db }: Pick<Context, "db">,
  wanted: CallFilter,
  after: Position | undefined,
): AsyncGenerator<PositionedCall> {
  const pace = openPace();
  const [lastBlock = "", lastPlace = "0"] = after?.id.split(" ") ?? [];
  // The block in which the last page ended is read again.
  let before = after ? { second: after.at, blockId: `${lastBlock}~` } : null;
  for (let limit = blocksFirst; ; limit = Math.min(2 * limit, blocksMax)) {
    const blocks = await listNext(db.planned, wanted, { before, limit });
    for (const block of blocks) {
      const { block_id: blockId, second } = block;
      before = { second, blockId };
      for (const call of readBlock(block)) {
        const isSeen = blockId === lastBlock && call.place >= Number(lastPlace);
        if (isSeen || !isWanted(call, wanted)) continue;
        yield { ...call, id: `${blockId} ${call.place}`, at: call.at };
      }
      if (pace.isOver()) await pace.turn();
    }
    if (blocks.length < limit) return;
  }
}

async function listNext(
  db: Context["db"]["planned"],
  wanted: CallFilter,
  page: PageOfBlocks,
): Promise<StoredBlock[]> {
  const { requestId, deskId } = wanted;
  if (requestId === null) return await listBlocks(db, wanted, page);
  const at = isId("req", requestId) ? idTime(requestId) : null;
  return await listBlocksOfId(db, { requestId, at, deskId }, page);
}

function isWanted(call: KeptCall, { environment, requestId, from, to, kind }: CallFilter): boolean {
  return (
    isOfKind(call, kind) &&
    (environment === null || call.environment === environment) &&
    (requestId === null || call.request_id === requestId) &&
    call.at >= from &&
    (to === null || call.at < to)
  );
}

function viewRequest(call: KeptCall & CallKind): Request {
  const { request_id, at, method, route, status, code, reason, duration_ms, key_id } = call;
  const { idempotency_key, made } = call;
  return {
    request_id,
    at: istTimestamp(at),
    method,
    route,
    status,
    code,
    reason,
    duration_ms,
    key_id,
    idempotency_key,
    made,
  };
}
