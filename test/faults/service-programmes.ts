// The programmes that need the service and its own PostgreSQL alone: what they run, what they say, and
// when they held.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { pino } from "pino";

import { checkLedger } from "../../src/ledger/check-ledger.ts";
import { globalSetup, globalTeardown } from "../support/global-setup.ts";
import { openApiFile } from "../support/golden.ts";
import { dataDirectory, demoKeyIn, type Running, type Scope, serve } from "../support/process.ts";
import { seededRandom } from "../support/random.ts";
import { startService } from "../support/service.ts";
import { runBankEconomies } from "./bank-economy-programme.ts";
import { areDoorsHeld, runDoors, runSlowReceivers } from "./door-programme.ts";
import { doorTable, isDoorHeld, isNear } from "./doors.ts";
import { economyOptions, type EconomyReport, type EconomySettings, runEconomy } from "./economy.ts";
import { figureTable, keepFaults } from "./faults-page.ts";
import { fuzz, type FuzzReport, type Json } from "./fuzz.ts";
import { heavyRequests } from "./heavy-requests.ts";
import { killUnderLoad, type KillReport, type KillSettings, openSystem } from "./kill.ts";
import { isFlat, isUnharmed, mixedTable, runMixedLoad } from "./mixed-load.ts";
import type { Outcome, Say, Settings } from "./outcome.ts";
import { isHeld, measureStall, openStallSystem, type StallRow, stallTable } from "./stall.ts";
import { killDuringDeliveries, type KillReport as DeliveryReport } from "./webhooks.ts";
import { openStack } from "../support/programme-stack.ts";

const progressEvery = 10_000;

const requestsDefault = 100_000;
const requestsQuick = 3_000;
const controlRequests = 2_000;

export async function runFuzz(
  { quick, count = quick ? requestsQuick : requestsDefault, seed }: Settings,
  say: Say,
): Promise<Outcome> {
  await using stack = openStack();
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
  const document: Json = JSON.parse(await readFile(openApiFile, "utf8"));
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
  const wrong = withWrongAnswers(document);
  const control = await fuzz({ url, key, document: wrong, count: controlRequests, seed });
  const table = fuzzTable(seed, report, control, state);
  say(table);
  await keepFaults("fuzz", [table], { isWhole: count >= requestsDefault, say });
  return {
    held: report.failed === 0 && stillRuns && control.failed > report.failed,
    counts: `${report.sent} requests, ${report.failed} failed`,
    control: `${control.failed} failed`,
  };
}

/** A document that says of every JSON answer that it is a list. */
function withWrongAnswers(document: Json): Json {
  const changed = structuredClone(document);
  const operations = Object.values<Json>(changed.paths).flatMap((item) =>
    Object.values<Json>(item),
  );
  for (const { responses } of operations) {
    const json = responses[200]?.content?.["application/json"];
    if (json) json.schema = { type: "array" };
  }
  return changed;
}

function fuzzTable(seed: number, report: FuzzReport, control: FuzzReport, state: string): string {
  return figureTable([
    ["seed", seed],
    ["requests", report.sent],
    ["operations reached", Object.keys(report.byOperation).length],
    ["answers by status", formatCounts(report.byStatus)],
    ["answers of 5xx, or other than documented", report.failed],
    ["the service afterwards", state],
    [
      `control, a document that is wrong of every 200: of ${control.sent} answers found`,
      control.failed,
    ],
  ]);
}

function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} × ${name}`)
    .join(", ");
}

const deliveriesDefault = 100_000;
const deliveriesQuick = 8_000;
/** Few deliveries are soon over. */
const killEveryQuickMs = 1_000;
const controlDeliveries = 2_000;

export async function runWebhooks(
  { quick, count = quick ? deliveriesQuick : deliveriesDefault, seed }: Settings,
  say: Say,
): Promise<Outcome> {
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const report = await killDuringDeliveries(scope, {
    count,
    random: seededRandom(seed),
    say,
    killEveryMs: quick ? killEveryQuickMs : undefined,
  });
  say(JSON.stringify(report));
  const { expected, lost, altered, duplicates, leasesLost, kills } = report;
  // A run in which nothing was cut off proves little.
  const happened = expected >= count && leasesLost > 0 && Object.values(kills).every(Boolean);
  say("control: a delivery that is refused is not tried again");
  const control = await killDuringDeliveries(scope, {
    count: controlDeliveries,
    random: seededRandom(seed),
    say,
    isTriedOnce: true,
  });
  say("receivers that say 200 slowly");
  const slow = await runSlowReceivers(scope, { quick }, say);
  const parts = [
    webhooksTable(seed, report, control),
    "Beside receivers that say 200 slowly:",
    doorTable(slow.rows),
    "The same where nothing is shared:",
    doorTable(slow.control),
  ];
  say(parts.join("\n\n"));
  await keepFaults("webhooks", parts, { isWhole: count >= deliveriesDefault, say });
  // Only a claim that was cut off is tried again, so no more than those may come twice.
  const isWhole = lost === 0 && altered === 0 && duplicates <= leasesLost;
  return {
    held:
      happened &&
      isWhole &&
      control.lost > 0 &&
      slow.rows.every(isNear) &&
      !slow.control.every(isNear),
    counts: `${expected} deliveries, ${formatCounts(kills)} killed, ${lost} lost`,
    control: `${control.lost} lost`,
  };
}

function webhooksTable(seed: number, report: DeliveryReport, control: DeliveryReport): string {
  return figureTable([
    ["seed", seed],
    ["kills", formatCounts(report.kills)],
    ["deliveries expected", report.expected],
    ["refused by their receivers at first", report.refusals],
    ["claims that a kill cut off", report.leasesLost],
    ["deliveries lost, altered", `${report.lost}, ${report.altered}`],
    ["received more than once", report.duplicates],
    [`control, tried once each: of ${control.expected} deliveries lost`, control.lost],
  ]);
}

const stepsDefault = 100_000;
const stepsQuick = 600;
const controlSteps = 2_000;

/** Desks against the house, then desks and a bank that keeps its own record; `bank` is only that. */
export async function runEconomies(settings: Settings, say: Say): Promise<Outcome> {
  await using stack = openStack();
  // Once for both parts: this process keeps its connections to the server that it began with.
  await globalSetup();
  stack.defer(globalTeardown);
  if (settings.only === "bank") return await runBankEconomies(settings, say);
  const house = await runHouseEconomies(settings, say);
  const bank = await runBankEconomies(settings, say);
  return {
    held: house.held && bank.held,
    counts: `${house.counts}; ${bank.counts}`,
    control: `${house.control}; ${bank.control}`,
  };
}

/** Half of the steps under one card, half under cards that move, and the control. */
async function runHouseEconomies(
  { quick, count = quick ? stepsQuick : stepsDefault, seed }: Settings,
  say: Say,
) {
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
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
  const controlled = quick ? stepsQuick : controlSteps;
  const control = await run({ steps: controlled, cardsMove: false, bindsNumbersOnly: true });
  const held = proofs.every(
    ({ breaches, faults, deals }) => breaches.length + faults.length === 0 && deals > 0,
  );
  const table = economyTable({ seed, steps: count }, proofs, control);
  say(table);
  await keepFaults("economy", [table], { isWhole: count >= stepsDefault, say });
  const gains = proofs.reduce((sum, { breaches }) => sum + breaches.length, 0);
  return {
    held: held && control.breaches.length > 0,
    counts: `${count} steps, ${gains} gains`,
    control: `${control.breaches.length} gains`,
  };
}

function economyTable(
  { seed, steps }: { readonly seed: number; readonly steps: number },
  [constant, moving]: readonly [EconomyReport, EconomyReport],
  control: EconomyReport,
): string {
  const both = (figure: (report: EconomyReport) => unknown) =>
    [constant, moving].map((report) => String(figure(report))).join(", ");
  return figureTable([
    ["seed", seed],
    ["steps", steps],
    ["deals under one card, under cards that move", both(({ deals }) => deals)],
    ["paise that the colluding desks lost to the house", both((each) => each.clientsLostPaise)],
    ["gains, or books that are broken", both(({ breaches }) => breaches.length)],
    ["answers of 5xx and other faults", both(({ faults }) => faults.length)],
    ["control, quotes that bind numbers and price only: gains", control.breaches.length],
  ]);
}

/** Of the heavy requests, those of a short look: a body, a cover and a page. */
const heavyQuick = ["with a decimal, with a", "tried", "as PDF"];

const oneThread = { program: join(import.meta.dirname, "one-thread-serve.ts"), words: [] };

/**
 * Every heavy request, then those of the threads once more on the event loop, where some must stall;
 * then the attacks on the doors.
 */
export async function runStalls(settings: Settings, say: Say): Promise<Outcome> {
  const { only = "", quick } = settings;
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const heavy = await runHeavy(scope, { only, quick }, say);
  const doors = await runDoors(scope, { only, quick }, say);
  const areHeld = areDoorsHeld(doors) && heavy.rows.every(isHeld);
  const held = heavy.rows.filter(isHeld).length + doors.rows.filter(isDoorHeld).length;
  const counts = `${heavy.rows.length + doors.rows.length} attacks, ${held} held`;
  if (only !== "") return { held: areHeld, counts, control: "not run" };
  const parts = [
    stallTable(heavy.rows),
    "The same work on the event loop:",
    stallTable(heavy.control),
    "The doors:",
    doorTable(doors.rows),
    "The doors with their defects put back:",
    doorTable(doors.control),
  ];
  await keepFaults("stall", parts, { isWhole: !quick, say });
  const seen =
    heavy.control.filter((row) => !isHeld(row)).length +
    doors.control.filter((row) => !isDoorHeld(row)).length;
  const all = heavy.control.length + doors.control.length;
  return {
    held: areHeld && !heavy.control.every(isHeld),
    counts,
    control: `${seen} of ${all} stalled`,
  };
}

async function runHeavy(
  scope: Scope,
  { only, quick }: { readonly only: string; readonly quick: boolean },
  say: Say,
): Promise<{ readonly rows: readonly StallRow[]; readonly control: readonly StallRow[] }> {
  const chosen = heavyRequests
    .filter(({ name }) => name.includes(only))
    .filter(({ name }) => !quick || heavyQuick.some((word) => name.includes(word)));
  if (chosen.length === 0) return { rows: [], control: [] };
  const DATA_DIR = await dataDirectory(scope);
  const settings = { DATA_DIR, LOG_LEVEL: "silent" };
  let service = await serve(scope, settings);
  const system = await openStallSystem(service, DATA_DIR);
  say("furnished");
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
  service.signal("SIGTERM");
  await service.ended;
  if (only !== "") return { rows, control: [] };
  say("control: the same work on the event loop");
  service = await serve(scope, settings, oneThread);
  return { rows, control: await measure() };
}

const minutesDefault = 10;
const minutesQuick = 0.5;

export async function runLoad(
  { quick, minutes = quick ? minutesQuick : minutesDefault, seed }: Settings,
  say: Say,
): Promise<Outcome> {
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const DATA_DIR = await dataDirectory(scope);
  const service = await serve(scope, { DATA_DIR, LOG_LEVEL: "silent" });
  const system = await openStallSystem(service, DATA_DIR);
  say("furnished");
  const report = await runMixedLoad(service, system, { minutes, seed, say });
  for (const { what } of report.failures.slice(0, 20)) say(what);
  say(mixedTable(report));
  const isWhole = minutes >= minutesDefault;
  await keepFaults("load", [mixedTable(report)], { isWhole, say });
  const calls = Object.values(report.byStatus).reduce((sum, each) => sum + each, 0);
  return {
    held: isUnharmed(report) && isFlat(report),
    counts: `${minutes} minutes, ${calls} calls, ${report.failures.length} failed`,
    control: "that of stall",
  };
}

const killsDefault = 200;
const killsQuick = 6;
const controlKills = 4;
/** A busy machine commits so late that a few kills may lose nothing. */
const controlRunsMax = 10;

export async function runKills(
  { quick, count = quick ? killsQuick : killsDefault, seed }: Settings,
  say: Say,
): Promise<Outcome> {
  await using stack = openStack();
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
  const countLost = async (control: Pick<KillSettings, "victims" | "defect">): Promise<number> => {
    for (let runs = 0; runs < controlRunsMax; runs++) {
      const { lost } = await run({ count: controlKills, ...control });
      if (lost > 0) return lost;
    }
    return 0;
  };
  const unflushed = await countLost({ victims: ["postgres"], defect: "commits are not flushed" });
  const hasty = await countLost({ victims: ["service"], defect: "answers come before the commit" });
  const table = killTable(seed, proof, { unflushed, hasty });
  say(table);
  await keepFaults("kill", [table], { isWhole: count >= killsDefault, say });
  const held = proof.breaches.length === 0 && proof.ledgerIsSound && proof.ambiguous > 0;
  return {
    held: held && proof.replays > 0 && unflushed > 0 && hasty > 0,
    counts: `${formatCounts(proof.kills)} killed, ${proof.acked} orders, ${proof.lost} lost`,
    control: `${unflushed} and ${hasty} orders lost`,
  };
}

function killTable(
  seed: number,
  proof: KillReport,
  { unflushed, hasty }: { readonly unflushed: number; readonly hasty: number },
): string {
  return figureTable([
    ["seed", seed],
    ["kills", formatCounts(proof.kills)],
    ["orders acknowledged, refused", `${proof.acked}, ${proof.refused}`],
    ["calls whose outcome was unknown at first", proof.ambiguous],
    ["of them found again by their key", proof.replays],
    ["orders lost, orders doubled", `${proof.lost}, ${proof.doubled}`],
    [
      "ledger and audit trail sound, nothing else broken",
      proof.breaches.length === 0 ? "yes" : "NO",
    ],
    ["control, commits that are not flushed: orders lost", unflushed],
    ["control, answers before the commit: orders lost", hasty],
  ]);
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
