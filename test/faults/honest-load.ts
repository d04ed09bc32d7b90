// Desks that do what desks do, in a process of its own: quotes, orders, batches, cancels, lists and a
// stream each, one call after the other. What is told is how every call was answered.
//
// `node test/faults/honest-load.ts '{"url": …}'` runs until its input ends, then writes what it was
// told to its output.

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { request } from "undici";

import { drawFrom, type Draw } from "../support/market.ts";
import { sender } from "../support/service.ts";

export type HonestDesk = {
  readonly key: string;
  readonly environment: "live" | "sandbox";
  /** The firm whose credits it sells. */
  readonly clientId: string;
  /** Credits that are there to be sold; the sandbox declares more. */
  readonly scripNos: readonly string[];
};

export type HonestSettings = {
  readonly url: string;
  readonly seed: number;
  readonly desks: readonly HonestDesk[];
};

export type HonestReport = {
  readonly byStatus: Readonly<Record<string, number>>;
  /** Events that came by the streams. */
  readonly streamed: number;
  /** Streams that ended before they were left. */
  readonly cut: number;
  /** What was answered 5xx, or not at all. */
  readonly failures: readonly string[];
};

const pauseMs = 25;
const declaredAtOnce = 50;
const face = 100_000;
/** Below the house's bid, so that it rests. */
const restingLimitBps = 5_000;
const failuresShown = 20;

function honestLoad({ url, seed, desks }: HonestSettings) {
  const send = sender(url);
  const stopping = new AbortController();
  const byStatus: Record<string, number> = {};
  const failures: string[] = [];
  let [streamed, cut, numbers] = [0, 0, 0];

  async function call(desk: HonestDesk, method: "GET" | "POST", path: string, body?: object) {
    const sent = { key: desk.key, ...(body && { body }) };
    const answer = await send(method, path, sent).catch((error: unknown) => error);
    const status = answer instanceof Error ? 0 : (answer as { status: number }).status;
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    if (answer instanceof Error || status >= 500) {
      const told = answer instanceof Error ? String(answer) : JSON.stringify(answer);
      if (failures.length < failuresShown)
        failures.push(`${method} ${path}: ${told.slice(0, 300)}`);
      return undefined;
    }
    return (answer as Awaited<ReturnType<typeof send>>).body;
  }

  async function takeCredit(desk: HonestDesk, free: string[]): Promise<string | undefined> {
    if (free.length === 0 && desk.environment === "sandbox") {
      const credits = Array.from({ length: declaredAtOnce }, () => ({
        scrip_no: `HON${seed}-${String(++numbers).padStart(6, "0")}A`,
        scheme: "RODTEP",
        face_paise: face,
        issued_on: "2026-01-01",
        expires_on: "2027-12-31",
      }));
      const body = await call(desk, "POST", `/v1/firms/${desk.clientId}/credits`, { credits });
      if (body) free.push(...credits.map(({ scrip_no }) => scrip_no));
    }
    return free.pop();
  }

  async function act(desk: HonestDesk, free: string[], draw: Draw): Promise<void> {
    const chance = draw();
    const buy = {
      side: "buy",
      scheme: "RODTEP",
      requirement_paise: 2 * face + Math.floor(draw() * face),
    };
    const scrip_no = chance < 0.5 ? await takeCredit(desk, free) : undefined;
    const sell = scrip_no && { side: "sell", scrip_no };
    if (chance < 0.2 && sell) await call(desk, "POST", "/v1/quote", sell);
    else if (chance < 0.35 && sell) {
      const quote = await call(desk, "POST", "/v1/quote", sell);
      if (quote?.quote_ref) await call(desk, "POST", "/v1/orders", { quote_ref: quote.quote_ref });
    } else if (chance < 0.5 && sell) {
      await call(desk, "POST", "/v1/orders:batch", { orders: [sell, buy] });
    } else if (chance < 0.65) await call(desk, "POST", "/v1/quote", buy);
    else if (chance < 0.8) {
      const resting = { ...buy, limit_bps: restingLimitBps };
      const order = await call(desk, "POST", "/v1/orders", resting);
      if (order?.order_id) await call(desk, "POST", `/v1/orders/${order.order_id}/cancel`, {});
    } else if (chance < 0.85) await call(desk, "GET", "/v1/orders?limit=50");
    else if (chance < 0.9) await call(desk, "GET", `/v1/firms/${desk.clientId}/credits?limit=50`);
    else if (chance < 0.95) await call(desk, "GET", "/v1/events?limit=50");
    else await call(desk, "GET", "/v1/whoami");
  }

  async function caller(desk: HonestDesk, at: number): Promise<void> {
    const draw = drawFrom(seed + at);
    const free = [...desk.scripNos];
    while (!stopping.signal.aborted) {
      await act(desk, free, draw);
      await sleep(pauseMs * 2 * draw());
    }
  }

  async function listen(desk: HonestDesk): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const { statusCode, body } = await request(`${url}/v1/events/stream`, {
          headers: { "x-service-key": desk.key },
          signal: stopping.signal,
          bodyTimeout: 0,
        });
        byStatus[statusCode] = (byStatus[statusCode] ?? 0) + 1;
        for await (const chunk of body) streamed += String(chunk).split("\nevent:").length - 1;
        cut += 1;
      } catch {
        if (!stopping.signal.aborted) cut += 1;
      }
      if (!stopping.signal.aborted) await sleep(200);
    }
  }

  const running = Promise.all([
    ...desks.map((desk, at) => caller(desk, at)),
    ...desks.map((desk) => listen(desk)),
  ]);
  return {
    calls: () => Object.values(byStatus).reduce((sum, count) => sum + count, 0),
    async stop(): Promise<HonestReport> {
      stopping.abort();
      await running;
      return { byStatus, streamed, cut, failures };
    },
  };
}

async function main(): Promise<void> {
  const load = honestLoad(JSON.parse(process.argv[2] ?? "{}") as HonestSettings);
  process.stdin.resume();
  await once(process.stdin, "end");
  process.stdout.write(JSON.stringify(await load.stop()));
}

if (import.meta.main) await main();
