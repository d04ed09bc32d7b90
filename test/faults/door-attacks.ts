// What a stranger without a key, or one desk of the sandbox, can do to slow everybody else. Each goes on
// until it is told to stop, and answers with the statuses that it heard. To measure another one, add it
// to the list.

import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { Agent, request } from "undici";

import { buildXlsx } from "../support/build-xlsx.ts";
import { openSocket } from "../support/raw.ts";
import type { HeavyDesk } from "./heavy-requests.ts";
import type { Running } from "../support/process.ts";
import type { Answer } from "../support/service.ts";

export type DoorTarget = Pick<HeavyDesk, "key" | "deskId" | "clientId"> &
  Pick<Running, "url" | "send"> & {
    /** Where operators sign in. */
    readonly opsUrl: string;
  };

export type DoorAttack = {
  readonly name: string;
  /** Makes what it needs, before anything is measured. */
  open(target: DoorTarget): Promise<OpenAttack>;
};

type OpenAttack = {
  run(signal: AbortSignal): Promise<readonly number[]>;
  close?(): Promise<void>;
};

const connections = 64;
const agent = new Agent({ connections, pipelining: 1 });
const receivers = 50;
const slowAnswerMs = 9_500;
const events = 40;

type Call = {
  readonly method?: "GET" | "POST";
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
};

/** The status of a call whose answer is not read; 0 where it was cut off. */
async function call(
  url: string,
  { method = "GET", key, headers, body }: Call,
  signal: AbortSignal,
) {
  try {
    const answer = await request(url, {
      dispatcher: agent,
      method,
      signal,
      headers: {
        ...(key !== undefined && { "x-service-key": key }),
        ...(body && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return 0;
  }
}

/** So many callers, each of which calls again as soon as it is answered. */
async function flood(
  callers: number,
  signal: AbortSignal,
  one: () => Promise<number>,
): Promise<number[]> {
  const statuses: number[] = [];
  const repeat = async () => {
    while (!signal.aborted) {
      const status = await one();
      if (!signal.aborted) statuses.push(status);
    }
  };
  await Promise.all(Array.from({ length: callers }, repeat));
  return statuses;
}

/** A page that the caller says it has. */
function unchanged(path: string): DoorAttack["open"] {
  return async ({ url }) => {
    const answer = await request(`${url}${path}`, { dispatcher: agent });
    await answer.body.dump();
    const headers = { "if-none-match": String(answer.headers["etag"]) };
    return floodWith(connections, (signal) => call(`${url}${path}`, { headers }, signal));
  };
}

function floodWith(callers: number, one: (signal: AbortSignal) => Promise<number>): OpenAttack {
  return { run: (signal) => flood(callers, signal, () => one(signal)) };
}

/** The same call by so many callers. */
function repeat(
  callers: number,
  toCall: (target: DoorTarget) => Call & { readonly url: string },
): DoorAttack["open"] {
  return async (target) => {
    const { url, ...asked } = toCall(target);
    return floodWith(callers, (signal) => call(url, asked, signal));
  };
}

const plain = (path: string) => repeat(connections, ({ url }) => ({ url: `${url}${path}` }));

const heading = ["Scrip No", "Scheme", "Amount", "Issue Date", "Expiry Date"];

/** One long text in every cell: 39 kB that were unpacked to nine megabytes. */
const sharedTextBook = buildXlsx([{ rows: [heading] }], {
  parts: {
    "xl/sharedStrings.xml": `<sst><si><t>${" ".repeat(5_000_000)}</t></si></sst>`,
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${`<row>${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`.repeat(1_800)}</sheetData></worksheet>`,
  },
});

const wideBook = buildXlsx([{ rows: [heading] }], {
  parts: {
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData><row>${"<c/>".repeat(1_000_000)}</row></sheetData></worksheet>`,
  },
});

function importBook(book: Uint8Array): DoorAttack["open"] {
  const body = { xlsx: Buffer.from(book).toString("base64") };
  return repeat(4, ({ url, key, clientId }) => ({
    url: `${url}/v1/firms/${clientId}/credits:import`,
    method: "POST",
    key,
    body,
  }));
}

const insistMax = 60;
const insistPauseMs = 500;

/** A service with defects may have no time for what an attack needs. */
async function insist(call: () => Promise<Answer>): Promise<Answer> {
  for (let time = 0; time < insistMax; time++) {
    const answer = await call().catch(() => undefined);
    if (answer && answer.status < 400) return answer;
    await sleep(insistPauseMs);
  }
  throw new Error("the service does not answer an attack's own calls");
}

/** The receiver answers 200, and only when it has kept the sender waiting. */
export const slowReceivers: DoorAttack = {
  name: "50 webhooks that are answered 200 after 9.5 s",
  async open({ send, key, clientId }) {
    const timers = new Set<NodeJS.Timeout>();
    const server = createServer((asked, response) => {
      asked.resume();
      timers.add(setTimeout(() => response.end(), slowAnswerMs));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const ids: string[] = [];
    for (let at = 0; at < receivers; at++) {
      const body = { url: `http://127.0.0.1:${port}/${at}`, event: "credit.listed" };
      const made = await insist(() => send("POST", "/v1/webhooks", { key, body }));
      ids.push(made.body.webhook_id);
    }
    let numbered = Date.now() * 100;
    const path = `/v1/firms/${clientId}/credits`;
    return {
      run: (signal) =>
        flood(1, signal, async () => {
          const credits = Array.from({ length: events }, () => ({
            scrip_no: `SLOW${++numbered}A`,
            scheme: "RODTEP",
            face_paise: 100_000,
            issued_on: "2026-01-01",
            expires_on: "2098-12-31",
          }));
          const status = await send("POST", path, { key, body: { credits } }).then(
            (answer) => answer.status,
            () => 0,
          );
          await sleep(2_000, undefined, { signal }).catch(() => {}); // It is over.
          return status;
        }),
      async close() {
        for (const id of ids) await insist(() => send("DELETE", `/v1/webhooks/${id}`, { key }));
        for (const timer of timers) clearTimeout(timer);
        server.closeAllConnections();
        server.close();
      },
    };
  },
};

const soldByAmount = Array.from({ length: 500 }, (_, at) => ({
  side: "sell",
  scheme: "RODTEP",
  face_paise: 1_000_000 + at,
}));

const tried = { "x-dry-run": "1" };

const unreadPerConnection = 200;
/** Longer than it takes to make so many answers, and shorter than they are waited for. */
const unreadSettleMs = 5_000;

/** Large files are asked for on each connection before anything is measured, and nobody reads them. */
const unreadAnswers: DoorAttack = {
  name: `${connections} × ${unreadPerConnection} answers that nobody reads`,
  async open({ url }) {
    const asked = "GET /docs/js/scalar.js HTTP/1.1\r\nHost: x\r\n\r\n".repeat(unreadPerConnection);
    const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(url)));
    for (const socket of sockets) socket.pause().write(asked);
    await sleep(unreadSettleMs);
    return {
      async run(signal) {
        if (!signal.aborted) await once(signal, "abort");
        return [];
      },
      async close() {
        for (const socket of sockets) socket.destroy();
      },
    };
  },
};

export const doorAttacks: readonly DoorAttack[] = [
  { name: "64 × the document, unchanged", open: unchanged("/v1/openapi.json") },
  { name: "64 × a guide, unchanged", open: unchanged("/docs/walk") },
  { name: "64 × a guide", open: plain("/docs/walk") },
  { name: "64 × /readyz", open: plain("/readyz") },
  {
    name: "64 × a key that nobody has",
    open: repeat(connections, ({ url, key }) => {
      return {
        url: `${url}/v1/whoami`,
        key: key.replace(/.$/, (last) => (last === "x" ? "y" : "x")),
      };
    }),
  },
  unreadAnswers,
  slowReceivers,
  {
    name: "2 × the sandbox's clock on 40,000 credits",
    open: repeat(2, ({ url, key }) => {
      const body = { advance_s: 60 };
      return { url: `${url}/v1/sandbox/clock`, method: "POST", key, body };
    }),
  },
  {
    name: "2 × a reset of 40,000 credits, tried",
    open: repeat(2, ({ url, key }) => {
      return { url: `${url}/v1/sandbox/reset`, method: "POST", key, headers: tried, body: {} };
    }),
  },
  {
    name: "64 × an order, tried",
    open: repeat(connections, ({ url, key }) => {
      const body = { side: "sell", scheme: "RODTEP", face_paise: 1_000_000 };
      return { url: `${url}/v1/orders`, method: "POST", key, headers: tried, body };
    }),
  },
  {
    name: "2 × 500 sells by amount, tried",
    open: repeat(2, ({ url, key }) => {
      const body = { orders: soldByAmount };
      return { url: `${url}/v1/orders:batch`, method: "POST", key, headers: tried, body };
    }),
  },
  { name: "4 × a workbook with one long text in every cell", open: importBook(sharedTextBook) },
  { name: "4 × a workbook with a million cells in a row", open: importBook(wideBook) },
  {
    name: "16 × a sign-in with a wrong password",
    open: repeat(16, ({ opsUrl }) => {
      const body = { name: "asha", password: "not the right one", code: "000000" };
      return { url: `${opsUrl}/ops/sign-in`, method: "POST", body };
    }),
  },
];

const tickMs = 10;
const behindMax = 256;

/** The yardstick: `/healthz` at a rate, by as many connections. */
export async function callHealth(
  url: string,
  perSecond: number,
  signal: AbortSignal,
): Promise<void> {
  const begunMs = performance.now();
  let begun = 0;
  let underWay = 0;
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - begunMs) / 1_000) * perSecond);
    for (; begun < due && underWay < behindMax; begun++) {
      underWay += 1;
      void call(`${url}/healthz`, {}, signal).then(() => (underWay -= 1));
    }
    await sleep(tickMs);
  }
}
