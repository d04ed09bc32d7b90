// The economy with the bank, in several worlds at once: what it runs, what it says, and when it held.

import { pino } from "pino";

import { openStack } from "../support/programme-stack.ts";
import { startService } from "../support/service.ts";
import {
  type BankEconomyReport,
  type BankEconomySettings,
  findRareKinds,
  runBankEconomy,
} from "./bank-economy.ts";
import { economyOptions } from "./economy.ts";
import { figureTable, keepFaults } from "./faults-page.ts";
import type { Outcome, Say, Settings } from "./outcome.ts";

const stepsDefault = 20_000;
const stepsQuick = 300;
/** Each has a service, a bank and desks of its own, and a seed after that of the one before. */
const worldsDefault = 4;
const controlSteps = 2_000;
const shownMax = 50;

export async function runBankEconomies(
  { quick, count, seed }: Settings,
  say: Say,
): Promise<Exclude<Outcome, { readonly missing: string }>> {
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const run = async (settings: BankEconomySettings): Promise<BankEconomyReport> => {
    // What stands behind a fault is told as it happens.
    const log = pino({ level: "error" }, pino.destination({ dest: 2, sync: true }));
    const service = await startService(scope, { ...economyOptions, log });
    const onProgress = (steps: number) => say(`world ${settings.seed}: ${steps} steps`);
    return await runBankEconomy(service, { ...settings, onProgress });
  };
  const all = count ?? (quick ? stepsQuick : stepsDefault);
  const worlds = quick ? 1 : worldsDefault;
  const steps = Math.ceil(all / worlds);
  const seeds = Array.from({ length: worlds }, (_, at) => seed + at);
  const control = await run({
    steps: controlSteps,
    seed,
    matchesAsBefore: true,
    stopsAtLoss: true,
  });
  const [first] = control.losses;
  say(`control: ${first ? `${first.what}, after ${first.step} steps` : "lost nothing"}`);
  const proofs = await Promise.all(seeds.map(async (own) => await run({ steps, seed: own })));
  const losses = proofs.flatMap((report) => report.losses);
  const faults = proofs.flatMap((report) => report.faults);
  for (const { what } of losses.slice(0, shownMax)) say(what);
  for (const fault of faults.slice(0, shownMax)) say(fault);
  const kinds = sumCounts(proofs.map((report) => report.kinds));
  const made = proofs.reduce((sum, report) => sum + report.steps, 0);
  const rare = findRareKinds({ steps: made, kinds });
  const table = figureTable([
    ["seeds", seeds.join(", ")],
    ["steps", made],
    ...Object.entries(kinds).map(([kind, times]) => [`steps: ${kind}`, times] as const),
    ["answers", formatAnswers(sumCounts(proofs.map((report) => report.answers)))],
    ["rupees that are not with whom the bank's record says, and other losses", losses.length],
    ["answers of 5xx and other faults", faults.length],
    [
      "control, any part of a text finds and an unconfirmed name proves: steps to the first loss",
      first?.step ?? "none",
    ],
    ["what it was", first?.what ?? "nothing"],
  ]);
  say(table);
  await keepFaults("bank economy", [table], { isWhole: all >= stepsDefault, say });
  return {
    held: losses.length + faults.length + rare.length === 0 && first !== undefined,
    counts: `${made} steps with the bank, ${losses.length} losses`,
    control: first ? `a loss after ${first.step} steps` : "no loss",
  };
}

function sumCounts(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, times] of counts.flatMap((each) => Object.entries(each))) {
    sums[name] = (sums[name] ?? 0) + times;
  }
  return sums;
}

function formatAnswers(answers: Readonly<Record<string, number>>): string {
  return Object.entries(answers)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([answer, times]) => `${times} × ${answer}`)
    .join(", ");
}
