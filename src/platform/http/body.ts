// Bodies on their way in. A body with a length is read after its caller was admitted. A chunked one
// has to be counted first, because its size is judged before its key; what is counted is kept only
// for callers that can be served:
//
//   known key                kept
//   keyless route            kept while all such bodies together fit `keylessBytesMax`, else shed
//   unknown route or key     counted and thrown away

import type { IncomingMessage } from "node:http";

import { Failure } from "../../kernel/failure.ts";
import { Overloaded } from "../postgres/coalesce.ts";

export const bodyBytesMax = 1_048_576;
const bodyBytesDigits = String(bodyBytesMax).length;
const keylessBytesMax = 16 * bodyBytesMax;

/** A text with fewer digits than the bound is below it, which is quicker told than its number. */
export function isTooLong(contentLength: string | undefined): boolean {
  if (contentLength === undefined || contentLength.length < bodyBytesDigits) return false;
  return Number(contentLength) > bodyBytesMax;
}

/** How many bytes bodies may take together, and how many they take now. */
export type Room = { readonly max: number; held: number };

export function openKeylessRoom(): Room {
  return { max: keylessBytesMax, held: 0 };
}

type Reading = {
  /** False: the body is counted and thrown away. */
  readonly keep?: boolean;
  /** What the body takes of it is given back when it has arrived or its sender has left. */
  readonly room?: Room;
};

export function readBody(
  message: IncomingMessage,
  { keep = true, room }: Reading = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let taken = 0;
    // The rest of a refused body is read and forgotten, so that the connection can carry the next
    // request; how long that may take is bounded like the arrival of any request.
    const refuse = (error: Error) => {
      keep = false;
      chunks.length = 0;
      reject(error);
    };
    message.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyBytesMax) refuse(tooLarge());
      if (!keep) return;
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
      // Its sender left; no fault of ours.
      if (!message.readableEnded) reject(badRequest("the body did not arrive whole"));
    };
    message.on("error", close);
    message.on("close", close);
    if (message.destroyed) close(); // It has left already, while its key was looked at.
  });
}

export function tooLarge(): Failure {
  return new Failure("request_too_large", `the body exceeds ${bodyBytesMax} bytes`, {
    form: "transport",
  });
}

export function badRequest(message: string): Failure {
  return new Failure("bad_request", message, { form: "transport" });
}
