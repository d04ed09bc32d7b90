// Compresses what everybody gets alike: the pages, their files, the document and the public rates.
// Answers to a key are left as they are: they may hold a secret beside text that an attacker chose,
// and the length of such an answer, compressed, tells of the secret (BREACH).
//
// Tagged answers are the same bytes again and again: what they are compressed to is kept by its hash,
// so that a file costs its compression once and not once per reader.

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import type { onSendAsyncHookHandler } from "fastify";

import type { App } from "./server.ts";

const encodings = ["br", "gzip"] as const;

type Encoding = (typeof encodings)[number];

/** Below this an answer fits into a packet or two anyway. */
const bytesMin = 1_024;
/** All compressed answers that are kept, together. */
const keptBytesMax = 16 * 1_048_576;
/** Larger ratios than this cost seconds for the largest file. */
const brotliQuality = 6;

const compressible = /^(?:text\/|application\/json|image\/svg)/;

const compressors = {
  br: async (bytes: Buffer) =>
    await promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality },
    }),
  gzip: async (bytes: Buffer) => await promisify(gzip)(bytes),
} as const satisfies Record<Encoding, (bytes: Buffer) => Promise<Buffer>>;

/** Call it after `tagAnswers`: a tag is made of the bytes before they are compressed. */
export function compressAnswers(app: App): void {
  const compressKept = openCompressor();
  const compressAnswer: onSendAsyncHookHandler = async (request, reply, payload) => {
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    const type = String(reply.getHeader("content-type"));
    if (!Buffer.isBuffer(bytes) || !compressible.test(type)) return payload;
    reply.header("vary", "accept-encoding");
    const encoding = chooseEncoding(request.headers["accept-encoding"]);
    if (encoding === undefined || bytes.length < bytesMin) return payload;
    reply.header("content-encoding", encoding).removeHeader("content-length");
    const tag = reply.getHeader("etag");
    if (tag === undefined) return await compressors[encoding](bytes);
    // Two encodings of one answer are the same to a reader and differ in their bytes: a weak tag.
    reply.header("etag", `W/${String(tag)}`);
    return await compressKept(bytes, encoding);
  };
  app.addHook("onRoute", (route) => {
    if (!route.config?.tagged && !route.config?.compressed) return;
    route.onSend = [route.onSend ?? [], compressAnswer].flat();
  });
}

/** The best encoding that the reader takes; undefined for none. */
export function chooseEncoding(header: string | string[] | undefined): Encoding | undefined {
  const taken = new Set(
    [header ?? ""]
      .flat()
      .join(",")
      .split(",")
      .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
      .map((part) => part.split(";")[0]?.trim().toLowerCase()),
  );
  return encodings.find((encoding) => taken.has(encoding));
}

function openCompressor(): (bytes: Buffer, encoding: Encoding) => Promise<Buffer> {
  /** In the order of their last use. */
  const kept = new Map<string, Buffer>();
  let keptBytes = 0;

  function keep(key: string, compressed: Buffer): void {
    if (kept.has(key) || compressed.length > keptBytesMax) return;
    kept.set(key, compressed);
    keptBytes += compressed.length;
    for (const [oldest, { length }] of kept) {
      if (keptBytes <= keptBytesMax) return;
      kept.delete(oldest);
      keptBytes -= length;
    }
  }

  return async (bytes, encoding) => {
    const key = `${encoding} ${createHash("sha256").update(bytes).digest("base64")}`;
    const known = kept.get(key);
    if (known) {
      kept.delete(key);
      kept.set(key, known);
      return known;
    }
    const compressed = await compressors[encoding](bytes);
    keep(key, compressed);
    return compressed;
  };
}
