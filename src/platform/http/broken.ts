// What never became a request, or stopped being one: bad framing, endless headers, a sender that was
// too slow. There is no reply object for these, so the answer is written to the socket itself.
//
// An answer belongs to exactly one request. A connection may still owe answers to earlier requests
// that arrived whole; a refusal written now would be read as the answer to the first of them, and
// its sender would take an order that was placed for one that was refused. Such a connection is
// closed without a word, which says what is true: the outcome is not known.
//
// Who is called too slow is looked for before anything is read. When this process has stood still, a
// request may have lain here whole since long before: what lies here is read first.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { Failure } from "../../kernel/failure.ts";
import { toErrorReply } from "./errors.ts";
import { readRequestId } from "./calls.ts";

export type BrokenRequests = {
  /** Told of every request, so that the connection's latest one is known. */
  readonly note: (message: IncomingMessage, response: ServerResponse) => void;
  readonly answer: (error: NodeJS.ErrnoException, socket: Socket) => void;
};

const latestAnswer = Symbol("latest answer");
/** What Node calls a request that was not whole in its time. */
const lateCode = "ERR_HTTP_REQUEST_TIMEOUT";

type Noted = Socket & { [latestAnswer]?: ServerResponse };

export function brokenRequests(now: () => Date): BrokenRequests {
  function refuse(error: NodeJS.ErrnoException, socket: Noted): void {
    const latest = socket[latestAnswer];
    if (!socket.writable || error.code === "ECONNRESET" || (latest && !isTurnOf(latest))) {
      socket.destroy();
      return;
    }
    // Of a request whose body broke the headers were read; of anything else nothing is known.
    const cut = latest && !latest.req.complete ? latest.req : { headers: {} };
    const text = answerText(error, readRequestId(cut, now()));
    socket.end(text, () => socket.destroy());
  }

  return {
    note({ socket }: { readonly socket: Noted }, response) {
      socket[latestAnswer] = response;
    },
    answer(error, socket: Noted) {
      if (error.code !== lateCode) {
        refuse(error, socket);
        return;
      }
      const before = socket[latestAnswer];
      const isNextLate = before === undefined || before.req.complete;
      setImmediate(() => {
        const latest = socket[latestAnswer];
        const isThere = !isNextLate || latest !== before;
        if (!isThere || !latest?.req.complete) refuse(error, socket);
      });
    },
  };
}

/** Whether the next bytes on the connection would be read as the answer to what broke. */
function isTurnOf(response: ServerResponse): boolean {
  // What broke is a request after this one: it is next when this one has its whole answer.
  if (response.req.complete) return response.writableFinished;
  // What broke is this one's body. A response holds its socket only while it is the one to write.
  return response.socket !== null && !response.headersSent;
}

function answerText(error: NodeJS.ErrnoException, requestId: string): string {
  const message =
    error.code === lateCode ? "the request did not arrive in time" : "the request is malformed";
  const failure = new Failure("bad_request", message, { form: "transport" });
  const { status, body } = toErrorReply(failure, requestId);
  const text = JSON.stringify(body);
  return (
    `HTTP/1.1 ${status} Bad Request\r\n` +
    `X-Request-ID: ${requestId}\r\n` +
    "Content-Type: application/json\r\n" +
    `Content-Length: ${Buffer.byteLength(text)}\r\n` +
    `Connection: close\r\n\r\n${text}`
  );
}
