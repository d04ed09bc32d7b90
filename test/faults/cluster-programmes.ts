// The programmes that need more than the service and its own PostgreSQL: what they run, what they say,
// and when they held.

import type { Verdict } from "./acked-orders.ts";
import { programsMissing } from "./cluster.ts";
import {
  failBehind,
  failoverTable,
  failUnderLoad,
  isSound,
  openNodes,
  refuseTransactionMode,
  rollUnderLoad,
  upgradeTable,
} from "./failover.ts";
import { keepFaults } from "./faults-page.ts";
import { findFormerVersion, unpackVersion } from "./former-version.ts";
import { isInside, namespaceMissing, runInside } from "./namespace.ts";
import type { Outcome, Say, Settings } from "./outcome.ts";
import { backupProgramsMissing, restoreTable, restoreUnderLoad } from "./restore.ts";
import { openStack } from "../support/programme-stack.ts";

export async function runRestore({ seed, quick }: Settings, say: Say): Promise<Outcome> {
  const missing = await backupProgramsMissing();
  if (missing !== undefined) return { missing };
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const { breaches, ...report } = await restoreUnderLoad(scope, { seed, say });
  say(JSON.stringify(report));
  for (const breach of breaches.slice(0, 50)) say(breach);
  const table = restoreTable(seed, { breaches, ...report });
  await keepFaults("restore", [table], { isWhole: !quick, say });
  const isExact = report.altered.length === 0 && report.tooMany === 0 && report.acked > 0;
  const isSoundToo = report.ledgerIsSound && breaches.length === 0;
  return {
    held: isExact && isSoundToo && report.missingAtBackup > 0,
    counts: `1 restore, ${report.acked} orders, ${report.lost} lost`,
    control: `${report.missingAtBackup} orders missing at the backup`,
  };
}

const failoversDefault = 50;
const restartsDefault = 20;
/** One of each: kill, stop, partition. */
const failoversQuick = 3;
const restartsQuick = 1;
const nodesKilled = 3;

/** What came of it inside; undefined when this is inside. */
async function findOutcomeInside(seed: number): Promise<Outcome | undefined> {
  if (isInside) return undefined;
  const missing = (await programsMissing()) ?? (await namespaceMissing());
  if (missing !== undefined) return { missing };
  return await runInside(["--seed", String(seed)]);
}

/** The nodes are upgraded one after the other, which runs the migrations, under load. */
export async function runUpgrade({ seed, quick }: Settings, say: Say): Promise<Outcome> {
  const outcome = await findOutcomeInside(seed);
  if (outcome !== undefined) return outcome;
  const former = await findFormerVersion();
  if ("missing" in former) return former;
  say(`from ${former.name}`);
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const nodes = await openNodes(scope, await unpackVersion(scope, former));
  const roll = { count: nodes.running.length, seed, by: "SIGTERM" } as const;
  const { breaches, ...figures } = await rollUnderLoad(scope, nodes, roll);
  say(JSON.stringify(figures));
  for (const breach of breaches.slice(0, 50)) say(breach);
  const table = upgradeTable(seed, former.name, { breaches, ...figures });
  await keepFaults("upgrade", [table], { isWhole: !quick, say });
  return {
    held: isSound({ breaches, ...figures }) && figures.unanswered === 0,
    counts: `${figures.restarts} nodes, ${figures.acked} orders, ${figures.unanswered} unanswered`,
    control: "that of failover",
  };
}

export async function runFailovers({ count, quick, seed }: Settings, say: Say): Promise<Outcome> {
  const outcome = await findOutcomeInside(seed);
  if (outcome !== undefined) return outcome;
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const nodes = await openNodes(scope);
  say("the cluster is whole, and three nodes serve");
  const refusal = await refuseTransactionMode(nodes);
  say(`through PgBouncer in transaction mode: ${refusal}`);
  const tell = (what: string, { breaches, ...figures }: Verdict) => {
    say(`${what}: ${JSON.stringify(figures)}`);
    if (!what.startsWith("control")) for (const breach of breaches.slice(0, 50)) say(breach);
  };
  const restarts = quick ? restartsQuick : restartsDefault;
  const roll = await rollUnderLoad(scope, nodes, { count: restarts, seed, by: "SIGTERM" });
  tell("rolling restarts", roll);
  const kills = quick ? restartsQuick : nodesKilled;
  const killed = await rollUnderLoad(scope, nodes, { count: kills, seed, by: "SIGKILL" });
  tell("control, nodes killed", killed);
  const failovers = count ?? (quick ? failoversQuick : failoversDefault);
  const proof = await failUnderLoad(scope, nodes, { count: failovers, seed, say });
  tell("failovers", proof);
  const control = await failBehind(scope, nodes, { seed });
  tell("control, standbys behind", control);
  if (control.lost === 0) say("the control lost nothing: this run proves nothing");
  const table = failoverTable(seed, proof, control, roll, killed);
  await keepFaults("failover", [table], { isWhole: !quick, say });
  const isRolled = isSound(roll) && roll.unanswered === 0 && killed.unanswered > 0;
  const done = Object.values(proof.failovers).reduce((sum, each) => sum + each, 0);
  const isHarmless = isSound(proof) && proof.nodesLost === 0;
  const isFailedOver = isHarmless && proof.ambiguous > 0 && done === failovers;
  const isRefused = /^3: .*transaction mode/.test(refusal);
  return {
    held: isRolled && isFailedOver && isRefused && control.lost > 0,
    counts: `${done} failovers, ${roll.restarts} restarts, ${proof.acked + roll.acked} orders, ${proof.lost + roll.lost} lost`,
    control: `${control.lost} orders lost, ${killed.unanswered} calls unanswered`,
  };
}
