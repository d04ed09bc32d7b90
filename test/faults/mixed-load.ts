// Honest desks in both environments while a sandbox desk sends one heavy request after the other: what
// the honest ones are answered, and whether the service's memory stays flat. Three processes: the
// service, the honest desks, and this one, which attacks.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { issueKey } from "../../src/access/issue-keys.ts";
import type { Context } from "../../src/platform/context.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { operator } from "../../src/kernel/actor.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import type { Running } from "../support/process.ts";
import { heavyRequests } from "./heavy-requests.ts";
import type { HonestDesk, HonestReport, HonestSettings, HonestSupply } from "./honest-load.ts";
import { planName, residentMib, type StallSystem } from "./stall.ts";

export type MixedSettings = {
  readonly minutes: number;
  readonly seed: number;
  readonly say: (line: string) => void;
};

export type MixedReport = HonestReport & {
  readonly minutes: number;
  readonly attacks: number;
  /** How the attacks were answered, by their status; 0 for those that were given up. */
  readonly attacksByStatus: Readonly<Record<string, number>>;
  /** The resident memory of the service, in MiB: its middle in each third of the run. */
  readonly thirdsMib: readonly number[];
  readonly mostMib: number;
};

const honestProgram = join(import.meta.dirname, "honest-load.ts");
const desksPerEnvironment = 3;
const sampleMs = 2_000;
const sayMs = 60_000;
/** Between two attacks, so that their rate is bounded. */
const restMs = 300;
const liveCredits = 1_000;

export async function runMixedLoad(
  running: Running,
  system: StallSystem,
  { minutes, seed, say }: MixedSettings,
): Promise<MixedReport> {
  const desks = await openHonestDesks(system);
  const honest = startHonest({ url: running.url, seed, desks });
  const endMs = performance.now() + minutes * 60_000;
  const isOn = () => performance.now() < endMs;
  const samples: number[] = [];
  const watched = watchMemory(running, isOn, samples, say);
  const attacked = await attack(running, system, isOn);
  await watched;
  const report = await honest.stop();
  const third = Math.ceil(samples.length / 3);
  const thirds = [0, 1, 2].map((at) => middle(samples.slice(at * third, (at + 1) * third)));
  return { ...report, ...attacked, minutes, thirdsMib: thirds, mostMib: Math.max(...samples) };
}

/** In fewer, the service still takes what it will keep. */
const minutesToTell = 6;

/** Flat: the last third of the run is at most a tenth, or 50 MiB, above the second. */
export function isFlat({ minutes, thirdsMib: [, second = 0, last = 0] }: MixedReport): boolean {
  return minutes < minutesToTell || last <= Math.max(1.1 * second, second + 50);
}

export function isUnharmed({ byStatus, failures, streamed }: MixedReport): boolean {
  const answered = Object.keys(byStatus).map(Number);
  return failures.length === 0 && streamed > 0 && answered.every((s) => s > 0 && s < 500);
}

export function mixedTable(report: MixedReport): string {
  const statuses = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([status, count]) => `${count} × ${status}`)
      .join(", ");
  const [first = 0, second = 0, last = 0] = report.thirdsMib.map(Math.round);
  const told = isFlat(report) ? "yes" : "no";
  const flat = report.minutes < minutesToTell ? "too short to tell" : told;
  return [
    "| what | figure |",
    "|---|---|",
    `| minutes | ${report.minutes} |`,
    `| honest calls | ${statuses(report.byStatus)} |`,
    `| honest calls answered 5xx or not at all | ${report.failures.length} |`,
    `| events by their streams, streams cut | ${report.streamed}, ${report.cut} |`,
    `| rounds of attacks beside them | ${report.attacks} |`,
    `| attacks | ${statuses(report.attacksByStatus)} |`,
    `| memory in MiB: middle of the first, second and last third, most | ${first}, ${second}, ${last}, ${Math.round(report.mostMib)} |`,
    `| flat | ${flat} |`,
  ].join("\n");
}

async function attack(running: Running, system: StallSystem, isOn: () => boolean) {
  const attacksByStatus: Record<string, number> = {};
  const target = { ...system, url: running.url, send: running.send };
  let attacks = 0;
  while (isOn()) {
    for (const heavy of heavyRequests) {
      if (!isOn()) break;
      await heavy.prepare?.(target);
      const statuses = await heavy.send(target).catch(() => [0]);
      for (const status of statuses) attacksByStatus[status] = (attacksByStatus[status] ?? 0) + 1;
      await sleep(restMs);
    }
    attacks += 1;
  }
  return { attacks, attacksByStatus };
}

async function watchMemory(
  { pid }: Running,
  isOn: () => boolean,
  samples: number[],
  say: (line: string) => void,
): Promise<void> {
  let saidMs = performance.now();
  for (let minute = 0; isOn();) {
    await sleep(sampleMs);
    samples.push(await residentMib(pid));
    if (performance.now() - saidMs < sayMs) continue;
    saidMs += sayMs;
    say(`minute ${++minute}: ${Math.round(samples.at(-1) ?? 0)} MiB`);
  }
}

/** Desks of the plan in both environments; those of live have credits to sell. */
export async function openHonestDesks({
  withContext,
}: Pick<StallSystem, "withContext">): Promise<readonly HonestDesk[]> {
  return await withContext(async (ctx) => {
    const desks: HonestDesk[] = [];
    for (const environment of ["live", "sandbox"] as const) {
      const faces = Array.from({ length: 200 }, (_, at) => ({
        face_paise: 100_000 + 100 * at,
        scrip_no: `HONHOUSE${environment.toUpperCase()}${at}A`,
        scheme: "ROSCTL" as const,
      }));
      await stockHouse(ctx, faces, environment);
      for (let at = 0; at < desksPerEnvironment; at++) {
        const { api_key: key, firm_id: deskId } = await issueKey(ctx, {
          firmName: `Honest ${environment} ${at}`,
          environment,
          scopes: ["*"],
          plan: planName,
          buySide: true,
          name: "honest",
        });
        const reference = `HONEST${environment === "live" ? "L" : "S"}${String(at).padStart(15, "0")}`;
        const paise = 100_000_000;
        await addDeposit(ctx, operator, { environment, firmId: deskId, paise, reference });
        const clientId = await addFirm({ ctx }, { deskId, environment });
        const isLive = environment === "live";
        const desk = { key, environment, deskId, clientId };
        const scripNos = isLive ? await addLiveCredits(ctx, desk, liveCredits) : [];
        desks.push({ ...desk, scripNos });
      }
    }
    return desks;
  });
}

/** More credits that a live desk can sell, and their numbers. */
export async function addLiveCredits(
  ctx: Context,
  { deskId, clientId }: Pick<HonestDesk, "deskId" | "clientId">,
  count: number,
): Promise<string[]> {
  const held = Array.from({ length: count }, () => ({
    firmId: clientId,
    scheme: "RODTEP" as const,
    facePaise: 100_000,
    expiresOn: "2027-12-31",
    state: "listed",
  }));
  return await addCredits({ ctx }, deskId, held);
}

export function startHonest(settings: HonestSettings) {
  const child = spawn(process.execPath, [honestProgram, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close");
  return {
    supply(more: HonestSupply): void {
      child.stdin.write(`${JSON.stringify(more)}\n`);
    },
    async stop(): Promise<HonestReport> {
      child.stdin.end();
      await ended;
      return JSON.parse(text) as HonestReport;
    },
  };
}

export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
