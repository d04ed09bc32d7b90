// A small call beside each heavy request. The small one is `whoami` with a live key, one after the
// other from a process of its own; the heavy ones come from a sandbox desk, again and again for some seconds. What is told: how
// long the small call took with nothing beside it and with the heavy requests, what failed, and what
// memory the service took more.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { pino } from "pino";

import { readConfig } from "../../src/config.ts";
import { assertWritten } from "../../src/ledger/rules.ts";
import { postEntries } from "../../src/ledger/write-books.ts";
import { issueKey } from "../../src/access/issue-keys.ts";
import { openContext } from "../../src/open-context.ts";
import type { Context } from "../../src/platform/context.ts";
import { setPlan } from "../../src/access/plans.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { bank, buildEntry, toCash } from "../support/ledger.ts";
import type { Running } from "../support/process.ts";
import { type HeavyDesk, type HeavyRequest, sendAtOnce } from "./heavy-requests.ts";
import type { SmallReport, SmallSettings } from "./small-calls.ts";

export type StallSystem = HeavyDesk & {
  readonly liveKey: string;
  /** For whoever needs more desks. */
  readonly withContext: WithContext;
};

export type WithContext = <Result>(work: (ctx: Context) => Promise<Result>) => Promise<Result>;

const oddFace = (at: number) => 1_000_003 + 7_919 * at;
const lines = 4_000;
const linesAtOnce = 500;
const stock = 2_000;
const enoughPaise = 1_000_000_000_000;
export const planName = "stall";

/** How a DATA_DIR is looked into beside its service. */
export function visit(dataDir: string): WithContext {
  return async (work) => {
    const opened = await openContext(readConfig({ DATA_DIR: dataDir }), {
      as: "visitor",
      create: false,
      log: pino({ level: "silent" }),
      now: () => new Date(),
    });
    try {
      return await work(opened.ctx);
    } finally {
      await opened.close();
    }
  };
}

/** A plan that limits nobody here. */
export async function openPlan(ctx: Context): Promise<void> {
  await setPlan(ctx, { name: planName, perMinute: 1_000_000, monthlyQuota: 100_000_000 });
}

/** A live desk, and a sandbox desk with all that makes requests heavy. */
export async function openStallSystem(
  { send }: Pick<Running, "send">,
  dataDir: string,
): Promise<StallSystem> {
  const withContext = visit(dataDir);
  const restock = () => withContext(stockOddFaces);
  return await withContext(async (ctx) => {
    await openPlan(ctx);
    const issue = async (environment: "live" | "sandbox") =>
      await issueKey(ctx, {
        firmName: `Stall ${environment}`,
        environment,
        scopes: ["*"],
        plan: planName,
        buySide: true,
        name: "stall",
      });
    const live = await issue("live");
    const { api_key: key, firm_id: deskId } = await issue("sandbox");
    await stockOddFaces(ctx);
    await fillAccount(ctx, deskId);
    const made = await send("POST", "/v1/groups", { key, body: { name: "Stall" }, expect: 201 });
    const groupPath = `/v1/groups/${made.body.group_id}`;
    const clientId = await addFirm({ ctx }, { deskId });
    await send("PUT", `${groupPath}/members/${clientId}`, { key, expect: 200 });
    await fillGroup(ctx, { send, key, deskId, clientId });
    return { liveKey: live.api_key, key, deskId, groupPath, clientId, restock, withContext };
  });
}

/** Faces of which no two sums meet, up to so many of them. */
async function stockOddFaces(ctx: Context): Promise<void> {
  const { rows } = await ctx.db.pool.query<{ face_paise: string }>(
    `select face_paise from credits where environment = 'sandbox' and house_offers
     and scheme = 'RODTEP' and face_paise % 100 <> 0`,
  );
  const held = new Set(rows.map(({ face_paise }) => Number(face_paise)));
  const faces = Array.from({ length: stock }, (_, at) => oddFace(at)).filter(
    (face) => !held.has(face),
  );
  for (let from = 0; from < faces.length; from += 500) {
    const some = faces.slice(from, from + 500);
    await stockHouse(
      ctx,
      some.map((face_paise) => ({ face_paise, scrip_no: `ODD${++stocked}A` })),
    );
  }
}

let stocked = Date.now() % 1_000_000_000;

/** Many lines of a statement, and money for all that is bought. */
async function fillAccount(ctx: Context, firmId: string): Promise<void> {
  const pay = async (amounts: readonly number[]) => {
    const entries = amounts.map((paise) =>
      buildEntry("deposit", "posted", [{ from: bank, to: toCash(firmId), paise }]),
    );
    assertWritten(await ctx.db.transaction((tx) => postEntries(tx, entries, ctx.now())));
  };
  await pay([enoughPaise]);
  const many = Array.from({ length: linesAtOnce }, () => 100);
  for (let from = 0; from < lines; from += linesAtOnce) await pay(many);
}

/** Credits and duties of a group that no netting can be sure of. */
async function fillGroup(
  ctx: Context,
  {
    send,
    key,
    deskId,
    clientId,
  }: Pick<Running, "send"> & Pick<HeavyDesk, "key" | "deskId" | "clientId">,
): Promise<void> {
  const held = Array.from({ length: 2_000 }, (_, at) => ({
    firmId: clientId,
    scheme: "RODTEP" as const,
    facePaise: oddFace(at),
    expiresOn: "2099-01-01",
    state: "listed",
  }));
  await addCredits({ ctx }, deskId, held);
  const due_on = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  for (let from = 0; from < 300; from += 20) {
    await sendAtOnce(20, async (at) => {
      const owed = { amount_paise: 20_000_011 + 977 * (from + at), reference: `B${from + at}` };
      const body = { scheme: "RODTEP", due_on, ...owed };
      const path = `/v1/firms/${clientId}/requirements`;
      return (await send("POST", path, { key, body, expect: 201 })).status;
    });
  }
}

export type StallRow = {
  readonly name: string;
  readonly idle: Times;
  readonly during: Times;
  /** Small calls beside it. */
  readonly calls: number;
  /** Small calls that were not answered 200, and heavy ones that were answered 5xx. */
  readonly failed: number;
  readonly statuses: string;
  readonly moreMib: number;
};

type Times = { readonly p50: number; readonly p99: number; readonly max: number };

const idleCalls = 500;
const sampleMs = 50;
const smallCalls = join(import.meta.dirname, "small-calls.ts");
/** So long a heavy request is sent again, so that there are calls enough beside it. */
const againMs = 4_000;
const againMax = 200;
/** What is not answered by then is given up, and its row is not held. */
const heavyMsMax = 180_000;
const restMs = 500;

export async function measureStall(
  running: Running,
  system: StallSystem,
  heavy: HeavyRequest,
): Promise<StallRow> {
  const { url, send } = running;
  const small = { url, key: system.liveKey };
  const target = { ...system, url, send };
  await heavy.prepare?.(target);
  await sleep(restMs);
  const alone = await startSmallCalls({ ...small, count: idleCalls });
  const idle = await alone.ended;
  const before = await residentMib(running.pid);
  let most = before;
  const beside = await startSmallCalls({ ...small, count: undefined });
  const watching = setInterval(() => {
    void residentMib(running.pid).then((mib) => (most = Math.max(most, mib)));
  }, sampleMs);
  const answered = await sendAgain(heavy, target);
  clearInterval(watching);
  beside.stop();
  const during = await beside.ended;
  const refused = answered.filter((status) => status >= 500).length;
  return {
    name: heavy.name,
    idle: summarizeTimes(idle.times),
    during: summarizeTimes(during.times),
    calls: during.times.length,
    failed: idle.failed + during.failed + refused,
    statuses: [...new Set(answered)].toSorted((a, b) => a - b).join(" "),
    moreMib: most - before,
  };
}

/** From the moment they have begun. */
async function startSmallCalls(settings: SmallSettings) {
  const child = spawn(process.execPath, [smallCalls, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close").then(() => JSON.parse(text) as SmallReport);
  await once(child.stdout, "data");
  return { ended, stop: () => void child.stdin.end() };
}

/** One after the other for some seconds; 599 stands for one that was not answered in its time. */
async function sendAgain(
  heavy: HeavyRequest,
  target: Parameters<HeavyRequest["send"]>[0],
): Promise<readonly number[]> {
  const begunMs = performance.now();
  const statuses: number[] = [];
  for (let time = 0; time < againMax; time++) {
    const late = new AbortController();
    const inTime = await Promise.race([
      heavy.send(target),
      sleep(heavyMsMax, [599], { signal: late.signal }),
    ]);
    late.abort();
    statuses.push(...inTime);
    // What is prepared for it is used up.
    if (heavy.prepare || performance.now() - begunMs > againMs) break;
  }
  return statuses;
}

/** A small call is not slowed for others: five times idle, or a tenth of a second. */
export function isHeld({ idle, during, failed, moreMib }: StallRow): boolean {
  return during.p99 <= Math.max(5 * idle.p99, 100) && failed === 0 && moreMib <= 200;
}

export function stallTable(rows: readonly StallRow[]): string {
  const ms = ({ p50, p99, max }: Times) =>
    [p50, p99, max].map((time) => time.toFixed(1)).join(" / ");
  return [
    "| heavy request | idle p50 / p99 / max ms | during p50 / p99 / max ms | calls | failed | heavy answers | MiB more | held |",
    "|---|---|---|---|---|---|---|---|",
    ...rows.map((row) =>
      [
        "",
        row.name,
        ms(row.idle),
        ms(row.during),
        row.calls,
        row.failed,
        row.statuses,
        row.moreMib.toFixed(0),
        isHeld(row) ? "yes" : "no",
        "",
      ]
        .join(" | ")
        .trim(),
    ),
  ].join("\n");
}

function summarizeTimes(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}

export async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
}
