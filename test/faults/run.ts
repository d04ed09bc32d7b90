// `npm run faults -- <programme> [--count N] [--minutes M] [--seed S] [--only TEXT] [--quick]`: the long
// versions of what the tests prove in short. The seed is printed first; the same seed makes the same run.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { pino } from "pino";

import { checkLedger } from "../../src/ledger/check-ledger.ts";
import { globalSetup, globalTeardown } from "../support/global-setup.ts";
import { openApiFile } from "../support/golden.ts";
import { dataDirectory, demoKeyIn, type Running, serve } from "../support/process.ts";
import { seededRandom } from "../support/random.ts";
import { startService } from "../support/service.ts";
import { runFailovers, runRestore, runUpgrade } from "./cluster-programmes.ts";
import { economyOptions, type EconomyReport, type EconomySettings, runEconomy } from "./economy.ts";
import { writeFaults } from "./faults-page.ts";
import { fuzz } from "./fuzz.ts";
import { heavyRequests } from "./heavy-requests.ts";
import { isFlat, isUnharmed, mixedTable, runMixedLoad } from "./mixed-load.ts";
import { isInside } from "./namespace.ts";
import { isHeld, measureStall, openStallSystem, type StallRow, stallTable } from "./stall.ts";
import { runSoak } from "./soak-programme.ts";
import { killDuringDeliveries } from "./webhooks.ts";
import { killUnderLoad, type KillReport, type KillSettings, openSystem } from "./kill.ts";

type Settings = {
  readonly count: number | undefined;
  readonly minutes: number | undefined;
  readonly seed: number;
  /** Of the stalls, those whose name has this text; nothing is written down then. */
  readonly only: string | undefined;
  /** A short look; nothing is written down. */
  readonly quick: boolean;
};

type Programme = {
  readonly about: string;
  /** Whether everything that was promised held. */
  run(settings: Settings): Promise<boolean>;
};

const programmes: Readonly<Record<string, Programme>> = {
  fuzz: {
    about: "requests made from docs/openapi.json, most of them wrong: no 5xx, all as documented",
    run: runFuzz,
  },
  webhooks: {
    about: "deliveries to 50 receivers while services and PostgreSQL are killed: none lost",
    run: runWebhooks,
  },
  economy: {
    about: "colluding desks against the house, cards constant and moving: nobody gains",
    run: runEconomies,
  },
  stall: {
    about: "a small live call beside each heavy request: it is not slowed, and never fails",
    run: runStalls,
  },
  load: {
    about: "desks at work in both environments beside the heavy requests: no 5xx, memory flat",
    run: runLoad,
  },
  kill: {
    about: "kill -9 of the service and of PostgreSQL under order load: nothing lost, nothing twice",
    run: runKills,
  },
  soak: {
    about: "an hour of mixed load with faults in between: nothing lost, no 5xx besides, no growth",
    run: (settings) => runSoak(settings, say),
  },
  failover: {
    about: "a Patroni cluster that loses its primary under order load: nothing lost, nothing twice",
    run: (settings) => runFailovers(settings, say),
  },
  upgrade: {
    about: "nodes upgraded one after the other from the last version, under load: nothing dropped",
    run: (settings) => runUpgrade(settings, say),
  },
  restore: {
    about: "an external PostgreSQL backed up under load and restored to a moment: row by row",
    run: (settings) => runRestore(settings, say),
  },
};

const progressEvery = 10_000;

async function runFuzz({ count = 100_000, seed }: Settings): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const DATA_DIR = await dataDirectory(scope);
  const service = await serve(scope, {
    DATA_DIR,
    LOG_LEVEL: "silent",
    // All of it comes from one address.
    PUBLIC_RATES_PER_MINUTE: "1000000",
    PUBLIC_ENQUIRY_PER_MINUTE: "1000000",
    PUBLIC_ENQUIRY_PER_DAY: "1000000",
  });
  let stillRuns = true;
  void service.ended.then(() => (stillRuns = false));
  const document: unknown = JSON.parse(await readFile(openApiFile, "utf8"));
  const { url } = service;
  const key = await demoKey(service);
  const onProgress = (sent: number) => {
    if (sent % progressEvery === 0) say(`${sent} sent`);
  };
  const report = await fuzz({ url, key, document, count, seed, onProgress });
  for (const failure of report.failures) say(failure);
  say(`answers by status: ${JSON.stringify(report.byStatus)}`);
  for (const [name, statuses] of Object.entries(report.byOperation)) {
    say(`  ${name}: ${JSON.stringify(statuses)}`);
  }
  const state = stillRuns ? "runs" : "ended";
  say(`${report.sent} requests, ${report.failed} failed, the service ${state}`);
  return report.failed === 0 && stillRuns;
}

async function runWebhooks({ count = 100_000, seed }: Settings): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const report = await killDuringDeliveries(scope, { count, random: seededRandom(seed), say });
  say(JSON.stringify(report));
  const { expected, lost, altered, duplicates, leasesLost, kills } = report;
  // A run in which nothing was cut off proves little.
  const happened = expected >= count && leasesLost > 0 && Object.values(kills).every(Boolean);
  return happened && lost === 0 && altered === 0 && duplicates < expected / 100;
}

const controlSteps = 2_000;

/** Half of the steps under one card, half under cards that move, and the control. */
async function runEconomies({ count = 100_000, seed }: Settings): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  await globalSetup();
  stack.defer(globalTeardown);
  const run = async (settings: Omit<EconomySettings, "seed">): Promise<EconomyReport> => {
    let next = progressEvery;
    const onProgress = (steps: number) => {
      if (steps >= next) say(`${steps} steps`);
      if (steps >= next) next += progressEvery;
    };
    // What stands behind a fault is told as it happens.
    const log = pino({ level: "error" }, pino.destination({ dest: 2, sync: true }));
    const service = await startService(scope, { ...economyOptions, log });
    const valued = await runEconomy(service, { ...settings, seed, onProgress });
    const { sound } = await checkLedger(service.ctx);
    const broken = sound ? [] : ["the ledger is broken"];
    const report = { ...valued, breaches: [...valued.breaches, ...broken] };
    const { breaches, faults, clientsLostPaise, ...figures } = report;
    const gains = breaches.length;
    say(JSON.stringify({ ...settings, ...figures, gains, lost: String(clientsLostPaise) }));
    const shown = settings.bindsNumbersOnly ? [] : [...breaches, ...faults].slice(0, 50);
    for (const line of shown) say(line);
    return report;
  };
  const proofs = await Promise.all([
    run({ steps: Math.ceil(count / 2), cardsMove: false }),
    run({ steps: Math.ceil(count / 2), cardsMove: true }),
  ]);
  const control = await run({ steps: controlSteps, cardsMove: false, bindsNumbersOnly: true });
  const held = proofs.every(
    ({ breaches, faults, deals }) => breaches.length + faults.length === 0 && deals > 0,
  );
  return held && control.breaches.length > 0;
}

const oneThread = { program: join(import.meta.dirname, "one-thread-serve.ts"), words: [] };

/** Every heavy request, then those of the threads once more on the event loop, where some must stall. */
async function runStalls({ only = "" }: Settings): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const DATA_DIR = await dataDirectory(scope);
  const settings = { DATA_DIR, LOG_LEVEL: "silent" };
  let service = await serve(scope, settings);
  const system = await openStallSystem(service, DATA_DIR);
  say("furnished");
  const chosen = heavyRequests.filter(({ name }) => name.includes(only));
  const measure = async () => {
    const rows: StallRow[] = [];
    for (const [at, heavy] of chosen.entries()) {
      say(`${at + 1} of ${chosen.length}: ${heavy.name}`);
      rows.push(await measureStall(service, system, heavy));
      say(stallTable(rows.slice(-1)).split("\n").at(-1) ?? "");
    }
    return rows;
  };
  const rows = await measure();
  if (only !== "") return rows.every(isHeld);
  service.signal("SIGTERM");
  await service.ended;
  say("control: the same work on the event loop");
  service = await serve(scope, settings, oneThread);
  const control = await measure();
  await writeFaults("stall", [
    stallTable(rows),
    "The same work on the event loop:",
    stallTable(control),
  ]);
  return rows.every(isHeld) && !control.every(isHeld);
}

const minutesDefault = 10;

async function runLoad({ minutes = minutesDefault, seed }: Settings): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const DATA_DIR = await dataDirectory(scope);
  const service = await serve(scope, { DATA_DIR, LOG_LEVEL: "silent" });
  const system = await openStallSystem(service, DATA_DIR);
  say("furnished");
  const report = await runMixedLoad(service, system, { minutes, seed, say });
  for (const { what } of report.failures.slice(0, 20)) say(what);
  say(mixedTable(report));
  await writeFaults("load", [mixedTable(report)]);
  return isUnharmed(report) && isFlat(report);
}

const killsDefault = 120;
const controlKills = 4;
/** A busy machine commits so late that a few kills may lose nothing. */
const controlRunsMax = 10;

async function runKills({ count = killsDefault, seed }: Settings): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const system = await openSystem(scope);
  const run = async (settings: Omit<KillSettings, "seed">): Promise<KillReport> => {
    const { breaches, ...figures } = await killUnderLoad(scope, system, { ...settings, seed });
    say(JSON.stringify({ ...(settings.defect && { defect: settings.defect }), ...figures }));
    for (const breach of settings.defect ? [] : breaches.slice(0, 50)) say(breach);
    return { breaches, ...figures };
  };
  const onKill = (kills: number, victim: string) => say(`kill ${kills}: ${victim}`);
  const proof = await run({ count, onKill });
  const losesWith = async (control: Pick<KillSettings, "victims" | "defect">): Promise<boolean> => {
    for (let runs = 0; runs < controlRunsMax; runs++) {
      if ((await run({ count: controlKills, ...control })).lost > 0) return true;
    }
    return false;
  };
  const controls = [
    await losesWith({ victims: ["postgres"], defect: "commits are not flushed" }),
    await losesWith({ victims: ["service"], defect: "answers come before the commit" }),
  ];
  const held = proof.breaches.length === 0 && proof.ledgerIsSound && proof.ambiguous > 0;
  return held && proof.replays > 0 && controls.every(Boolean);
}

/** The first start prints its key a moment after it listens. */
async function demoKey({ output }: Running): Promise<string> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const key = demoKeyIn(output.stdout);
    if (key) return key;
    await sleep(50);
  }
  throw new Error("the service did not show its key");
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: "string" },
      minutes: { type: "string" },
      seed: { type: "string" },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
    },
  });
  const name = positionals[0];
  const programme = name === undefined ? undefined : programmes[name];
  if (!programme) {
    say(
      "npm run faults -- <programme> [--count N] [--minutes M] [--seed S] [--only TEXT] [--quick]",
    );
    for (const [known, { about }] of Object.entries(programmes)) say(`  ${known}  ${about}`);
    process.exitCode = name === undefined ? 0 : 2;
    return;
  }
  const settings = {
    count: wholeNumber(values.count),
    minutes: wholeNumber(values.minutes),
    seed: wholeNumber(values.seed) ?? Math.floor(Math.random() * 2 ** 31),
    only: values.only,
    quick: values.quick,
  };
  if (!isInside) say(`${name}, seed ${settings.seed}`);
  const held = await programme.run(settings);
  if (!isInside) say(held ? "held" : "FAILED");
  if (!held) process.exitCode = 1;
}

function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${text} is not a whole number`);
  return Number(text);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
