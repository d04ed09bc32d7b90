// What others than the attacker do meanwhile, in a process of its own: a desk of the sandbox and one of
// live place orders, ask for quotes, fetch papers and ping their webhooks, each of these one after the
// other, until the input ends. Then it tells how long each took and how many failed.

import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import type { Environment } from "../../src/kernel/caller.ts";
import { sender } from "../support/service.ts";

export const victims = ["order", "quote", "paper", "ping"] as const;
export type Victim = (typeof victims)[number];

export type VictimDesk = {
  readonly environment: Environment;
  readonly key: string;
  readonly deskId: string;
  /** Its receiver is here, at the port of the settings. */
  readonly webhookId: string;
};

export type VictimSettings = {
  readonly url: string;
  /** Where this process receives pings. */
  readonly port: number;
  readonly desks: readonly VictimDesk[];
  readonly kinds: readonly Victim[];
};

export type VictimTimes = {
  readonly environment: Environment;
  readonly victim: Victim;
  readonly times: readonly number[];
  readonly failed: number;
};

const istMs = 19_800_000;
/** What is not answered by then has failed. */
const longestMs = 20_000;
/** Below the house's bid, so that it rests. */
const restingLimitBps = 5_000;
const buy = { side: "buy", scheme: "RODTEP", requirement_paise: 250_000 };
/** Between two of a kind, so that the victims together are a light load. */
const pausesMs: Readonly<Record<Victim, number>> = { order: 40, quote: 25, paper: 60, ping: 40 };

/** Undefined for what fails or is not there in time. */
async function waitAtMost<Result>(work: Promise<Result>): Promise<Result | undefined> {
  const late = new AbortController();
  const found = await Promise.race([
    work.catch(() => undefined),
    sleep(longestMs, undefined, { signal: late.signal }),
  ]);
  late.abort();
  return found;
}

async function main(): Promise<void> {
  const { url, port, desks, kinds } = JSON.parse(process.argv[2] ?? "{}") as VictimSettings;
  const send = sender(url);
  /** By the id of a delivery: which may be here before the call that made it is answered. */
  const received = new Map<string, PromiseWithResolvers<void>>();
  const expectDelivery = (id: string) => {
    const expected = received.get(id) ?? Promise.withResolvers<void>();
    received.set(id, expected);
    return expected;
  };
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end());
    expectDelivery(String(request.headers["x-service-delivery"])).resolve();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");

  async function ask(desk: VictimDesk, method: "GET" | "POST", path: string, body?: object) {
    const answer = await send(method, path, { key: desk.key, ...(body && { body }) });
    if (answer.status >= 400) {
      throw new Error(`${path} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  /** Each returns what is done once its time is taken. */
  const acts: Readonly<Record<Victim, (desk: VictimDesk) => Promise<() => Promise<unknown>>>> = {
    async order(desk) {
      const resting = { ...buy, limit_bps: restingLimitBps };
      const { order_id } = await ask(desk, "POST", "/v1/orders", resting);
      return () => ask(desk, "POST", `/v1/orders/${order_id}/cancel`, {});
    },
    async quote(desk) {
      await ask(desk, "POST", "/v1/quote", buy);
      return async () => {};
    },
    async paper(desk) {
      const month = new Date(Date.now() + istMs).toISOString().slice(0, 7);
      const answer = await send("GET", `/v1/statements/${month}?format=pdf`, { key: desk.key });
      if (answer.status !== 200) throw new Error(`the paper was answered ${answer.status}`);
      return async () => {};
    },
    async ping(desk) {
      const path = `/v1/webhooks/${desk.webhookId}/test`;
      const { delivery_id } = await ask(desk, "POST", path);
      await expectDelivery(delivery_id).promise;
      return async () => void received.delete(delivery_id);
    },
  };

  const over = new AbortController();
  process.stdin.resume();
  void once(process.stdin, "end").then(() => over.abort());
  async function repeat(desk: VictimDesk, victim: Victim): Promise<VictimTimes> {
    const times: number[] = [];
    let failed = 0;
    while (!over.signal.aborted) {
      const begunMs = performance.now();
      const done = await waitAtMost(acts[victim](desk));
      times.push(performance.now() - begunMs);
      if (!done) failed += 1;
      else await waitAtMost(done());
      await sleep(pausesMs[victim]);
    }
    return { environment: desk.environment, victim, times, failed };
  }
  // Opens connections; what fails here is seen again below.
  for (const desk of desks) for (const victim of kinds) await waitAtMost(acts[victim](desk));
  process.stdout.write("\n");
  const told = desks.flatMap((desk) => kinds.map((victim) => repeat(desk, victim)));
  process.stdout.write(JSON.stringify(await Promise.all(told)));
  server.closeAllConnections();
  server.close();
  process.stdin.pause();
}

if (import.meta.main) await main();
