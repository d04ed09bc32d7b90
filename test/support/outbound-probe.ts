// Sends to every hostile URL from inside a network of its own, where every address there is leads to
// one canary. Run by test/api/outbound.test.ts under `unshare -rn`; prints what the canary saw.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { Agent, request } from "undici";

import { openOutbound } from "../../src/platform/outbound.ts";
import { hostileNames, hostileUrls } from "./hostile-urls.ts";

export type ProbeReport = {
  readonly sent: number;
  readonly faults: readonly string[];
  /** Which addresses the canary was reached at. */
  readonly reached: readonly string[];
  /** The same for a guard that only knows the usual private networks. */
  readonly reachedPastBlockList: readonly string[];
  /** The same for public addresses and a name that turns from public to private. */
  readonly reachedInPublic: readonly string[];
};

let reached: string[] = [];

const canary = createServer((incoming, response) => {
  incoming.resume();
  response.writeHead(302, { location: "http://127.0.0.1/" }).end();
}).on("connection", (socket) => void reached.push(String(socket.localAddress)));
await new Promise<void>((resolve) => canary.listen(0, "::", resolve));
const { port } = canary.address() as AddressInfo;

let turns = 0;
const resolve = async (hostname: string): Promise<readonly string[]> => {
  if (hostname === "turning.example") return turns++ === 0 ? ["8.8.4.4"] : ["127.0.0.1"];
  if (hostname === "mixed.example") return ["10.0.0.1", "9.9.9.9", "::1"];
  return hostileNames[hostname] ?? [];
};

async function send(urls: readonly string[]): Promise<string[]> {
  const outbound = openOutbound({ allowCidrs: [], resolve, deadlineMs: 3_000 });
  const body = Buffer.from("{}");
  const sent = urls.map(async (text) => {
    if (!URL.canParse(text)) return "no address";
    const heard = await outbound.post({ url: new URL(text), headers: {}, body });
    return heard.kind === "failed" ? heard.fault : String(heard.status);
  });
  const heard = await Promise.all(sent);
  await outbound.close();
  return heard;
}

/** What many services do: text that looks like a private address is refused. */
async function sendPastBlockList(urls: readonly string[]): Promise<void> {
  const dispatcher = new Agent();
  const isListed = (host: string) =>
    /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.|\[::1\]|\[f[cde])/.test(host);
  const post = async (url: string) => {
    const signal = AbortSignal.timeout(3_000);
    const { body } = await request(url, { dispatcher, method: "POST", body: "{}", signal });
    await body.dump();
  };
  const tried = urls
    .filter((text) => URL.canParse(text) && !isListed(new URL(text).hostname))
    .map((text) => post(text).catch(() => {}));
  await Promise.all(tried);
  await dispatcher.destroy();
}

function taken(): string[] {
  const seen = reached;
  reached = [];
  return seen;
}

const urls = hostileUrls(port);
const faults = await send(urls);
const hostile = taken();
await sendPastBlockList(urls);
const pastBlockList = taken();
const turning = `http://turning.example:${port}/hook`;
await send([turning]);
await send([turning, `http://mixed.example:${port}/hook`, `http://[2600::1]:${port}/hook`]);
const report: ProbeReport = {
  sent: urls.length,
  faults,
  reached: hostile,
  reachedPastBlockList: pastBlockList,
  reachedInPublic: taken(),
};
process.stdout.write(JSON.stringify(report));
canary.closeAllConnections();
canary.close();
