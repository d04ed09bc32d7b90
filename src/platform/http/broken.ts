// Answers broken requests: bad framing, endless headers, a sender that is too slow. Fastify has no
// reply object for these, so the answer is written to the socket.
//
// A response belongs to exactly one request. With pipelining, a connection may still owe responses to
// earlier complete requests; a refusal written now would be read as the response to the first of them,
// and its sender would take a placed order for a refused one. Such a connection is closed without a
// response, so its sender knows that the outcome is unknown.
//
// Node checks for slow senders before it reads sockets. After a pause of this process, a complete
// request may wait in the socket's buffer and still be called late. So a late request is refused one
// turn of the event loop later, after the sockets were read.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { exactJson } from "../../kernel/json.ts";
import { Failure } from "../../kernel/failure.ts";
import { toErrorReply } from "./errors.ts";
import { readRequestId } from "./calls.ts";

type BrokenRequests = {
  /** Called for every request; remembers the latest response of its connection. */
  readonly note: (message: IncomingMessage, response: ServerResponse) => void;
  readonly answer: (error: NodeJS.ErrnoException, socket: Socket) => void;
};

const latestAnswer = Symbol("latest answer");
/** Node's error code for a request that did not arrive in time. */
const lateCode = "ERR_HTTP_REQUEST_TIMEOUT";

type Noted = Socket & { [latestAnswer]?: ServerResponse };

export function brokenRequests(now: () => Date): BrokenRequests {
  function refuse(error: NodeJS.ErrnoException, socket: Noted): void {
    const latest = socket[latestAnswer];
    if (!socket.writable || error.code === "ECONNRESET" || (latest && !isTurnFor(latest))) {
      socket.destroy();
      return;
    }
    // The headers are known only when the body of the latest request broke.
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

/** Whether the next bytes on the connection would be read as the response to the broken request. */
function isTurnFor(response: ServerResponse): boolean {
  // The broken request came after this one: it is next when this response is complete.
  if (response.req.complete) return response.writableFinished;
  // The body of this request broke. A response has its socket only while it is its turn to write.
  return response.socket !== null && !response.headersSent;
}

function answerText(error: NodeJS.ErrnoException, requestId: string): string {
  const message =
    error.code === lateCode ? "the request did not arrive in time" : "the request is malformed";
  const failure = new Failure("bad_request", message, { form: "transport" });
  const { status, body } = toErrorReply(failure, requestId);
  const text = exactJson(body);
  return (
    `HTTP/1.1 ${status} Bad Request\r\n` +
    `X-Request-ID: ${requestId}\r\n` +
    "Content-Type: application/json\r\n" +
    `Content-Length: ${Buffer.byteLength(text)}\r\n` +
    `Connection: close\r\n\r\n${text}`
  );
}
