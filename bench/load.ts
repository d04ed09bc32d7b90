// Load from a process of its own: keeps a number of connections busy with one request each and
// counts the answers. It reads no more of an answer than it must, so that the server under
// measurement and not this process is what limits the figure.

import { connect } from "node:net";

export type LoadOrder = {
  readonly port: number;
  /** The whole request, head and body; of several, each connection takes the next in turn. */
  readonly request: string | readonly string[];
  readonly connections: number;
  /** Without them every request is sent once. */
  readonly seconds?: number;
};

export type LoadResult = {
  readonly answers: number;
  readonly failures: number;
  /** The beginning of the first answer that was not 2xx. */
  readonly firstFailure?: string | undefined;
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
};

const headEnd = Buffer.from("\r\n\r\n");

function drive(order: LoadOrder): Promise<LoadResult> {
  const requests = [order.request].flat().map((text) => Buffer.from(text));
  let sent = 0;
  const startedAt = performance.now();
  const { seconds } = order;
  const isOver = () =>
    seconds === undefined
      ? sent >= requests.length
      : performance.now() >= startedAt + seconds * 1_000;
  const latencies: number[] = [];
  let failures = 0;
  let firstFailure: string | undefined;
  let open = order.connections;
  return new Promise((resolve, reject) => {
    function finish(): void {
      open -= 1;
      if (open > 0) return;
      const elapsedS = (performance.now() - startedAt) / 1_000;
      const sorted = latencies.toSorted((a, b) => a - b);
      resolve({
        answers: latencies.length,
        failures,
        firstFailure,
        perSecond: latencies.length / elapsedS,
        medianMs: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
        p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      });
    }

    for (let index = 0; index < order.connections; index++) {
      const socket = connect({ host: "127.0.0.1", port: order.port, noDelay: true });
      let pending: Buffer = Buffer.alloc(0);
      let sentAt = 0;
      const send = () => {
        sentAt = performance.now();
        socket.write(requests[sent++ % requests.length] ?? "");
      };
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("data", (chunk) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const length = answerLength(pending);
        if (length === undefined || pending.length < length) return;
        // "HTTP/1.1 2…": the class of the status is its first digit.
        if (pending[9] !== 50) {
          failures += 1;
          firstFailure ??= pending.toString("utf8", 0, 1_000);
        }
        pending = pending.subarray(length);
        latencies.push(performance.now() - sentAt);
        if (!isOver()) {
          send();
          return;
        }
        socket.end();
        finish();
      });
    }
  });
}

function answerLength(bytes: Buffer): number | undefined {
  const head = bytes.indexOf(headEnd);
  if (head < 0) return undefined;
  const text = bytes.toString("latin1", 0, head);
  const body = /content-length: (\d+)/i.exec(text)?.[1];
  return head + headEnd.length + Number(body ?? 0);
}

if (import.meta.main) {
  process.on("message", (order: LoadOrder) => {
    void drive(order).then((result) => process.send?.(result));
  });
}
