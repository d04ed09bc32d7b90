// A long run of the service as `npm start` starts it: desks in both environments, an order load that
// remembers what it was told, receivers of webhooks and streams, and faults in between.
//
//   first third    kill -9 of the service and of PostgreSQL, and all of the following
//   other thirds   SIGSTOP of PostgreSQL, a receiver that hangs, streams that nobody reads; the
//                  processes stay the same, so that what they take can be compared
//   afterwards     deliveries are waited for, the service stops, and the rows are compared with what
//                  was told
//
// The control is the same load on a service that leaks: it must be seen to grow.

import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { drawFrom } from "../support/market.ts";
import {
  dataDirectory,
  postgresPid,
  type Program,
  type Running,
  type Scope,
  serve,
} from "../support/process.ts";
import { stopPostgres } from "../support/stopped-postgres.ts";
import {
  eventually,
  issueDesks,
  judge,
  type Load,
  type Site,
  startLoad,
  type Verdict,
} from "./acked-orders.ts";
import type { HonestDesk } from "./honest-load.ts";
import { asOwner, killEmbedded } from "./kill.ts";
import { addLiveCredits, openHonestDesks, startHonest } from "./mixed-load.ts";
import type { FailedCall } from "./order-load.ts";
import { openReceivers, type Receivers } from "./soak-receivers.ts";
import { describeSample, findGrowth, type Sample, takeSample } from "./soak-watch.ts";
import { openPlan, visit } from "./stall.ts";

export type SoakSettings = {
  readonly minutes: number;
  readonly seed: number;
  readonly say: (line: string) => void;
};

export type SoakReport = {
  readonly minutes: number;
  readonly samples: readonly Sample[];
  readonly faults: Readonly<Record<Fault, number>>;
  /** Calls that failed while the service or PostgreSQL was away. */
  readonly failedInFaults: number;
  /** Those that failed at any other time. */
  readonly failedBesides: readonly FailedCall[];
  readonly calls: number;
  readonly streamed: number;
  readonly orders: Verdict;
  /** Orders of the honest desks, and those that are not there. */
  readonly honest: { readonly acked: number; readonly lost: number };
  readonly webhooks: WebhookCount;
};

type WebhookCount = {
  readonly delivered: number;
  /** Delivered as the service has it, and never received. */
  readonly lost: number;
  readonly waiting: number;
  readonly dead: number;
};

export const faults = [
  "service killed",
  "PostgreSQL killed",
  "PostgreSQL stopped",
  "receiver hangs",
  "streams not read",
] as const;
export type Fault = (typeof faults)[number];
/** Those after which the same processes still run. */
const mildFaults = faults.slice(2);

/** Calls fail in it: from the fault until the service is ready again, and a moment more. */
type Away = { readonly fromMs: number; toMs: number };

const callers = 4;
const ordersPauseMs = 500;
const honestPauseMs = 150;
const liveCreditsPerMinute = 120;
const sampleMs = 5_000;
const gapMsMax = 20_000;
const afterMs = 1_000;
const stoppedMs = 5_000;
const heldMs = 20_000;
const streamsPerDesk = 3;
const drainMsMax = 300_000;

export type SoakSystem = Site & {
  readonly dataDir: string;
  readonly honestDesks: readonly HonestDesk[];
  readonly receivers: Receivers;
  service(): Running;
  start(program: Program): Promise<void>;
  stop(): Promise<void>;
};

/** What `npm start` runs. */
export async function npmStart(): Promise<Program> {
  const file = join(import.meta.dirname, "../../package.json");
  const { scripts } = JSON.parse(await readFile(file, "utf8")) as { scripts: { start: string } };
  const [program = "", ...words] = scripts.start.split(" ").slice("exec node".split(" ").length);
  return { program, words };
}

export const leakyService = { program: join(import.meta.dirname, "leaky-serve.ts"), words: [] };

/** A running service with desks, and receivers of their webhooks. */
export async function openSoakSystem(scope: Scope): Promise<SoakSystem> {
  const dataDir = await dataDirectory(scope);
  const receivers = await openReceivers(scope);
  const settings = {
    DATA_DIR: dataDir,
    LOG_LEVEL: "silent",
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    // What a receiver misses comes again within the run.
    WEBHOOK_SCHEDULE_S: "0,5,10,20,30,60,60,60,60,60",
  };
  let service = await serve(scope, settings, await npmStart());
  const { port } = new URL(service.url);
  const withContext = visit(dataDir);
  await withContext(openPlan);
  const honestDesks = await openHonestDesks({ withContext });
  const desks = await issueDesks({ DATA_DIR: dataDir });
  const subscribe = async (key: string, url: string) => {
    const body = { url, event: "*" };
    await service.send("POST", "/v1/webhooks", { key, body, expect: 201 });
  };
  // Live takes https alone.
  const sandbox = honestDesks.filter(({ environment }) => environment === "sandbox");
  for (const { key } of sandbox) await subscribe(key, receivers.steadyUrl);
  await subscribe(desks.seller.api_key, receivers.steadyUrl);
  await subscribe(desks.seller.api_key, receivers.hangingUrl);
  return {
    dataDir,
    folder: dataDir,
    settings: { DATA_DIR: dataDir },
    asOwner: (work) => asOwner(dataDir, work),
    url: service.url,
    ...desks,
    honestDesks,
    receivers,
    service: () => service,
    async start(program) {
      service = await serve(scope, { ...settings, PORT: port }, program);
    },
    async stop() {
      service.signal("SIGTERM");
      await service.ended;
    },
  };
}

/** The load for so many minutes; with faults unless the service has a defect already. */
export async function soak(
  scope: Scope,
  system: SoakSystem,
  { minutes, seed, say, isControl = false }: SoakSettings & { readonly isControl?: boolean },
): Promise<SoakReport> {
  const { url } = system;
  const load = startLoad(scope, system, { seed, callers, isPatient: true, pauseMs: ordersPauseMs });
  const desks = system.honestDesks;
  const honest = startHonest({ url, seed, desks, pauseMs: honestPauseMs });
  const away: Away[] = [];
  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  const isOn = () => elapsedMs() < minutes * 60_000;
  const samples: Sample[] = [];
  const watched = watch(system, { isOn, startMs, away, samples, say });
  const supplied = supplyLive(system, isOn, honest);
  const counts = isControl ? noFaults() : await inflictFaults(system, { minutes, seed, away, say });
  await Promise.all([watched, supplied]);
  const { told, report } = await stopLoads(load, honest);
  if (!isControl) await drain(system);
  await system.stop();
  const failed = [...told.failed, ...report.failures];
  const besides = failed.filter(
    (call) => !away.some(({ fromMs, toMs }) => call.toMs >= fromMs && call.fromMs <= toMs),
  );
  const answered = Object.values(report.byStatus).reduce((sum, count) => sum + count, 0);
  return {
    minutes,
    samples,
    faults: counts,
    failedInFaults: failed.length - besides.length,
    failedBesides: besides,
    calls: answered + told.acked.length + told.refused.length,
    streamed: report.streamed,
    orders: await judge(system, told),
    honest: { acked: report.orders.length, lost: await countLost(system, report.orders) },
    webhooks: await countWebhooks(system),
  };
}

/** In fewer minutes the processes still take what they will keep. */
const minutesToTell = 12;

/** Names what is wrong; empty when all held. */
export function soakBreaches(report: SoakReport): string[] {
  const { orders, honest, webhooks, failedBesides, minutes, samples } = report;
  const growth = findGrowth(samples).filter(
    (name) => minutes >= minutesToTell || !name.startsWith("memory"),
  );
  return [
    ...orders.breaches,
    ...failedBesides.map(({ what }) => `failed with no fault: ${what}`),
    ...growth.map((name) => `${name} grew`),
    ...(honest.lost > 0 ? [`${honest.lost} orders of honest desks are lost`] : []),
    ...(webhooks.lost > 0 ? [`${webhooks.lost} deliveries never came`] : []),
    ...(webhooks.waiting > 0 ? [`${webhooks.waiting} deliveries still wait`] : []),
    ...(webhooks.dead > 0 ? [`${webhooks.dead} deliveries were given up`] : []),
    ...(webhooks.delivered > 0 && orders.acked > 0 && report.streamed > 0 ? [] : ["nothing ran"]),
  ];
}

function noFaults(): Record<Fault, number> {
  return Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>;
}

async function stopLoads(load: Load, honest: ReturnType<typeof startHonest>) {
  const [told, report] = await Promise.all([load.stop(), honest.stop()]);
  return { told, report };
}

/** A sample every few seconds while the database answers, and a line for each minute. */
async function watch(
  system: SoakSystem,
  {
    isOn,
    startMs,
    away,
    samples,
    say,
  }: Pick<SoakSettings, "say"> & {
    readonly isOn: () => boolean;
    readonly startMs: number;
    readonly away: readonly Away[];
    readonly samples: Sample[];
  },
): Promise<void> {
  for (let minute = 1; isOn();) {
    await sleep(sampleMs);
    if (away.some(({ toMs }) => toMs > Date.now())) continue;
    const { pid } = system.service();
    const sample = await takeSample({ pid, dataDir: system.dataDir }, startMs).catch(
      () => undefined,
    );
    // What a fault cut off, or what is of a process that has ended, tells nothing.
    if (!sample || pid !== system.service().pid) continue;
    samples.push(sample);
    if (sample.atMs < minute * 60_000) continue;
    say(`minute ${minute}: ${describeSample(sample)}`);
    minute = Math.floor(sample.atMs / 60_000) + 1;
  }
}

/** Live desks cannot declare credits that count at once, so they get some each minute. */
async function supplyLive(
  { dataDir, honestDesks }: SoakSystem,
  isOn: () => boolean,
  honest: ReturnType<typeof startHonest>,
): Promise<void> {
  const everyMs = 5_000;
  for (let nextMs = performance.now() + 60_000; isOn(); await sleep(everyMs)) {
    if (performance.now() < nextMs) continue;
    const supply = visit(dataDir)(async (ctx) => {
      for (const [desk, each] of honestDesks.entries()) {
        if (each.environment !== "live") continue;
        honest.supply({ desk, scripNos: await addLiveCredits(ctx, each, liveCreditsPerMinute) });
      }
    });
    // PostgreSQL may be away; then a little later.
    if (
      await supply.then(
        () => true,
        () => false,
      )
    )
      nextMs += 60_000;
  }
}

async function inflictFaults(
  system: SoakSystem,
  { minutes, seed, away, say }: SoakSettings & { readonly away: Away[] },
): Promise<Record<Fault, number>> {
  const draw = drawFrom(seed);
  const counts = noFaults();
  const thirdMs = minutes * 20_000;
  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  const gapMs = Math.min(gapMsMax, thirdMs / 8);
  const holdMs = Math.min(heldMs, thirdMs / 4);
  for (let turn = 0; ; turn++) {
    await sleep(gapMs * (0.5 + draw()));
    if (elapsedMs() > 3 * thirdMs - holdMs) return counts;
    const kinds = elapsedMs() < thirdMs ? faults : mildFaults;
    const fault = kinds[turn % kinds.length] ?? "PostgreSQL stopped";
    say(`${Math.round(elapsedMs() / 1_000)} s: ${fault}`);
    await inflict(system, fault, { away, holdMs });
    counts[fault] += 1;
  }
}

async function inflict(
  system: SoakSystem,
  fault: Fault,
  { away, holdMs }: { readonly away: Away[]; readonly holdMs: number },
): Promise<void> {
  const { dataDir, receivers } = system;
  if (fault === "receiver hangs") {
    const letGo = receivers.hang();
    await sleep(holdMs).finally(letGo);
  } else if (fault === "streams not read") {
    const leave = openUnread(system);
    await sleep(holdMs).finally(leave);
  } else {
    const moment: Away = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    away.push(moment);
    if (fault === "service killed") await restart(system);
    else if (fault === "PostgreSQL killed") await killEmbedded(dataDir);
    else await holdPostgres(dataDir);
    await eventually(async () => {
      const ready = await fetch(`${system.url}/readyz`).catch(() => undefined);
      return ready?.ok ? true : undefined;
    }, "readiness");
    moment.toMs = Date.now() + afterMs;
  }
}

async function restart(system: SoakSystem): Promise<void> {
  const killed = system.service();
  killed.signal("SIGKILL");
  await killed.ended;
  await system.start(await npmStart());
}

async function holdPostgres(dataDir: string): Promise<void> {
  const letGo = await stopPostgres((await postgresPid(dataDir)) ?? 0);
  await sleep(stoppedMs).finally(letGo);
}

/** Streams of every desk that take nothing of what is sent, until they are left. */
function openUnread({ url, honestDesks, seller }: SoakSystem): () => void {
  const keys = [seller.api_key, ...honestDesks.map(({ key }) => key)];
  const requests = keys.flatMap((key) =>
    Array.from({ length: streamsPerDesk }, () => {
      const stream = request(`${url}/v1/events/stream?after_sequence=0`, {
        agent: false,
        headers: { "x-service-key": key },
      });
      // Answers that nobody reads; the service may hang up on them.
      stream.on("response", (response) => response.pause().on("error", () => {}));
      return stream.on("error", () => {}).end();
    }),
  );
  return () => {
    for (const stream of requests) stream.destroy();
  };
}

/** Waits for the deliveries that are still due. */
async function drain({ asOwner: ask }: SoakSystem): Promise<void> {
  const endMs = performance.now() + drainMsMax;
  while (performance.now() < endMs) {
    const { waiting, behind } = await ask(async (owner) => {
      const { rows } = await owner.query<{ waiting: boolean; behind: boolean }>(`
        select exists (select from deliveries where state = 'pending')
          or exists (select from delivery_blocks) as waiting,
        exists (
          select
          from webhooks as w
          join desk_sequences as s on s.desk_id = w.desk_id
          left join webhook_queues as q on q.webhook_id = w.webhook_id
          where coalesce(q.fanned_sequence, w.after_sequence) < s.last_sequence
        ) as behind`);
      return rows[0] ?? { waiting: true, behind: true };
    });
    if (!waiting && !behind) return;
    await sleep(sampleMs);
  }
}

async function countLost({ asOwner: ask }: SoakSystem, orders: readonly string[]): Promise<number> {
  return await ask(async (owner) => {
    const { rows } = await owner.query<{ lost: number }>(
      `select count(*)::int as lost
      from unnest($1::text[]) as told (order_id)
      where not exists (select from orders as o where o.order_id = told.order_id)`,
      [orders],
    );
    return rows[0]?.lost ?? orders.length;
  });
}

async function countWebhooks({ asOwner: ask, receivers }: SoakSystem): Promise<WebhookCount> {
  const row = await ask(async (owner) => {
    const { rows } = await owner.query<Record<"delivered" | "waiting" | "dead", number>>(`
      select (
          (select coalesce(sum(deliveries), 0) from delivered_blocks)
          + (select count(*) from deliveries where state = 'delivered')
        )::int as delivered,
        (
          (select coalesce(sum(cardinality(sequences)), 0) from delivery_blocks)
          + (select count(*) from deliveries where state = 'pending')
        )::int as waiting,
        (select count(*) from deliveries where state = 'dead')::int as dead`);
    return rows[0] ?? { delivered: 0, waiting: 0, dead: 0 };
  });
  return { ...row, lost: Math.max(0, row.delivered - receivers.taken()) };
}
