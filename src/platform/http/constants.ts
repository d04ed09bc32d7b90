// Answers that are the same bytes for everybody until the process ends: pages and their files, guides,
// the documents of both APIs. Each is made, tagged and compressed once: soon after the service listens
// (`prepareConstants`), or before that when somebody asks for it. A call then chooses among bytes that
// are at hand.

import type { FastifyReply, FastifyRequest, FastifySchema, onRequestHookHandler } from "fastify";

import { takePiece } from "../heavy/pace.ts";
import { keepOnce } from "../keep-once.ts";
import { buildTag, isHeldAlready } from "./caching.ts";
import { chooseEncoding, compress, type Encoding, isWorthCompressing } from "./compression.ts";
import type { App } from "./server.ts";

export type Constant = {
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly make: () => Promise<Buffer | string>;
};

type RouteOptions = {
  readonly schema?: FastifySchema;
  readonly onRequest?: onRequestHookHandler;
};

declare module "fastify" {
  interface FastifyInstance {
    /** Make what is not made yet. */
    constants: (() => Promise<void>)[];
  }
}

export function serveConstant(
  app: App,
  url: string,
  { type, headers = {}, make }: Constant,
  { schema = { hide: true }, onRequest }: RouteOptions = {},
): void {
  const find = keepOnce(async () => pack(await make(), type));
  app.constants.push(async () => {
    const { compressed } = await find();
    await Promise.all(Object.values(compressed).map((makeOne) => makeOne()));
  });
  app.get(
    url,
    { config: { keyless: "constant" }, schema, ...(onRequest && { onRequest }) },
    async (request: FastifyRequest, reply: FastifyReply) => {
      reply.type(type).headers(headers);
      return await sendPacked(request, reply, await find());
    },
  );
}

/** Makes every constant of services that listen, one after the other, so that calls are answered meanwhile. */
export async function prepareConstants(apps: readonly App[], stop?: AbortSignal): Promise<void> {
  for (const prepare of apps.flatMap(({ constants }) => constants)) {
    await takePiece();
    if (stop?.aborted) return;
    await prepare();
  }
}

type Packed = {
  readonly bytes: Buffer;
  readonly tag: string;
  readonly compressed: Readonly<Partial<Record<Encoding, () => Promise<Buffer>>>>;
};

function pack(made: Buffer | string, type: string): Packed {
  const bytes = Buffer.from(made);
  const compressed = isWorthCompressing(bytes, type)
    ? {
        br: keepOnce(async () => await compress(bytes, "br")),
        gzip: keepOnce(async () => await compress(bytes, "gzip")),
      }
    : {};
  return { bytes, tag: buildTag(bytes), compressed };
}

async function sendPacked(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { bytes, tag, compressed }: Packed,
): Promise<FastifyReply> {
  const encoding = chooseEncoding(headers["accept-encoding"]);
  const find = encoding && compressed[encoding];
  reply.header("vary", "accept-encoding");
  // Two encodings of one answer are the same to a reader and differ in their bytes: a weak tag.
  reply.header("etag", find ? `W/${tag}` : tag);
  if (isHeldAlready(headers["if-none-match"], tag)) return await reply.code(304).send();
  if (find) reply.header("content-encoding", encoding);
  return await reply.send(find ? await find() : bytes);
}
