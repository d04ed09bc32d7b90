// Requests that once slowed everybody else, each as its sender would send it. To measure another one,
// add it to the list.

import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { request } from "undici";

import { buildXlsx } from "../support/build-xlsx.ts";
import type { Running } from "../support/process.ts";

/** A desk of the sandbox, furnished with all that makes requests heavy. */
export type HeavyDesk = {
  readonly key: string;
  readonly deskId: string;
  readonly groupPath: string;
  readonly clientId: string;
  /** Puts odd faces on offer again, for requests that buy them. */
  readonly restock: () => Promise<void>;
};

export type Target = HeavyDesk & Pick<Running, "url" | "send">;

export type HeavyRequest = {
  readonly name: string;
  /** What it needs each time, before anything is measured. */
  prepare?(target: Target): Promise<void>;
  /** Sends the requests and answers with their statuses; 0 for one that was given up. */
  send(target: Target): Promise<readonly number[]>;
};

const mebibyte = 1_048_576;
const giveUpMs = 3_000;
const chunkedBodies = 600;
const chunk = Buffer.alloc(65_536, "a");
const chunksPerBody = 12;
const chunkedMsMax = 30_000;

/** Numbers are new in every process and every call. */
let numbered = Date.now() % 1_000_000_000;

const buys = Array.from({ length: 500 }, (_, at) => ({
  side: "buy",
  scheme: "RODTEP",
  requirement_paise: 8_000_011 + 977 * at,
}));

/** As large as a body may be, with one decimal in it. */
const decimalBody = (() => {
  const head = '{"orders":[{"side":"sell","face_paise":1.5,"client_ref":"';
  const tail = '"}]}';
  return head + "a".repeat(mebibyte - head.length - tail.length) + tail;
})();

/** The same size in many small members, which are what takes time. */
const memberBody = `[${"1.5,".repeat(Math.floor(mebibyte / 4) - 2)}1.5]`;

/** As much as is unpacked at most: a sheet of fifteen megabytes of empty rows. */
const burstingBook = buildXlsx([], {
  parts: {
    "xl/workbook.xml":
      '<workbook xmlns:r="r"><sheets><sheet name="a" sheetId="1" r:id="a"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels":
      '<Relationships><Relationship Id="a" Type="/worksheet" Target="a.xml"/></Relationships>',
    "xl/a.xml": `<worksheet><sheetData>${"<row><c><v>1</v></c></row>".repeat(600_000)}</sheetData></worksheet>`,
  },
});

export const heavyRequests: readonly HeavyRequest[] = [
  {
    name: "6 bodies of 1 MiB with a decimal, without a key",
    send: ({ url }) =>
      sendAtOnce(6, async (at) => {
        const body = at % 2 === 0 ? decimalBody : memberBody;
        return await ask(`${url}/v1/orders:batch`, "POST", { body });
      }),
  },
  {
    name: "6 bodies of 1 MiB with a decimal, with a key",
    send: ({ url, key }) =>
      sendAtOnce(6, async (at) => {
        const body = at % 2 === 0 ? decimalBody : memberBody;
        return await ask(`${url}/v1/orders:batch`, "POST", { key, body });
      }),
  },
  {
    name: "600 chunked bodies without a key",
    send: ({ url }) => sendAtOnce(chunkedBodies, () => sendChunked(url, "/v1/orders")),
  },
  {
    name: "a batch of 500 invalid items",
    async send({ url, key }) {
      const orders = Array.from({ length: 500 }, (_, at) => ({
        side: "keep",
        unknown: at,
        n: 1.5,
      }));
      const body = JSON.stringify({ orders });
      return [await ask(`${url}/v1/orders:batch`, "POST", { key, body })];
    },
  },
  {
    name: "500 buys by batch on 2,000 odd faces, tried",
    async send({ url, key }) {
      const headers = { "x-dry-run": "1" };
      const body = JSON.stringify({ orders: buys });
      return [await ask(`${url}/v1/orders:batch`, "POST", { key, body, headers })];
    },
  },
  {
    name: "500 buys by batch on 2,000 odd faces",
    prepare: ({ restock }) => restock(),
    async send({ send, key }) {
      const { status, body } = await send("POST", "/v1/orders:batch", {
        key,
        body: { orders: buys },
      });
      const ofItems = (body?.results ?? []).map((result: { status: number }) => result.status);
      return [status, ...ofItems];
    },
  },
  {
    name: "30 buy quotes on odd faces at once",
    prepare: ({ restock }) => restock(),
    send: ({ url, key }) =>
      sendAtOnce(30, async (at) => {
        const requirement_paise = 80_000_011 + 977 * at;
        const body = JSON.stringify({ side: "buy", scheme: "RODTEP", requirement_paise });
        return await ask(`${url}/v1/quote`, "POST", { key, body });
      }),
  },
  ...(["json", "csv", "xlsx", "pdf"] as const).map((format) => ({
    name: `6 statements of 4,000 lines as ${format.toUpperCase()}`,
    send: ({ url, key, deskId }: Target) =>
      sendAtOnce(6, async () => {
        const month = new Date(Date.now() + istMs).toISOString().slice(0, 7);
        const path = `/v1/statements/${month}?format=${format}&firm_id=${deskId}`;
        return await ask(`${url}${path}`, "GET", { key });
      }),
  })),
  {
    name: "4 nettings of 2,000 × 300, given up",
    send: ({ url, key, groupPath }) =>
      sendAtOnce(4, async () => {
        const signal = AbortSignal.timeout(giveUpMs);
        const headers = { "x-service-key": key };
        return await request(`${url}${groupPath}/netting`, { headers, signal }).then(
          async ({ statusCode, body }) => (await body.dump(), statusCode),
          () => 0,
        );
      }),
  },
  {
    name: "an import of 5,000 rows",
    async send({ url, key, clientId }) {
      const rows = Array.from(
        { length: 5_000 },
        () => `IMP${++numbered}A,RODTEP,1000,2026-01-01,2027-12-31`,
      );
      const csv = ["Scrip No,Scheme,Amount,Issue Date,Expiry Date", ...rows].join("\n");
      const path = `/v1/firms/${clientId}/credits:import`;
      return [await ask(`${url}${path}`, "POST", { key, body: JSON.stringify({ csv }) })];
    },
  },
  {
    name: "an import of 5,000 rows as a workbook",
    async send({ url, key, clientId }) {
      const rows = Array.from({ length: 5_000 }, () => [
        `IMP${++numbered}A`,
        "RODTEP",
        1_000,
        "2026-01-01",
        "2027-12-31",
      ]);
      const heading = ["Scrip No", "Scheme", "Amount", "Issue Date", "Expiry Date"];
      const book = buildXlsx([{ rows: [heading, ...rows] }]);
      const body = JSON.stringify({ xlsx: Buffer.from(book).toString("base64") });
      const path = `/v1/firms/${clientId}/credits:import`;
      return [await ask(`${url}${path}`, "POST", { key, body })];
    },
  },
  {
    name: "4 imports of a workbook that would burst",
    send: ({ url, key, clientId }) =>
      sendAtOnce(4, async () => {
        const body = JSON.stringify({ xlsx: Buffer.from(burstingBook).toString("base64") });
        const path = `/v1/firms/${clientId}/credits:import`;
        return await ask(`${url}${path}`, "POST", { key, body });
      }),
  },
  {
    name: "4 imports of one row of 1 MiB",
    send: ({ url, key, clientId }) =>
      sendAtOnce(4, async () => {
        const body = JSON.stringify({ csv: ",".repeat(mebibyte - 16) });
        return await ask(`${url}/v1/firms/${clientId}/credits:import`, "POST", { key, body });
      }),
  },
  {
    name: "4 exports of the audit trail",
    send: ({ url, key }) =>
      sendAtOnce(4, async () => await ask(`${url}/v1/audit/export`, "GET", { key })),
  },
  {
    name: "10 lists of 1,000 events",
    send: ({ url, key }) =>
      sendAtOnce(10, async () => await ask(`${url}/v1/events`, "GET", { key })),
  },
  {
    name: "10 lists of 1,000 credits and of orders",
    send: ({ url, key, clientId }) =>
      sendAtOnce(10, async (at) => {
        const path = at % 2 === 0 ? `/v1/firms/${clientId}/credits` : "/v1/orders";
        return await ask(`${url}${path}`, "GET", { key });
      }),
  },
];

const istMs = 19_800_000;

type Asked = { readonly key?: string; readonly body?: string; readonly headers?: object };

/** What is answered is not read beyond its status, so that this process has little to do. */
async function ask(url: string, method: "GET" | "POST", { key, body, headers }: Asked) {
  const answer = await request(url, {
    method,
    headers: {
      ...(key !== undefined && { "x-service-key": key }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  for await (const _ of answer.body);
  return answer.statusCode;
}

export async function sendAtOnce(
  count: number,
  one: (at: number) => Promise<number>,
): Promise<number[]> {
  return await Promise.all(Array.from({ length: count }, (_, at) => one(at)));
}

/** A body in chunks that is not ended before a while, as slow as the service reads it. */
async function sendChunked(url: string, path: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answered = Promise.withResolvers<number>();
  socket.on("error", () => answered.resolve(0));
  socket.on("close", () => answered.resolve(0));
  let text = "";
  socket.on("data", (data: Buffer) => {
    text += data.toString("latin1");
    const status = /^HTTP\/1\.1 (\d{3}) (?!Continue)/.exec(text)?.[1];
    if (status) answered.resolve(Number(status));
  });
  const limit = setTimeout(() => answered.resolve(0), chunkedMsMax);
  try {
    socket.write(
      [
        `POST ${path} HTTP/1.1`,
        "Host: stall",
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
        "",
        "",
      ].join("\r\n"),
    );
    for (let sent = 0; sent < chunksPerBody && socket.writable; sent++) {
      socket.write(`${chunk.length.toString(16)}\r\n`);
      socket.write(chunk);
      if (!socket.write("\r\n")) await Promise.race([once(socket, "drain"), answered.promise]);
    }
    await Promise.race([sleep(1_000), answered.promise]);
    if (socket.writable) socket.write("0\r\n\r\n");
    return await answered.promise;
  } catch {
    return 0;
  } finally {
    clearTimeout(limit);
    socket.destroy();
  }
}
