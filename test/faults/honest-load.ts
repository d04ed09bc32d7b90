// Desks that do what desks do, in a process of its own: quotes, orders, batches, cancels, lists and a
// stream each, one call after the other. What is told is how every call was answered.
//
// `node test/faults/honest-load.ts '{"url": …}'` runs until its input ends, then writes what it was
// told to its output. Each line of its input may bring credits that a desk can sell from then on.

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { request } from "undici";

import { drawFrom, type Draw } from "../support/market.ts";
import { sender } from "../support/service.ts";
import type { FailedCall } from "./order-load.ts";

export type HonestDesk = {
  readonly key: string;
  readonly environment: "live" | "sandbox";
  readonly deskId: string;
  /** The firm whose credits it sells. */
  readonly clientId: string;
  /** Credits that are there to be sold; the sandbox declares more. */
  readonly scripNos: readonly string[];
};

export type HonestSettings = {
  readonly url: string;
  readonly seed: number;
  readonly desks: readonly HonestDesk[];
  /** How long a desk rests after each act, in the middle. */
  readonly pauseMs?: number | undefined;
};

/** A line of the input: more credits of the desk at this place. */
export type HonestSupply = { readonly desk: number; readonly scripNos: readonly string[] };

export type HonestReport = {
  readonly byStatus: Readonly<Record<string, number>>;
  /** Events that came by the streams. */
  readonly streamed: number;
  /** Streams that ended before they were left. */
  readonly cut: number;
  /** What was answered 5xx, or not at all. */
  readonly failures: readonly FailedCall[];
  /** Orders that were answered with success. */
  readonly orders: readonly string[];
};

const pauseDefaultMs = 25;
const declaredAtOnce = 50;
const face = 100_000;
/** Below the house's bid, so that it rests. */
const restingLimitBps = 5_000;

function honestLoad({ url, seed, desks, pauseMs = pauseDefaultMs }: HonestSettings) {
  const send = sender(url);
  const stopping = new AbortController();
  const byStatus: Record<string, number> = {};
  const failures: FailedCall[] = [];
  const orders = new Set<string>();
  const frees = desks.map(({ scripNos }) => [...scripNos]);
  let [streamed, cut, numbers] = [0, 0, 0];

  async function call(desk: HonestDesk, method: "GET" | "POST", path: string, body?: object) {
    const sent = { key: desk.key, ...(body && { body }) };
    const fromMs = Date.now();
    const answer = await send(method, path, sent).catch((error: unknown) => error);
    const status = answer instanceof Error ? 0 : (answer as { status: number }).status;
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    if (answer instanceof Error || status >= 500) {
      const told = answer instanceof Error ? String(answer) : JSON.stringify(answer);
      const what = `${method} ${path}: ${told.slice(0, 300)}`;
      failures.push({ fromMs, toMs: Date.now(), what });
      return undefined;
    }
    const told = (answer as Awaited<ReturnType<typeof send>>).body;
    noteOrders(told);
    return told;
  }

  function noteOrders(told: Awaited<ReturnType<typeof send>>["body"]): void {
    if (told?.order_id) orders.add(told.order_id);
    for (const { order } of told?.results ?? []) if (order?.order_id) orders.add(order.order_id);
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
    if (chance < 0.2 && sell) {
      await call(desk, "POST", "/v1/quote", sell);
      free.unshift(scrip_no);
    } else if (chance < 0.35 && sell) {
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
    const free = frees[at] ?? [];
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
    supply: ({ desk, scripNos }: HonestSupply) => void frees[desk]?.push(...scripNos),
    async stop(): Promise<HonestReport> {
      stopping.abort();
      await running;
      return { byStatus, streamed, cut, failures, orders: [...orders] };
    },
  };
}

async function main(): Promise<void> {
  const load = honestLoad(JSON.parse(process.argv[2] ?? "{}") as HonestSettings);
  for await (const line of createInterface({ input: process.stdin })) {
    load.supply(JSON.parse(line) as HonestSupply);
  }
  process.stdout.write(JSON.stringify(await load.stop()));
}

if (import.meta.main) await main();
