// The power cuts as a programme: how many, what it says, and when it held.

import { rm } from "node:fs/promises";

import { scratchFolder } from "../support/scratch.ts";
import { diskMissing, openDisk } from "./disk.ts";
import { figureTable, keepFaults } from "./faults-page.ts";
import { isInside, namespaceMissing, runInside } from "./namespace.ts";
import type { Outcome, Say, Settings } from "./outcome.ts";
import { cutUnderLoad, type PowerReport } from "./power.ts";
import { openStack } from "../support/programme-stack.ts";

const cutsDefault = 100;
const cutsQuick = 5;
const controlCuts = 3;

const folderVariable = "SCRIPDESK_FAULTS_FOLDER";

export async function runPower(settings: Settings, say: Say): Promise<Outcome> {
  const folder = process.env[folderVariable];
  if (isInside && folder !== undefined) return await runOn(folder, settings, say);
  const missing = (await diskMissing()) ?? (await namespaceMissing());
  if (missing !== undefined) return { missing };
  const made = await scratchFolder("scripdesk-power-");
  try {
    return await runInside(["--seed", String(settings.seed)], { [folderVariable]: made });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function runOn(folder: string, { count, seed, quick }: Settings, say: Say): Promise<Outcome> {
  const cuts = count ?? (quick ? cutsQuick : cutsDefault);
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const disk = await openDisk(folder);
  const proof = await cutUnderLoad(scope, disk, { cuts, seed, flushes: true, say });
  for (const breach of proof.breaches.slice(0, 50)) say(breach);
  say("control: fsync is off");
  const control = await cutUnderLoad(scope, disk, {
    cuts: controlCuts,
    seed,
    flushes: false,
    say,
  });
  for (const breach of control.breaches.slice(0, 3)) say(breach);
  const table = powerTable(seed, proof, control);
  say(table);
  await keepFaults("power", [table], { isWhole: cuts >= cutsDefault, say });
  const isSeen = control.lost + control.unusable > 0;
  return {
    held: proof.breaches.length === 0 && proof.compared > 0 && isSeen,
    counts: `${proof.cuts} cuts, ${proof.acked} orders, ${proof.lost} lost`,
    control: describeControl(control),
  };
}

function describeControl({ cuts, lost, unusable }: PowerReport): string {
  return `${cuts} cuts: ${lost} orders lost, ${unusable} disks unusable`;
}

function powerTable(seed: number, proof: PowerReport, control: PowerReport): string {
  return figureTable([
    ["seed", seed],
    ["cuts that were started again and compared", proof.cuts],
    ["orders acknowledged", proof.acked],
    ["orders looked for, in all cuts together", proof.compared],
    ["orders lost, orders doubled", `${proof.lost}, ${proof.doubled}`],
    ["cuts after which the service did not start", proof.unusable],
    [
      "ledger and audit trail sound after each, nothing else broken",
      proof.breaches.length === 0 ? "yes" : "NO",
    ],
    ["control, fsync off", describeControl(control)],
  ]);
}
