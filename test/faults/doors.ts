// What a stranger or one desk of the sandbox does to the work of others: orders, quotes, papers and
// pings of another sandbox desk and of a live one, beside each attack and then beside as many calls of
// `/healthz` a second. The attack may cost others about what the same number of nothings does.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { issueKey } from "../../src/access/issue-keys.ts";
import { operator } from "../../src/kernel/actor.ts";
import { type Environment, environments } from "../../src/kernel/caller.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import type { Context } from "../../src/platform/context.ts";
import { addCard } from "../support/cards.ts";
import { freePort } from "../support/free-port.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import type { Running } from "../support/process.ts";
import { callHealth, type DoorAttack, type DoorTarget } from "./door-attacks.ts";
import { openPlan, planName, visit } from "./stall.ts";
import {
  type Victim,
  type VictimDesk,
  victims,
  type VictimSettings,
  type VictimTimes,
} from "./victim-calls.ts";

/** The desk that attacks, and those that are to be left in peace. */
export type DoorSystem = Pick<DoorTarget, "key" | "deskId" | "clientId" | "opsUrl"> &
  Pick<VictimSettings, "port" | "desks">;

const credits = 40_000;
const creditsAtOnce = 2_000;
const liveOffers = 50;
/** Less than what takes two people. */
const depositPaise = 100_000_000;
const victimCalls = join(import.meta.dirname, "victim-calls.ts");
const restMs = 1_000;

type DoorOptions = {
  readonly dataDir: string;
  readonly opsUrl: string;
  /** Whether the attacker has as many credits as make its clock and reset long. */
  readonly hasMany: boolean;
};

export async function openDoorSystem(
  { send }: Pick<Running, "send">,
  { dataDir, opsUrl, hasMany }: DoorOptions,
): Promise<DoorSystem> {
  return await visit(dataDir)(async (ctx) => {
    await openPlan(ctx);
    const { api_key: key, firm_id: deskId } = await issue(ctx, "Attacker", "sandbox");
    const clientId = await addFirm({ ctx }, { deskId });
    if (hasMany) await addManyCredits(ctx, { deskId, clientId });
    const port = await freePort();
    const desks: VictimDesk[] = [];
    for (const environment of environments) {
      desks.push(await openVictim(ctx, { send, environment, port }));
    }
    return { key, deskId, clientId, opsUrl, port, desks };
  });
}

async function issue(ctx: Context, firmName: string, environment: Environment) {
  const vouched = environment === "live" && { iec: "AAACV1234A", pan: "AAACV1234A" };
  const scoped = { environment, scopes: ["*"], plan: planName, buySide: true, name: "doors" };
  return await issueKey(ctx, { firmName, ...scoped, ...vouched });
}

/** A desk that can trade, with a webhook at the process that plays it. */
async function openVictim(
  ctx: Context,
  {
    send,
    environment,
    port,
  }: Pick<Running, "send"> & { readonly environment: Environment; readonly port: number },
): Promise<VictimDesk> {
  const { api_key: key, firm_id: deskId } = await issue(ctx, `Victim ${environment}`, environment);
  const reference = `VICTIM${environment === "live" ? "L" : "S"}000000000000001`;
  const deposit = { environment, firmId: deskId, paise: depositPaise, reference };
  await addDeposit(ctx, operator, deposit);
  if (environment === "live") {
    await addCard({ ctx }, { environment });
    const faces = Array.from({ length: liveOffers }, (_, at) => ({
      face_paise: 100_000 + 100 * at,
      scrip_no: `VICTIMHOUSE${at}A`,
    }));
    await stockHouse(ctx, faces, environment);
  }
  // A webhook of live has a receiver without TLS, as no registration would take it.
  const url = `http://127.0.0.1:${port}/hook`;
  const body = { url: url.replace("http:", "https:"), event: "webhook.ping" };
  const { body: made } = await send("POST", "/v1/webhooks", { key, body, expect: 201 });
  const webhookId = String(made.webhook_id);
  await ctx.db.pool.query("update webhooks set url = $2 where webhook_id = $1", [webhookId, url]);
  return { environment, key, deskId, webhookId };
}

async function addManyCredits(
  ctx: Context,
  { deskId, clientId }: { readonly deskId: string; readonly clientId: string },
): Promise<void> {
  for (let from = 0; from < credits; from += creditsAtOnce) {
    const held = Array.from({ length: creditsAtOnce }, () => ({
      firmId: clientId,
      scheme: "ROSCTL" as const,
      facePaise: 100_000,
      expiresOn: "2099-01-01",
      state: "listed",
    }));
    await addCredits({ ctx }, deskId, held);
  }
}

type Middle = { readonly p50: number; readonly p99: number; readonly failed: number };

type VictimRow = {
  readonly victim: Victim;
  readonly environment: VictimTimes["environment"];
  readonly attacked: Middle;
  readonly control: Middle;
};

export type DoorRow = {
  readonly name: string;
  readonly perSecond: number;
  readonly statuses: string;
  readonly victims: readonly VictimRow[];
};

export async function measureDoor(
  running: Running,
  system: DoorSystem,
  {
    attack,
    kinds,
    ms,
  }: { readonly attack: DoorAttack; readonly kinds: readonly Victim[]; readonly ms: number },
): Promise<DoorRow> {
  const { url, send } = running;
  const target = { ...system, url, send };
  const watched = { url, port: system.port, desks: system.desks, kinds };
  const open = await attack.open(target);
  let answered: readonly number[] = [];
  let perSecond = 0;
  const attacked = await watchVictims(watched, ms, async (signal) => {
    const begunMs = performance.now();
    answered = await open.run(signal);
    perSecond = (1_000 * answered.length) / (performance.now() - begunMs);
  });
  await open.close?.();
  await sleep(restMs);
  const control = await watchVictims(watched, ms, (signal) => callHealth(url, perSecond, signal));
  return {
    name: attack.name,
    perSecond,
    statuses: [...new Set(answered)].toSorted((a, b) => a - b).join(" "),
    victims: attacked.map(({ victim, environment, ...found }, at) => ({
      victim,
      environment,
      attacked: summarize(found),
      control: summarize(control[at] ?? { times: [], failed: 1 }),
    })),
  };
}

/** The victims' times while something goes on, from the moment they have begun. */
async function watchVictims(
  settings: VictimSettings,
  ms: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<readonly VictimTimes[]> {
  const child = spawn(process.execPath, [victimCalls, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), ended]);
  const over = new AbortController();
  const working = work(over.signal);
  await sleep(ms);
  child.stdin.end();
  await ended;
  over.abort();
  await working;
  return JSON.parse(text) as readonly VictimTimes[];
}

function summarize({ times, failed }: Pick<VictimTimes, "times" | "failed">): Middle {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Infinity;
  return { p50: at(0.5), p99: Math.min(at(0.99), sorted.at(-1) ?? Infinity), failed };
}

const slowerMax = 3;
const p99MsMax = 150;

/** Whether the victims were about as slow as beside the same number of nothings, and none failed. */
export function isNear({ victims: rows }: DoorRow): boolean {
  return rows.every(
    ({ attacked, control }) =>
      attacked.p50 <= slowerMax * control.p50 && attacked.failed + control.failed === 0,
  );
}

/** The same, and none of their calls took long; this needs a machine that does nothing else. */
export function isDoorHeld(row: DoorRow): boolean {
  return isNear(row) && row.victims.every(({ attacked }) => attacked.p99 <= p99MsMax);
}

export function doorTable(rows: readonly DoorRow[]): string {
  const cell = (row: DoorRow, environment: VictimRow["environment"], victim: Victim) => {
    const found = row.victims.find(
      (each) => each.victim === victim && each.environment === environment,
    );
    if (!found) return "";
    const { attacked, control } = found;
    const failed = attacked.failed > 0 ? `, ${attacked.failed} failed` : "";
    return `${(attacked.p50 / control.p50).toFixed(1)} × / ${attacked.p99.toFixed(0)}${failed}`;
  };
  const seen = victims.filter((victim) =>
    rows.some((row) => row.victims.some((each) => each.victim === victim)),
  );
  const columns = environments.flatMap((environment) =>
    seen.map((victim) => ({ environment, victim })),
  );
  const heading = columns.map(({ environment, victim }) => `${victim}, ${environment}`);
  const lines = rows.map((row) => [
    row.name,
    row.perSecond.toFixed(row.perSecond < 10 ? 1 : 0),
    row.statuses,
    ...columns.map(({ environment, victim }) => cell(row, environment, victim)),
    isDoorHeld(row) ? "yes" : "no",
  ]);
  const head = ["attack", "calls/s", "answers", ...heading, "held"];
  return [head, head.map(() => "---"), ...lines]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
