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
import { writeFaults } from "./faults-page.ts";
import { findFormerVersion, unpackVersion } from "./former-version.ts";
import { isInside, namespaceMissing, runInside } from "./namespace.ts";
import { backupProgramsMissing, restoreTable, restoreUnderLoad } from "./restore.ts";

type Settings = {
  readonly count: number | undefined;
  readonly seed: number;
  readonly quick: boolean;
};

type Say = (line: string) => void;

export async function runRestore({ seed }: Settings, say: Say): Promise<boolean> {
  const missing = await backupProgramsMissing();
  if (missing !== undefined) {
    say(missing);
    return false;
  }
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const { breaches, ...report } = await restoreUnderLoad(scope, { seed, say });
  say(JSON.stringify(report));
  for (const breach of breaches.slice(0, 50)) say(breach);
  await writeFaults("restore", [restoreTable(seed, { breaches, ...report })]);
  const isExact = report.altered.length === 0 && report.tooMany === 0 && report.acked > 0;
  return isExact && report.ledgerIsSound && breaches.length === 0 && report.missingAtBackup > 0;
}

const failoversDefault = 50;
const restartsDefault = 20;
const quickCount = 3;

/** Whether it held inside; undefined when this is inside. */
async function holdsInside(seed: number, say: Say): Promise<boolean | undefined> {
  if (isInside) return undefined;
  const missing = (await programsMissing()) ?? (await namespaceMissing());
  if (missing !== undefined) say(missing);
  return missing === undefined && (await runInside(["--seed", String(seed)])) === 0;
}

/** The nodes are upgraded one after the other, which runs the migrations, under load. */
export async function runUpgrade({ seed }: Settings, say: Say): Promise<boolean> {
  const held = await holdsInside(seed, say);
  if (held !== undefined) return held;
  const former = await findFormerVersion();
  if ("missing" in former) {
    say(former.missing);
    return false;
  }
  say(`from ${former.name}`);
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const nodes = await openNodes(scope, await unpackVersion(scope, former));
  const roll = { count: nodes.running.length, seed, by: "SIGTERM" } as const;
  const { breaches, ...figures } = await rollUnderLoad(scope, nodes, roll);
  say(JSON.stringify(figures));
  for (const breach of breaches.slice(0, 50)) say(breach);
  await writeFaults("upgrade", [upgradeTable(seed, former.name, { breaches, ...figures })]);
  return isSound({ breaches, ...figures }) && figures.unanswered === 0;
}

export async function runFailovers({ count, quick, seed }: Settings, say: Say): Promise<boolean> {
  const held = await holdsInside(seed, say);
  if (held !== undefined) return held;
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const nodes = await openNodes(scope);
  say("the cluster is whole, and three nodes serve");
  const refusal = await refuseTransactionMode(nodes);
  say(`through PgBouncer in transaction mode: ${refusal}`);
  const tell = (what: string, { breaches, ...figures }: Verdict) => {
    say(`${what}: ${JSON.stringify(figures)}`);
    if (!what.startsWith("control")) for (const breach of breaches.slice(0, 50)) say(breach);
  };
  const restarts = quick ? quickCount : restartsDefault;
  const roll = await rollUnderLoad(scope, nodes, { count: restarts, seed, by: "SIGTERM" });
  tell("rolling restarts", roll);
  const killed = await rollUnderLoad(scope, nodes, { count: quickCount, seed, by: "SIGKILL" });
  tell("control, nodes killed", killed);
  const failovers = count ?? (quick ? quickCount : failoversDefault);
  const proof = await failUnderLoad(scope, nodes, { count: failovers, seed, say });
  tell("failovers", proof);
  const control = await failBehind(scope, nodes, { seed });
  tell("control, standbys behind", control);
  if (control.lost === 0) say("the control lost nothing: this run proves nothing");
  if (!quick) await writeFaults("failover", [failoverTable(seed, proof, control, roll, killed)]);
  const isRolled = isSound(roll) && roll.unanswered === 0 && killed.unanswered > 0;
  const done = Object.values(proof.failovers).reduce((sum, each) => sum + each, 0);
  const isHarmless = isSound(proof) && proof.nodesLost === 0;
  const isFailedOver = isHarmless && proof.ambiguous > 0 && done === failovers;
  const isRefused = /^3: .*transaction mode/.test(refusal);
  return isRolled && isFailedOver && isRefused && control.lost > 0;
}
