// The soak as a programme: how long it runs, what it says, and when it held.

import { figureTable, keepFaults } from "./faults-page.ts";
import { leakyService, openSoakSystem, soak, soakBreaches, type SoakReport } from "./soak.ts";
import type { Outcome, Say, Settings } from "./outcome.ts";
import {
  findGrowth,
  type Sample,
  sortByChanges,
  summarizeDead,
  summarizeThirds,
} from "./soak-watch.ts";
import { openStack } from "../support/programme-stack.ts";

const minutesDefault = 60;
const minutesQuick = 1;
const controlMinutes = 2;
const controlMinutesQuick = 1;
const tablesShown = 8;

export async function runSoak(
  { minutes: asked, seed, quick }: Settings,
  say: Say,
): Promise<Outcome> {
  const minutes = asked ?? (quick ? minutesQuick : minutesDefault);
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const system = await openSoakSystem(scope);
  say("furnished");
  const report = await soak(scope, system, { minutes, seed, say });
  const breaches = soakBreaches(report);
  for (const breach of breaches.slice(0, 50)) say(breach);
  say("control: the same load on a service that leaks");
  await system.start(leakyService);
  const control = await soak(scope, system, {
    minutes: quick ? controlMinutesQuick : controlMinutes,
    seed,
    say,
    isControl: true,
  });
  const growth = findGrowth(control.samples);
  const parts = [
    soakTable(seed, report, growth),
    "The tables that changed most, middle of the middle third and of the last:",
    churnTable(report.samples),
  ];
  for (const part of parts) say(part);
  await keepFaults("soak", parts, { isWhole: minutes >= minutesDefault, say });
  const isSeen = ["memory of the service", "open files of the service"].every((name) =>
    growth.includes(name),
  );
  return {
    held: breaches.length === 0 && isSeen,
    counts: `${minutes} minutes, ${report.orders.acked + report.honest.acked} orders, ${report.orders.lost + report.honest.lost} lost`,
    control: `grew: ${growth.join(", ") || "nothing"}`,
  };
}

function soakTable(seed: number, report: SoakReport, growth: readonly string[]): string {
  const { samples, orders, honest, webhooks } = report;
  const thirds = (of: (sample: Sample) => number) => summarizeThirds(samples, of).map(Math.round);
  const most = (of: (sample: Sample) => number) => Math.round(Math.max(...samples.map(of)));
  const [first, last] = [samples[0], samples.at(-1)];
  const made = (last?.orders ?? 0) - (first?.orders ?? 0);
  const grown = (last?.databaseBytes ?? 0) - (first?.databaseBytes ?? 0);
  const faults = Object.entries(report.faults).map(([fault, count]) => `${count} × ${fault}`);
  return figureTable([
    ["seed, minutes", `${seed}, ${report.minutes}`],
    ["faults", faults.join(", ")],
    [
      "calls, of them failed while the service or PostgreSQL was away",
      `${report.calls}, ${report.failedInFaults}`,
    ],
    ["calls that failed at any other time", report.failedBesides.length],
    ["orders acknowledged: order load, honest desks", `${orders.acked}, ${honest.acked}`],
    ["orders lost, orders doubled", `${orders.lost + honest.lost}, ${orders.doubled}`],
    ["events by streams that are read", report.streamed],
    [
      "deliveries: received, lost, waiting in the end, given up",
      [webhooks.delivered, webhooks.lost, webhooks.waiting, webhooks.dead].join(", "),
    ],
    ["most deliveries waiting at any time", most(({ waiting }) => waiting)],
    [
      "memory of the service in MiB: middle third, last third",
      thirds(({ serviceMib }) => serviceMib).join(", "),
    ],
    ["open files of the service", thirds(({ serviceFiles }) => serviceFiles).join(", ")],
    [
      "memory of PostgreSQL's processes in MiB, without what they share",
      thirds(({ postgresMib }) => postgresMib).join(", "),
    ],
    [
      "open files of PostgreSQL's processes",
      thirds(({ postgresFiles }) => postgresFiles).join(", "),
    ],
    ["PostgreSQL's write-ahead log in MiB, most", most(({ walMib }) => walMib)],
    [
      "bytes of database per order, with all that was done beside",
      made > 0 ? Math.round(grown / made) : "none",
    ],
    ["ledger and audit trail sound", orders.breaches.length === 0 ? "yes" : "NO"],
    ["control, a service that leaks: grew", growth.join(", ") || "NOTHING"],
  ]);
}

function churnTable(samples: readonly Sample[]): string {
  const lines = sortByChanges(samples)
    .slice(0, tablesShown)
    .map(({ name, changed, bytes }) => {
      const [second, last] = summarizeDead(samples, name);
      return `| ${name} | ${changed} | ${second} | ${last} | ${(bytes / 1_048_576).toFixed(1)} |`;
    });
  return [
    "| table | rows changed or deleted since PostgreSQL's last start | dead rows, middle third | dead rows, last third | MiB in the end |",
    "|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}
