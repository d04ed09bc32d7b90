// The workload of the kill programme, in a process of its own: callers that place orders, batches and
// cancels one after the other, and never lose count of what they were told.
//
//   ok        a whole answer of the 2xx class
//   fail      a refusal of ours, 4xx
//   unknown   anything else, or that the caller hung up before it was answered, as some do: sent
//             again under the same idempotency key until it is one of the others
//
// `node test/faults/order-load.ts '{"url": …}'` runs until its input ends, then finishes what is
// under way and writes what it was told to the file it was given.

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { drawFrom } from "../support/market.ts";

export type LoadSettings = {
  readonly url: string;
  readonly seed: number;
  /** Distinguishes the numbers and idempotency keys of this load from those of others. */
  readonly name: string;
  readonly callers: number;
  readonly seller: Desk;
  readonly buyer: Desk;
  readonly resultFile: string;
  /** No caller hangs up by itself. */
  readonly isPatient?: boolean | undefined;
  /** How long a caller rests after each act, in the middle; not at all unless it is said. */
  readonly pauseMs?: number | undefined;
};

/** An attempt that got no whole answer, or one of 5xx, and when it was under way. */
export type FailedCall = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly what: string;
};

export type Desk = { readonly api_key: string; readonly firm_id: string };

export type LoadResult = {
  /** The order of each idempotency key that was answered with success. */
  readonly acked: readonly (readonly [key: string, orderId: string])[];
  /** When each of them was. */
  readonly ackedAtMs: readonly number[];
  /** Keys that were refused at last. */
  readonly refused: readonly string[];
  /** Orders whose cancel was answered with success. */
  readonly cancelled: readonly string[];
  readonly cancelledAtMs: readonly number[];
  /** Requests that may have arrived and were not answered at first. */
  readonly ambiguous: number;
  /** Attempts without a whole answer of the service, for whatever reason. */
  readonly unanswered: number;
  /** Answers of the service that it is too busy or has a fault. */
  readonly shed: number;
  /** All of both. */
  readonly failed: readonly FailedCall[];
  /** Answers that found the order of an earlier, ambiguous attempt. */
  readonly replays: number;
  /** What was still unknown when patience ended; must be empty. */
  readonly unresolved: readonly string[];
};

type Reply = { readonly status: number; readonly body: Body };
// Answers of several shapes; what is read of them is checked where it is read.
// oxlint-disable-next-line typescript/no-explicit-any
type Body = any;

const face = 100_000;
/** Above the house's bid for this face, and below its ask by more than the margin. */
const restingLimitBps = 9_700;
const declaredAtOnce = 500;
/** Longer than a cluster takes to find a new primary. */
const patienceMs = 180_000;
const answerWithinMs = 10_000;
const hangUpChance = 0.02;
const hangUpWithinMs = 40;

export function orderLoad({
  url,
  seed,
  name,
  callers,
  seller,
  buyer,
  isPatient = false,
  pauseMs = 0,
}: LoadSettings) {
  const draw = drawFrom(seed);
  const acked = new Map<string, string>();
  const [ackedAtMs, cancelledAtMs]: [number[], number[]] = [[], []];
  const refused = new Set<string>();
  const cancelled = new Set<string>();
  const unresolved: string[] = [];
  const failed: FailedCall[] = [];
  const free: string[] = [];
  const stopping = new AbortController();
  let [ambiguous, unanswered, shed, replays, numbers, keys] = [0, 0, 0, 0, 0, 0];

  async function attempt(path: string, key: string, headers: object, body: object): Promise<Reply> {
    const isHasty = draw() < hangUpChance && !isPatient;
    const withinMs = isHasty ? Math.ceil(draw() * hangUpWithinMs) : answerWithinMs;
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-service-key": key, ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(withinMs),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Sends until the outcome is known. */
  async function send(path: string, desk: Desk, headers: object, body: object): Promise<Reply> {
    const endMs = performance.now() + patienceMs;
    let isAmbiguous = false;
    while (performance.now() < endMs) {
      const fromMs = Date.now();
      const reply = await attempt(path, desk.api_key, headers, body).catch(
        (error: unknown) => error,
      );
      if (isReply(reply) && reply.status < 500) {
        if (isAmbiguous) replays += replaysIn(reply);
        return reply;
      }
      if (isReply(reply)) shed += 1;
      else unanswered += 1;
      failed.push({ fromMs, toMs: Date.now(), what: `${path}: ${describe(reply)}` });
      const mayHaveArrived = isReply(reply) || !wasRefused(reply);
      if (mayHaveArrived && !isAmbiguous) ambiguous += 1;
      isAmbiguous ||= mayHaveArrived;
      await sleep(20 + draw() * 60);
    }
    unresolved.push(`${path} ${JSON.stringify(headers)}`);
    return { status: 0, body: {} };
  }

  function note(key: string, status: number, order: Body): void {
    if (status === 200 || status === 201) {
      acked.set(key, order.order_id);
      ackedAtMs.push(Date.now());
    } else if (status > 0) refused.add(key);
  }

  async function takeCredits(count: number): Promise<string[]> {
    while (free.length < count) {
      const credits = Array.from({ length: declaredAtOnce }, () => ({
        scrip_no: `${name}-${String(++numbers).padStart(8, "0")}A`,
        scheme: "RODTEP",
        face_paise: face,
        issued_on: "2026-01-01",
        expires_on: daysFromNow(700),
      }));
      const path = `/v1/firms/${seller.firm_id}/credits`;
      const { status, body } = await send(path, seller, {}, { credits });
      if (status !== 200) throw new Error(`credits cannot be declared: ${JSON.stringify(body)}`);
      free.push(...credits.map(({ scrip_no }) => scrip_no));
    }
    return free.splice(0, count);
  }

  async function place(desk: Desk, order: object): Promise<Body> {
    const key = `${name}-${++keys}`;
    const { status, body } = await send("/v1/orders", desk, { "idempotency-key": key }, order);
    note(key, status, body);
    return body;
  }

  async function placeBatch(scripNos: readonly string[]): Promise<void> {
    const key = `${name}-${++keys}`;
    const orders = scripNos.map((scripNo) => ({ side: "sell", scrip_no: scripNo }));
    const { body } = await send("/v1/orders:batch", seller, { "idempotency-key": key }, { orders });
    for (const { index, status, order } of body.results ?? []) {
      note(`${key}#${index}`, status, order);
    }
  }

  async function restAndMaybeCancel(scripNo: string): Promise<void> {
    const sell = { side: "sell", scrip_no: scripNo, limit_bps: restingLimitBps };
    const { order_id } = await place(seller, sell);
    if (!order_id || draw() < 0.4) return;
    const { status } = await send(`/v1/orders/${order_id}/cancel`, seller, {}, {});
    if (status !== 200) return;
    cancelled.add(order_id);
    cancelledAtMs.push(Date.now());
  }

  async function act(): Promise<void> {
    const chance = draw();
    if (chance < 0.5) {
      const [scripNo] = await takeCredits(1);
      await place(seller, { side: "sell", scrip_no: scripNo });
    } else if (chance < 0.7) {
      await placeBatch(await takeCredits(2 + Math.floor(draw() * 19)));
    } else if (chance < 0.9) {
      const [scripNo = ""] = await takeCredits(1);
      await restAndMaybeCancel(scripNo);
    } else {
      await place(buyer, { side: "buy", scheme: "RODTEP", requirement_paise: face });
    }
  }

  async function caller(): Promise<void> {
    while (!stopping.signal.aborted) {
      await act();
      if (pauseMs > 0) await sleep(pauseMs * 2 * draw());
    }
  }

  const running = Promise.all(Array.from({ length: callers }, caller));
  return {
    ackedSoFar: () => acked.size,
    async stop(): Promise<LoadResult> {
      stopping.abort();
      await running;
      return {
        acked: [...acked],
        ackedAtMs,
        refused: [...refused],
        cancelled: [...cancelled],
        cancelledAtMs,
        ambiguous,
        unanswered,
        shed,
        failed,
        replays,
        unresolved,
      };
    },
  };
}

function isReply(outcome: unknown): outcome is Reply {
  return typeof outcome === "object" && outcome !== null && "status" in outcome;
}

function describe(outcome: unknown): string {
  if (isReply(outcome)) return `${outcome.status} ${JSON.stringify(outcome.body)}`;
  const { message, cause } = outcome as { message: string; cause?: { message?: string } };
  return cause?.message === undefined ? message : `${message} (${cause.message})`;
}

/** A connection that was never made carried nothing. */
function wasRefused(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === "ECONNREFUSED";
}

function replaysIn({ status, body }: Reply): number {
  if (!body.results) return status === 200 && body.order_id ? 1 : 0;
  return body.results.filter((result: Body) => result.status === 200 && result.order).length;
}

const dayMs = 86_400_000;
function daysFromNow(days: number): string {
  return new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
}

async function main(): Promise<void> {
  const settings = JSON.parse(process.argv[2] ?? "{}") as LoadSettings;
  const load = orderLoad(settings);
  const told = setInterval(() => process.stdout.write(`${load.ackedSoFar()}\n`), 50);
  process.stdin.resume();
  await once(process.stdin, "end");
  const result = await load.stop();
  clearInterval(told);
  await writeFile(settings.resultFile, JSON.stringify(result));
}

if (import.meta.main) await main();
