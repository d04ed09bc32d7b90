// What it costs that nothing is lost: the delivery engine, from events in the log to answered POSTs
// that are on record, against a bare loop of POSTs; and what a receiver that hangs costs the others.
// PostgreSQL is durable, sender and receivers are processes of their own.

import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type pg from "pg";
import { pino } from "pino";

import { buildSigningKey } from "../src/journal/audit-rules.ts";
import { recordChanges } from "../src/journal/record-changes.ts";
import { operator } from "../src/kernel/actor.ts";
import { issueKey } from "../src/access/issue-keys.ts";
import { onThisThread } from "../src/platform/heavy/kinds.ts";
import type { Context } from "../src/platform/context.ts";
import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { migrate } from "../src/platform/postgres/migrate.ts";
import { openDatabase } from "../src/platform/postgres/postgres.ts";
import { registerWebhook } from "../src/webhooks/change-webhooks.ts";
import { buildHeaders } from "../src/webhooks/rules.ts";
import { readProcessor } from "./processor.ts";
import { chooseSize } from "./sizes.ts";
import { median, printRemark, printTable, spread } from "./support.ts";
import type { ReceiverOrder, ReceiverReport } from "./webhook-receiver.ts";
import type { SenderOrder } from "./webhook-sender.ts";
import { listEventsAfter } from "../src/journal/find-events.ts";
import { openStack } from "../test/support/programme-stack.ts";

const receiverCount = 10;
const rounds = chooseSize("BENCH_ROUNDS", 5, 1);
const eventsPerRound = chooseSize("BENCH_EVENTS", 2_000, 200);
const atOnce = 320;

export async function webhooks(): Promise<void> {
  await using stack = openStack();
  const bench = await openBench(stack);
  const receivers = forkScript(stack, "webhook-receiver.ts");
  receivers.send({ count: receiverCount, expect: 0 } satisfies ReceiverOrder);
  const [ready] = (await once(receivers, "message")) as [ReceiverReport];
  if (ready.kind !== "ready") throw new Error("the receivers are ready first");
  const { urls, deadUrl } = ready;
  const nine = urls.slice(1);

  const all = eventsPerRound * urls.length;
  const most = eventsPerRound * nine.length;
  const [ours, bare, withDead, without]: [Rate[], Rate[], Rate[], Rate[]] = [[], [], [], []];
  for (let round = 0; round <= rounds; round++) {
    const rates = [
      await engineRate(bench, { receivers, urls, expect: all }),
      await bareRate(bench, { receivers, urls, expect: all }),
      // Which of the two goes first changes, as the second finds a fuller database.
      ...(await takeTurns(round, [
        () => engineRate(bench, { receivers, urls: [...nine, deadUrl], expect: most }),
        () => engineRate(bench, { receivers, urls: nine, expect: most }),
      ])),
    ];
    if (round === 0) continue; // The first round warms everything up.
    [ours, bare, withDead, without].forEach((kept, at) => kept.push(...rates.slice(at, at + 1)));
  }
  const divide = (rates: readonly Rate[], by: readonly Rate[]) =>
    rates.map(({ perSecond }, round) => perSecond / (by[round]?.perSecond ?? 1));
  const ratios = divide(ours, bare);
  const deadRatios = divide(withDead, without);
  const shown = (rates: readonly Rate[]) =>
    `${Math.round(median(rates.map(({ perSecond }) => perSecond)))}/s`;
  printTable([
    {
      what: `${all} deliveries to ${urls.length} receivers`,
      ours: shown(ours),
      yardstick: `${shown(bare)} bare undici POST`,
      ratio: median(ratios),
      spread: spread(ratios),
      goal: "≥ 0.65",
    },
    {
      what: "nine receivers beside one that hangs",
      ours: shown(withDead),
      yardstick: `${shown(without)} without it`,
      ratio: median(deadRatios),
      spread: spread(deadRatios),
      goal: "≥ 0.98",
    },
  ]);
  printRemark(
    `processor time of a delivery: ${describeProcessor(ours)}; ` +
      `of a bare POST: ${describeProcessor(bare)}`,
  );
}

function describeProcessor(rates: readonly Rate[]): string {
  const shown = (of: (taken: Processor) => number) =>
    median(rates.map(({ processor }) => of(processor))).toFixed(3);
  return (
    `${shown(({ sender }) => sender)} ms of the sender, ` +
    `${shown(({ postgres }) => postgres)} ms of PostgreSQL and ` +
    `${shown(({ receivers }) => receivers)} ms of the receivers`
  );
}

async function takeTurns(
  round: number,
  [first, second]: [() => Promise<Rate>, () => Promise<Rate>],
): Promise<[Rate, Rate]> {
  if (round % 2 === 0) return [await first(), await second()];
  const later = await second();
  return [await first(), later];
}

type Bench = {
  readonly ctx: Context;
  readonly connection: pg.ClientConfig;
  readonly dataDir: string;
  readonly sealKey: string;
  desks: number;
};

/** Milliseconds, of a whole run or of one delivery. */
type Processor = {
  readonly sender: number;
  readonly postgres: number;
  readonly receivers: number;
};

type Rate = { readonly perSecond: number; readonly processor: Processor };

async function openBench(stack: AsyncDisposableStack): Promise<Bench> {
  const dataDir = await mkdtemp(join(tmpdir(), "scripdesk-bench-"));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const server = await openEmbedded({ dataDir, as: "visitor", create: true });
  stack.defer(() => server.leave());
  await migrate(server.connection);
  const db = openDatabase({
    connection: server.connection,
    role: "scripdesk_app",
    onIdleError() {},
  });
  stack.defer(() => db.close());
  const sealKey = randomBytes(32);
  const ctx: Context = {
    db,
    now: () => new Date(),
    log: pino({ level: "silent" }),
    cursorKey: randomBytes(32),
    sealKey,
    auditKey: buildSigningKey(randomBytes(32)),
    heavy: onThisThread,
  };
  const { connection } = server;
  return { ctx, connection, dataDir, sealKey: sealKey.toString("hex"), desks: 0 };
}

type Run = {
  readonly receivers: ChildProcess;
  readonly urls: readonly string[];
  readonly expect: number;
};

/** A desk with a subscription per receiver and a backlog of events, then a sender that starts on it. */
async function engineRate(bench: Bench, run: Run): Promise<Rate> {
  await using stack = openStack();
  await backlog(bench, run.urls);
  const { connection, sealKey } = bench;
  const sender = await startSender(stack);
  return await measure(bench, { ...run, sender }, { kind: "engine", connection, sealKey });
}

async function startSender(stack: AsyncDisposableStack): Promise<ChildProcess> {
  const sender = forkScript(stack, "webhook-sender.ts");
  await once(sender, "message");
  return sender;
}

async function measure(
  bench: Bench,
  { sender, receivers, expect }: Run & { readonly sender: ChildProcess },
  order: SenderOrder,
): Promise<Rate> {
  const read = async (): Promise<Processor> => {
    const { dataDir } = bench;
    const { node, postgres } = await readProcessor({ pid: sender.pid ?? 0, dataDir });
    const received = await readProcessor({ pid: receivers.pid ?? 0, dataDir });
    return { sender: node, postgres, receivers: received.node };
  };
  const before = await read();
  const reached = awaitArrivals(receivers, expect);
  sender.send(order);
  const seconds = await reached;
  if (order.kind === "engine") await awaitRecorded(bench, expect);
  const after = await read();
  return {
    perSecond: expect / seconds,
    processor: {
      sender: (after.sender - before.sender) / expect,
      postgres: (after.postgres - before.postgres) / expect,
      receivers: (after.receivers - before.receivers) / expect,
    },
  };
}

/** Every delivery that arrived is also on record before the next run begins. */
async function awaitRecorded({ ctx }: Bench, expect: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const { rows } = await ctx.db.pool.query<{ left: number }>(
      `select $1 - (
        select coalesce(sum(deliveries), 0) from delivered_blocks
        where desk_id = (select max(desk_id) from webhooks)
      )::int - (
        select count(*) from deliveries
        where state = 'delivered' and desk_id = (select max(desk_id) from webhooks)
      )::int as left`,
      [expect],
    );
    if ((rows[0]?.left ?? 1) <= 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("some deliveries arrived and were not recorded");
}

async function bareRate(bench: Bench, run: Run): Promise<Rate> {
  await using stack = openStack();
  const sender = await startSender(stack);
  const { rows } = await bench.ctx.db.pool.query<{ desk_id: string }>(
    "select desk_id from journal_blocks where last_sequence is not null limit 1",
  );
  const whole = { firmId: null, after: 0, fetch: 1 };
  const [first] = await listEventsAfter(bench.ctx.db, rows[0]?.desk_id ?? "", whole);
  const body = first?.body ?? "";
  const headers = buildHeaders({
    deliveryId: `dlv_${"0".repeat(26)}`,
    event: "credit.listed",
    body: Buffer.from(body),
    secrets: [`whsec_${randomBytes(32).toString("base64")}`],
    now: new Date(),
  });
  const { urls, expect: count } = run;
  const order: SenderOrder = { kind: "bare", urls, headers, body, count, atOnce };
  return await measure(bench, { ...run, sender }, order);
}

async function backlog(bench: Bench, urls: readonly string[]): Promise<void> {
  const { ctx } = bench;
  // What an earlier run left undone must not be sent in this one.
  await ctx.db.pool.query("update webhooks set deleted_at = now()");
  const { firm_id: deskId, key_id: keyId } = await issueKey(ctx, {
    firmName: `Bench ${++bench.desks}`,
    environment: "sandbox",
    scopes: ["*"],
    plan: "sandbox",
    buySide: false,
    name: "bench",
  });
  const caller = {
    keyId,
    rootKeyId: keyId,
    kind: "root",
    environment: "sandbox",
    firmId: deskId,
    deskId,
    scopes: ["*"],
    buySide: false,
    withdrawals: true,
    confined: false,
  } as const;
  const call = { caller, requestId: "bench", idempotencyKey: undefined, dryRun: false };
  const outbound = { permitsHost: () => true };
  for (const url of urls) await registerWebhook({ ...ctx, outbound }, call, { url, event: "*" });
  const change = (version: number) => ({
    environment: "sandbox" as const,
    deskId,
    firmId: deskId,
    action: "credit.list",
    entity: { type: "credit", id: "crd_bench", version, href: "/v1/credits/BENCH0001" },
    before: null,
    after: null,
    event: {
      name: "credit.listed",
      from: "declared",
      to: "listed",
      data: { scrip_no: "BENCH0001", scheme: "RODTEP", face_paise: 25_000_000 },
    },
  });
  const changes = Array.from({ length: eventsPerRound }, (_, at) => change(at + 1));
  await ctx.db.transaction((tx) => recordChanges(tx, operator, changes, ctx.now()));
}

async function awaitArrivals(receivers: ChildProcess, expect: number): Promise<number> {
  receivers.send({ count: 0, expect } satisfies ReceiverOrder);
  const [report] = (await once(receivers, "message")) as [ReceiverReport];
  if (report.kind !== "reached") throw new Error("the receivers are ready already");
  return report.seconds;
}

function forkScript(stack: AsyncDisposableStack, script: string): ChildProcess {
  const child = fork(join(import.meta.dirname, script));
  stack.defer(async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child;
}
