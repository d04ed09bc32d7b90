// `npm run compat`: whether every statement finds its rows by an index, also where the server knows
// nothing of how many there are, on the PostgreSQL that comes with the service and on the oldest one
// that it says it runs on. A day of dealing runs on a small database, then on a large one:
//
//   grown     with the plans that were made while it was small
//   fresh     with plans that are made now, without statistics
//   counted   with plans that are made after ANALYZE
//   control   without an index that quotes need, which must be found

import { parseArgs } from "node:util";

import { pino } from "pino";

import { environments } from "../../src/kernel/caller.ts";
import { asOwner } from "../support/database.ts";
import { debianFile } from "../support/debian-program.ts";
import { oldestBinaries, startOldest } from "../support/external-postgres.ts";
import { makeTemplate, serverVariable, startTestServer } from "../support/server.ts";
import { type Service, startService } from "../support/service.ts";
import { dealADay, tryEverything, type Walked } from "./walk.ts";
import { fill, leaveUncounted } from "./fill.ts";
import { countAllowed, countRows, type Judged, judge, largeLimits, recordPlans } from "./plans.ts";
import { endOnSignals, openStack } from "../support/programme-stack.ts";

type Scope = { after(work: () => Promise<unknown>): void };

const usage = `npm run compat [-- --on oldest|embedded] [--credits N] [--all]

Starts PostgreSQL 15 (Debian's; installed by apt-get if it is missing and you are root) and the
embedded PostgreSQL, fills each with 400,000 credits and what goes with them, without statistics, and
runs every operation and worker. Fails when a statement reads a table of more than ${largeLimits.largeTable}
rows whole, or far more rows than it needs; also when something is allowed that no statement needs.
About ten minutes for each server on two busy cores.

  --on       one of the two servers
  --credits  how many credits; the rest is in proportion
  --all      print all statements, not only those with faults
`;

const creditsDefault = 400_000;

/** Nobody counts rows; nothing has to outlive the machine. */
const settings = {
  autovacuum: "off",
  shared_buffers: "512MB",
  max_connections: "100",
  max_wal_size: "4GB",
  synchronous_commit: "off",
  full_page_writes: "off",
  jit: "off",
};
/** Proving the books reads all of them, and does so by its own measure (`npm run bench -- ledger`). */
const notMeasured = ["ledger-check"];
/** Every sale looks its credit up by this one. */
const controlIndex = "credits_by_desk_scrip";

const servers: Readonly<Record<string, (t: Scope) => Promise<void>>> = {
  async oldest(t) {
    const found = await debianFile(`${oldestBinaries}/initdb`, "postgresql-15");
    if ("missing" in found) throw new Error(found.missing);
    const { connection } = await startOldest(t, settings);
    const admin = { ...connection, database: "postgres" };
    await makeTemplate(admin);
    process.env[serverVariable] = JSON.stringify([admin]);
  },
  async embedded(t) {
    const server = await startTestServer(settings);
    t.after(() => server.stop());
    process.env[serverVariable] = JSON.stringify([server.connection]);
  },
};

type Outcome = { readonly held: boolean; readonly measured: readonly Judged[] };

async function runOn(name: string, credits: number, showAll: boolean): Promise<Outcome> {
  await using stack = openStack();
  const scope: Scope = { after: (work) => stack.defer(async () => void (await work())) };
  await servers[name]?.(scope);
  sayDone(`${name}: the server runs`);
  const service = await startService(scope, {
    log: pino({ level: "error" }, { write: tellFault }),
  });
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  const walked = await walkSmall(scope, service);
  const ofDesk = Math.ceil(credits / 13);
  await asOwner(db, async (owner) => {
    const size = { worlds: 60, ofDesk, credits };
    await fill(owner, { ...size, desk: walked.deskId, firm: walked.firmId }, sayDone);
  });
  const tableRows = await asOwner(db, countRows);
  plans.take();
  const measure = async (phase: string, work: (node: Service) => Promise<unknown>) => {
    const node = await startService(scope, { beside: service, db });
    // A node opens its book before it lets anybody in: reading every offer takes its time.
    await Promise.all(environments.map(node.book.look));
    await work(node);
    const judged = judge(plans.take(), tableRows, { ...largeLimits, deskRows: ofDesk });
    report(`${name}, ${phase}`, judged, showAll);
    return judged;
  };
  const walkLarge = async (node: Service) => {
    await tryEverything(node);
    await dealADay(scope, node, notMeasured);
  };
  const measured = [...(await measure("grown", walkLarge))];
  await asOwner(db, leaveUncounted);
  measured.push(...(await measure("fresh", walkLarge)));
  await asOwner(db, (owner) => owner.query("analyze"));
  measured.push(...(await measure("counted", walkLarge)));
  await asOwner(db, (owner) => owner.query(`drop index ${controlIndex}`));
  // The walk went through with the index: a statement that runs into its time limit now, of which no
  // plan tells, is found too.
  let isCutOff = false;
  const control = await measure("control", async (node) => {
    await dealADay(scope, node, notMeasured).catch((error: Error) => {
      isCutOff = true;
      say(error.message);
    });
  });
  const isFound = isCutOff || control.some(({ faults }) => faults.length > 0);
  say(`${name}: the control ${isFound ? "was found" : "WAS NOT FOUND"}`);
  return { held: isFound && measured.every(({ faults }) => faults.length === 0), measured };
}

/** Plans are made for a small database, on connections that stay. */
async function walkSmall(scope: Scope, service: Service): Promise<Walked> {
  await tryEverything(service);
  const walked = await dealADay(scope, service);
  sayDone("walked through a small database");
  return walked;
}

function report(title: string, judged: readonly Judged[], showAll: boolean): void {
  const faulty = judged.filter(({ faults }) => faults.length > 0);
  sayDone(`${title}: ${judged.length} statements, ${faulty.length} with faults`);
  const shown = showAll ? judged : faulty;
  if (shown.length === 0) return;
  console.table(
    shown.map(({ text, runs, slowestMs, rowsRead, rowsNeeded, nodes, faults, allowedFor }) => ({
      statement: text.replaceAll(/\s+/g, " ").trim().slice(0, 60),
      runs,
      "slowest ms": Number(slowestMs.toFixed(1)),
      read: rowsRead,
      needed: rowsNeeded,
      by: nodes.slice(0, 60),
      faults: allowedFor === undefined ? faults.join("; ") : `allowed: ${allowedFor}`,
    })),
  );
  for (const { text, faults } of faulty) say(`\n-- ${faults.join("; ")}\n${text.trim()}`);
}

/** Whether every allowance is needed; with one server or fewer rows one may not be. */
function reportAllowed(measured: readonly Judged[]): boolean {
  const counts = countAllowed(measured);
  for (const [why, count] of counts) say(`allowed to ${count || "NO"} statements: ${why}`);
  return [...counts.values()].every((count) => count > 0);
}

/** A statement that takes longer than one may shows in no plan. */
function tellFault(line: string): void {
  const { msg, err } = JSON.parse(line) as { msg: string; err?: { stack?: string } };
  if (msg !== "request failed") return;
  const stack = err?.stack?.split("\n").filter((frame) => !frame.includes("platform")) ?? [];
  say(stack.slice(0, 4).join("\n"));
}

const startedMs = performance.now();

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** With the minutes since the beginning, by which the next run can be planned. */
function sayDone(what: string): void {
  say(`${((performance.now() - startedMs) / 60_000).toFixed(1)} min  ${what}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      on: { type: "string" },
      credits: { type: "string", default: String(creditsDefault) },
      all: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const chosen = values.on === undefined ? Object.keys(servers) : [values.on];
  const credits = Number(values.credits);
  const isKnown = chosen.every((name) => name in servers) && Number.isSafeInteger(credits);
  if (values.help || !isKnown) {
    say(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  say(
    `Fills PostgreSQL (${chosen.join(", then ")}) with ${credits} credits and runs every statement.`,
  );
  const outcomes: Outcome[] = [];
  for (const name of chosen) outcomes.push(await runOn(name, credits, values.all));
  const isWhole = values.on === undefined && credits >= creditsDefault;
  const areNeeded = reportAllowed(outcomes.flatMap(({ measured }) => measured));
  const held = outcomes.every((outcome) => outcome.held) && (areNeeded || !isWhole);
  sayDone(held ? "held" : "FAILED");
  if (!held) process.exitCode = 1;
}

endOnSignals();
await main();
