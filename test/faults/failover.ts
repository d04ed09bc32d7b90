// The service on a cluster that loses its primary, again and again, under order load. Two nodes serve
// the API behind HAProxy and one runs the workers; none of them is touched while primaries fail.
//
//   fail      the primary is hit; another takes its place; orders are acknowledged again; the one
//             that was hit comes back as a standby
//   roll      the nodes are restarted one after the other, behind HAProxy: every call is answered
//   judge     the load finishes, the nodes stop, and the rows are compared with what was told
//
// The control of the first are standbys that are behind and that no commit waits for: orders must be
// lost. That of the second are nodes that are killed: calls must go unanswered.

import { setTimeout as sleep } from "node:timers/promises";

import { drawFrom } from "../support/market.ts";
import { type Program, type Running, scripdesk, type Scope, serve } from "../support/process.ts";
import { startRedis } from "../support/redis.ts";
import {
  eventually,
  issueDesks,
  judge,
  type Site,
  startLoad,
  type Verdict,
} from "./acked-orders.ts";
import { type Cluster, type Fault, faults, startCluster } from "./cluster.ts";
import { local, ports } from "./cluster-config.ts";
import { figureTable } from "./faults-page.ts";
import type { LoadResult } from "./order-load.ts";

const apiPorts = [8081, 8082] as const;
const answersBetween = 30;
/** The load has fewer callers than when it has the machine to itself: a dozen servers share it. */
const callers = 12;
const drainS = 3;
const deadlineMs = 40 * 60_000;
/** What is written while the standbys get nothing. */
const answersBehind = 200;

export type Nodes = Site & {
  readonly cluster: Cluster;
  readonly running: readonly ServiceNode[];
};

type ServiceNode = {
  readonly role: "api" | "worker";
  service: Running;
  /** Starts it again where it was, in the present version. */
  start(): Promise<void>;
};

/** Nodes of the present version of the service, or of another one. */
export async function openNodes(scope: Scope, program?: string): Promise<Nodes> {
  const cluster = await startCluster(scope, apiPorts);
  const redis = await startRedis(scope);
  const settings = {
    DATABASE_URL: program === undefined ? cluster.url : cluster.directUrl,
    REDIS_URL: redis.url,
    MASTER_KEY: "5c".repeat(32),
    DATA_DIR: cluster.folder,
  };
  const migrated = await scripdesk(["migrate"], settings, program);
  if (migrated.code !== 0) throw new Error(migrated.stderr);
  const open = async (role: ServiceNode["role"], port: number): Promise<ServiceNode> => {
    const given = { ...settings, ROLE: role, PORT: String(port), DRAIN_S: String(drainS) };
    const start = async (version?: Program) =>
      await serve(scope, { ...given, LOG_LEVEL: "silent" }, version);
    const node: ServiceNode = {
      role,
      service: await start(program === undefined ? undefined : { program, words: ["serve"] }),
      async start() {
        node.service = await start();
      },
    };
    return node;
  };
  const running = await Promise.all([
    ...apiPorts.map((port) => open("api", port)),
    open("worker", 8083),
  ]);
  const nodes: Nodes = {
    cluster,
    running,
    folder: cluster.folder,
    url: `http://${local}:${ports.api}`,
    settings,
    asOwner: cluster.asOwner,
    ...(await issueDesks(settings, program)),
  };
  await awaitReady(nodes);
  return nodes;
}

async function awaitReady({ cluster }: Pick<Nodes, "cluster">): Promise<void> {
  await eventually(
    async () => ((await cluster.listReady()).length === apiPorts.length ? true : undefined),
    "readiness of all nodes",
  );
}

/** With the nodes stopped, so that nothing moves meanwhile; they are started again. */
async function judgeAtRest(nodes: Nodes, told: LoadResult): Promise<Verdict> {
  for (const { service } of nodes.running) service.signal("SIGINT");
  await Promise.all(nodes.running.map(({ service }) => service.ended));
  const verdict = await judge(nodes, told);
  await Promise.all(nodes.running.map((node) => node.start()));
  await awaitReady(nodes);
  return verdict;
}

export type FailoverReport = Verdict & {
  readonly failovers: Readonly<Record<Fault, number>>;
  /** From the fault to the next acknowledged order, the middle and the longest. */
  readonly awayS: { readonly middle: number; readonly most: number };
  /** Nodes of the service that ended by themselves. */
  readonly nodesLost: number;
};

export type FailoverSettings = {
  readonly count: number;
  readonly seed: number;
  readonly say: (line: string) => void;
};

/** Fails over and judges; the nodes go on. */
export async function failUnderLoad(
  scope: Scope,
  nodes: Nodes,
  { count, seed, say }: FailoverSettings,
): Promise<FailoverReport> {
  const { cluster, running } = nodes;
  const draw = drawFrom(seed);
  let nodesLost = 0;
  for (const { service } of running) void service.ended.then(() => (nodesLost += 1));
  const load = startLoad(scope, nodes, { seed, callers });
  const failovers = { kill: 0, stop: 0, partition: 0 };
  const away: number[] = [];
  const endMs = performance.now() + deadlineMs;
  for (let done = 0; done < count && performance.now() < endMs; done++) {
    await load.progress(answersBetween);
    await sleep(draw() * 300);
    const fault = faults[done % faults.length] ?? "kill";
    const begunMs = performance.now();
    const { victim, successor, heal } = await cluster.fail(fault);
    try {
      await load.progress(answersBetween);
    } finally {
      await heal();
    }
    away.push((performance.now() - begunMs) / 1_000);
    failovers[fault] += 1;
    await cluster.awaitWhole();
    say(`${done + 1} of ${count}: ${fault} of ${victim}, ${successor} took over`);
  }
  await load.progress(answersBetween);
  const told = await load.stop();
  const report = { failovers, nodesLost };
  const verdict = await judgeAtRest(nodes, told);
  const sorted = away.toSorted((a, b) => a - b);
  const awayS = {
    middle: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    most: Math.round(sorted.at(-1) ?? 0),
  };
  return { ...report, awayS, ...verdict };
}

/** The same with standbys that are behind, and that no commit waits for; the cluster is spoilt by it. */
export async function failBehind(
  scope: Scope,
  nodes: Nodes,
  { seed }: Pick<FailoverSettings, "seed">,
): Promise<Verdict> {
  const { cluster } = nodes;
  const load = startLoad(scope, nodes, { seed, callers });
  await load.progress(answersBetween);
  await cluster.leaveStandbysBehind();
  await load.progress(answersBehind);
  const { heal } = await cluster.fail("kill");
  await heal();
  await load.progress(answersBetween);
  return await judgeAtRest(nodes, await load.stop());
}

export type RollReport = Verdict & {
  readonly restarts: number;
  readonly unanswered: number;
  /** Calls that were answered with 500 and repeated. */
  readonly shed: number;
  /** What the first of both got. */
  readonly instead: readonly string[];
};

const insteadMax = 20;

/** Restarts nodes in turn, by the signal that a supervisor sends, or by one that cannot be caught. */
export async function rollUnderLoad(
  scope: Scope,
  nodes: Nodes,
  {
    count,
    seed,
    by,
  }: { readonly count: number; readonly seed: number; readonly by: NodeJS.Signals },
): Promise<RollReport> {
  const load = startLoad(scope, nodes, { seed, callers, isPatient: true });
  for (let done = 0; done < count; done++) {
    await load.progress(answersBetween);
    const node = nodes.running[done % nodes.running.length];
    node?.service.signal(by);
    await node?.service.ended;
    await node?.start();
    await awaitReady(nodes);
  }
  await load.progress(answersBetween);
  const told = await load.stop();
  const { unanswered, shed, failed } = told;
  const instead = failed.slice(0, insteadMax).map(({ what }) => what);
  return { restarts: count, unanswered, shed, instead, ...(await judgeAtRest(nodes, told)) };
}

/** What a node says when its database is behind a pooler that shares sessions. */
export async function refuseTransactionMode({ cluster, settings }: Nodes): Promise<string> {
  const shared = { ...settings, DATABASE_URL: cluster.transactionUrl, PORT: "0" };
  const { code, stderr } = await scripdesk(["serve"], shared);
  return `${code}: ${stderr.trim()}`;
}

export function isSound({ breaches, ledgerIsSound }: Verdict): boolean {
  return breaches.length === 0 && ledgerIsSound;
}

export function failoverTable(
  seed: number,
  proof: FailoverReport,
  control: Verdict,
  roll: RollReport,
  rollControl: RollReport,
): string {
  const { failovers, awayS } = proof;
  return figureTable([
    ["seed", seed],
    ["failovers: kill, stop, partition", Object.values(failovers).join(", ")],
    ["orders acknowledged", proof.acked],
    ["calls whose outcome was unknown at first", proof.ambiguous],
    ["of them found again by their key", proof.replays],
    ["orders lost, orders doubled", `${proof.lost}, ${proof.doubled}`],
    ["ledger and audit trail sound, nothing else broken", isSound(proof) ? "yes" : "NO"],
    ["nodes of the service that ended or were restarted", proof.nodesLost],
    [
      "seconds from the fault to the 30th order after it: middle, most",
      `${awayS.middle}, ${awayS.most}`,
    ],
    ["control, standbys behind and not waited for: orders lost", control.lost],
    ["rolling restarts", roll.restarts],
    ["orders acknowledged meanwhile, calls unanswered", `${roll.acked}, ${roll.unanswered}`],
    ["calls answered that the service is busy, and repeated", roll.shed],
    ["control, nodes killed: calls unanswered", rollControl.unanswered],
  ]);
}

export function upgradeTable(seed: number, from: string, roll: RollReport): string {
  return figureTable([
    ["seed", seed],
    ["from", from],
    ["nodes upgraded", roll.restarts],
    ["orders acknowledged meanwhile", roll.acked],
    ["calls unanswered, calls answered 500", `${roll.unanswered}, ${roll.shed}`],
    ["orders lost, orders doubled", `${roll.lost}, ${roll.doubled}`],
    ["ledger and audit trail sound, nothing else broken", isSound(roll) ? "yes" : "NO"],
  ]);
}
