// Reads request bodies. A body with a Content-Length is read after its caller was admitted. A chunked
// body is read first, because its size is checked before its key; its bytes are kept only for callers
// that can be served:
//
//   known key                kept
//   route with a budget      kept while all such bodies together fit `keylessBytesMax`, else refused
//   any other                counted and discarded, `discardedMax` at a time; past that the rest is
//                            not read, and the connection is closed with the answer
//
// A turn of the event loop reads from every connection that has sent something. A body to discard
// therefore waits for a turn after each chunk, and its connection is not read meanwhile.

import type { IncomingMessage } from "node:http";

import { Failure } from "../../kernel/failure.ts";
import { takePiece } from "../heavy/pace.ts";
import { Overloaded } from "../postgres/coalesce.ts";

export const bodyBytesMax = 1_048_576;
const bodyBytesDigits = String(bodyBytesMax).length;
const keylessBytesMax = 16 * bodyBytesMax;
/** So many bodies are discarded at the same time. */
const discardedMax = 64;
/** A discarded body of this size does not wait for a turn. */
const discardedAtOnceBytes = 16_384;

/** A number with fewer digits than the bound is below it; this check is faster than parsing. */
export function isTooLong(contentLength: string | undefined): boolean {
  if (contentLength === undefined || contentLength.length < bodyBytesDigits) return false;
  return Number(contentLength) > bodyBytesMax;
}

/** A shared memory budget of bodies: the most bytes, and the bytes in use. */
type BodyBudget = { readonly max: number; held: number };

export function openKeylessRoom(): BodyBudget {
  return { max: keylessBytesMax, held: 0 };
}

type Reading = {
  /** False: the body is counted and discarded. */
  readonly keep?: boolean;
  /** The budget of the body; its bytes are returned when the connection or the body ends. */
  readonly room?: BodyBudget;
};

export function readBody(
  message: IncomingMessage,
  { keep = true, room }: Reading = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let taken = 0;
    // The rest of a refused body is read and discarded, so that the connection can carry the next
    // request; the request timeout bounds how long that takes.
    const refuse = (error: Error) => {
      keep = false;
      chunks.length = 0;
      reject(error);
    };
    const waitForTurn = () => {
      message.pause();
      void takePiece("refused").then(() => message.resume());
    };
    message.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyBytesMax) refuse(tooLarge());
      if (!keep) {
        if (size > discardedAtOnceBytes) waitForTurn();
        return;
      }
      if (room && room.held + chunk.length > room.max) {
        refuse(new Overloaded());
        return;
      }
      if (room) {
        room.held += chunk.length;
        taken += chunk.length;
      }
      chunks.push(chunk);
    });
    message.on("end", () => {
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    const close = () => {
      if (room) room.held -= taken;
      taken = 0;
      // The client disconnected.
      if (!message.readableEnded) reject(badRequest("the body did not arrive whole"));
    };
    message.on("error", close);
    message.on("close", close);
    if (message.destroyed) close(); // The client disconnected while its key was checked.
  });
}

type Discarding = {
  /** Reads a body to its end for its size alone, or does not read it and says so to `unread`. */
  count(message: IncomingMessage, unread: () => void): Promise<Buffer>;
};

export function openDiscarding(): Discarding {
  let under = 0;
  return {
    async count(message, unread) {
      if (under >= discardedMax) {
        unread();
        return Buffer.alloc(0);
      }
      under += 1;
      try {
        return await readBody(message, { keep: false });
      } finally {
        under -= 1;
      }
    },
  };
}

export function tooLarge(): Failure {
  return new Failure("request_too_large", `the body exceeds ${bodyBytesMax} bytes`, {
    form: "transport",
  });
}

export function badRequest(message: string): Failure {
  return new Failure("bad_request", message, { form: "transport" });
}
