// What monitoring looks at: the alert rules, the dashboard and the documents name metrics that there are,
// and the figures that they rest on say what happened.

import assert from "node:assert/strict";
import { glob, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { measureService } from "../src/measure-service.ts";
import { openThreads } from "../src/open-context.ts";
import { measureHeavy } from "../src/platform/heavy/pool.ts";
import { measureBackup, noteBackup } from "../src/platform/last-backup.ts";
import { createMetrics, measureRuns } from "../src/platform/metrics.ts";
import { asOwner } from "./support/database.ts";
import { startOps } from "./support/ops.ts";
import { type Dashboard, listExpressions, readDashboard } from "./support/watching.ts";
import { scratchFolder } from "./support/scratch.ts";
import { startService } from "./support/service.ts";

const root = join(import.meta.dirname, "..");
const suffix = /_(count|sum|bucket)$/;

/** What a process that runs everything shows, by name, and the labels that it has them by. */
async function listMetrics(t: TestContext) {
  const service = await startService(t);
  const { metrics } = service;
  measureService(service.ctx, metrics);
  const pool = openThreads(1);
  t.after(() => pool.close());
  measureHeavy(pool, metrics);
  measureBackup("/", metrics);
  measureRuns(metrics, "worker", service.clock.now)("done");
  const { send: ops } = await startOps(t, service);
  await service.send("GET", "/v1/whoami", { expect: 401 });
  const { text } = await ops("GET", "/metrics", { expect: 200 });
  const labels = new Map<string, Set<string>>();
  for (const [, name = ""] of text.matchAll(/^# TYPE (\w+) \w+$/gm)) labels.set(name, new Set());
  const declared = metrics.registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string;
    readonly labelNames?: readonly string[];
  }[];
  for (const { name, labelNames = [] } of declared) {
    for (const label of labelNames) labels.get(name)?.add(label);
  }
  for (const [, name = "", shown = ""] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    for (const [, label = ""] of shown.matchAll(/(\w+)="/g)) {
      labels.get(name.replace(suffix, ""))?.add(label);
    }
  }
  return labels;
}

test("rules, dashboard and documents name metrics and labels that there are, and the documents every one", async (t) => {
  const metrics = await listMetrics(t);
  const expressions = await listExpressions();
  assert.ok(expressions.length > 40);
  for (const expression of expressions) {
    const named = [...expression.matchAll(/\b((?:scripdesk|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)];
    assert.ok(named.length > 0, expression);
    for (const [, name = "", selector = ""] of named) {
      const labels = metrics.get(name.replace(suffix, ""));
      assert.ok(labels, `${name} is no metric`);
      for (const [, label = ""] of selector.matchAll(/(\w+)!?=/g)) {
        assert.ok(labels.has(label), `${name} has no label ${label}`);
      }
    }
    for (const [, by = ""] of expression.matchAll(/\bby \(([^)]*)\)/g)) {
      for (const label of by.split(", ").filter((one) => one !== "le")) {
        assert.ok(
          named.some(([, name = ""]) => metrics.get(name.replace(suffix, ""))?.has(label)),
          `${expression}: nothing has the label ${label}`,
        );
      }
    }
  }

  /** Names of ours that are no metrics. */
  const others = new Set(["scripdesk_app", "scripdesk_client"]);
  const told = new Set<string>();
  for await (const path of glob("docs/**/*.md", { cwd: root, exclude: ["docs/decisions/**"] })) {
    const text = await readFile(join(root, path), "utf8");
    for (const [name] of text.matchAll(/\bscripdesk_\w+/g)) {
      if (others.has(name)) continue;
      told.add(name.replace(suffix, ""));
      assert.ok(metrics.has(name.replace(suffix, "")), `${path}: ${name} is no metric`);
    }
  }
  const own = [...metrics.keys()].filter((name) => name.startsWith("scripdesk_"));
  assert.deepEqual(
    own.filter((name) => !told.has(name)),
    [],
    "metrics that no document tells of",
  );
});

test("every alert says how urgent it is and what it means", async () => {
  const rules = await readFile(join(root, "deploy/alerts.yml"), "utf8");
  const alerts = [...rules.matchAll(/- alert: (\w+)\n((?: {8}.*\n)+)/g)];
  assert.ok(alerts.length > 20);
  for (const [, name, body = ""] of alerts) {
    assert.match(body, /severity: (page|ticket)/, name);
    assert.match(body, /summary: "[^"]+"/, name);
  }
});

test("the dashboard has panels that are told apart and do not overlap", async () => {
  const { panels }: Dashboard = await readDashboard();
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Set<string>();
  for (const { title, description, type, gridPos } of panels) {
    assert.ok(type === "row" || description, `${title} says what it shows`);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      assert.ok(x < 24, title);
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.equal(taken.has(`${x} ${y}`), false, title);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

test("a worker shows since when it does its work, and that it fails until it does again", async (t) => {
  const { ctx, clock } = await startService(t);
  const metrics = createMetrics(ctx.db);
  const read = async (name: string) => {
    const text = await metrics.registry.getSingleMetricAsString(`scripdesk_worker_${name}`);
    return Number(/\{worker="payouts"\} (\S+)$/m.exec(text)?.[1]);
  };
  const seconds = () => clock.now().getTime() / 1_000;
  const startedAt = seconds();
  const end = measureRuns(metrics, "payouts", clock.now);
  clock.advance({ seconds: 60 });
  end("failed");
  assert.equal(await read("last_success_timestamp_seconds"), startedAt);
  assert.deepEqual([await read("failing"), await read("failures_total")], [1, 1]);
  clock.advance({ seconds: 60 });
  end("done");
  assert.equal(await read("last_success_timestamp_seconds"), startedAt + 120);
  assert.deepEqual([await read("failing"), await read("failures_total")], [0, 1]);
});

test("the age of the backup is that of the newest that was noted, and none is noted ahead", async (t) => {
  const { ctx, clock } = await startService(t);
  const metrics = createMetrics(ctx.db);
  const dataDir = await scratchFolder("scripdesk-backups-");
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  measureBackup(dataDir, metrics);
  const shown = async () =>
    /^scripdesk_backup_timestamp_seconds (\S+)$/m.exec(await metrics.registry.metrics())?.[1];
  assert.equal(await shown(), "0", "no backup is as old as can be");
  const at = clock.now();
  const before = new Date(at.getTime() - 3_600_000);
  for (const made of [at, before]) await noteBackup(dataDir, made, at);
  assert.equal(Number(await shown()), at.getTime() / 1_000);
  await assert.rejects(noteBackup(dataDir, new Date(at.getTime() + 1_000), at), /future/);
  assert.equal(Number(await shown()), at.getTime() / 1_000);
});

test("an environment shows up to when its statements reach, once there is one", async (t) => {
  const { ctx, metrics } = await startService(t);
  measureService(ctx, metrics);
  const shown = async () =>
    [
      ...(await metrics.registry.metrics()).matchAll(
        /^scripdesk_bank_statement_timestamp_seconds\{(.*)\} (\S+)$/gm,
      ),
    ].map(([, labels, value]) => [labels, Number(value)]);
  assert.deepEqual(await shown(), []);
  const reached = new Date("2026-11-14T12:00:00+05:30");
  await asOwner(ctx.db, async (owner) => {
    await owner.query(
      `insert into bank_statements (
         statement_id, environment, sha256, format, line_count, first_day, last_day, state,
         received_by, received_at, applied_by, applied_at, reached_at
       )
       select 'bst_' || lpad(n::text, 26, '0'), 'live', sha256(n::text::bytea), 'csv', 1,
         '2026-11-14', '2026-11-14', case n when 3 then 'received' else 'applied' end, 'cli', $1,
         case n when 3 then null else 'cli' end, case n when 3 then null else $1::timestamptz end,
         $1::timestamptz + (n - 2) * interval '1 hour'
       from generate_series(1, 3) as n`,
      [reached],
    );
  });
  assert.deepEqual(
    await shown(),
    [['environment="live"', reached.getTime() / 1_000]],
    "one that was not applied does not count",
  );
});
