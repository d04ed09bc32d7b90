// Compresses what everybody gets alike: the pages, their files, the documents and the public rates.
// Answers to a key are left as they are: they may hold a secret beside text that an attacker chose,
// and the length of such an answer, compressed, tells of the secret (BREACH).

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import type { onSendAsyncHookHandler } from "fastify";

import type { App } from "./server.ts";

const encodings = ["br", "gzip"] as const;

export type Encoding = (typeof encodings)[number];

/** Below this an answer fits into a packet or two anyway. */
const bytesMin = 1_024;
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

export async function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return await compressors[encoding](bytes);
}

export function isWorthCompressing(bytes: Buffer, type: string): boolean {
  return bytes.length >= bytesMin && compressible.test(type);
}

/**
 * Compresses tagged answers that change. Call it after `tagAnswers`: a tag is made of the bytes before
 * they are compressed.
 */
export function compressAnswers(app: App): void {
  app.addHook("onRoute", (route) => {
    if (route.config?.tagged) route.onSend = [route.onSend ?? [], compressAnswer].flat();
  });
}

const compressAnswer: onSendAsyncHookHandler = async (request, reply, payload) => {
  const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
  const type = String(reply.getHeader("content-type"));
  if (!Buffer.isBuffer(bytes) || !compressible.test(type)) return payload;
  reply.header("vary", "accept-encoding");
  const encoding = chooseEncoding(request.headers["accept-encoding"]);
  if (encoding === undefined || !isWorthCompressing(bytes, type)) return payload;
  reply.header("content-encoding", encoding).removeHeader("content-length");
  const tag = reply.getHeader("etag");
  // Two encodings of one answer are the same to a reader and differ in their bytes: a weak tag.
  if (tag !== undefined) reply.header("etag", `W/${String(tag)}`);
  return await compress(bytes, encoding);
};

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
