// Prometheus' own promtool reads the rules and the dashboard's expressions, and the alerts that rest on
// the age of something fire when it is old, and not before.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";

import { debianProgram } from "../support/debian-program.ts";
import { scratchFolder } from "../support/scratch.ts";
import { deployFolder, listPanelExpressions } from "../support/watching.ts";

const execute = promisify(execFile);

async function openPromtool(t: TestContext) {
  const promtool = await debianProgram("promtool", "prometheus");
  if ("missing" in promtool) {
    t.skip(promtool.missing);
    return undefined;
  }
  const folder = await scratchFolder("scripdesk-rules-");
  t.after(() => rm(folder, { recursive: true, force: true }));
  await copyFile(join(deployFolder, "alerts.yml"), join(folder, "alerts.yml"));
  return {
    folder,
    run: async (...words: string[]) => await execute(promtool.path, words, { cwd: folder }),
  };
}

test("promtool takes the rules, and every expression of the dashboard", async (t) => {
  const promtool = await openPromtool(t);
  if (!promtool) return;
  const { stdout } = await promtool.run(
    "check",
    "rules",
    "--lint=all",
    "--lint-fatal",
    "alerts.yml",
  );
  assert.match(stdout, /SUCCESS: \d+ rules found/);
  const rules = (await listPanelExpressions()).map((expr, place) => ({
    record: `panel:${place}`,
    expr,
  }));
  const check = async (name: string, of: readonly object[]) => {
    // JSON is YAML.
    const groups = { groups: [{ name, rules: of }] };
    await writeFile(join(promtool.folder, name), JSON.stringify(groups));
    return await promtool.run("check", "rules", name);
  };
  await check("panels.json", rules);
  await assert.rejects(check("broken.json", [{ record: "panel:0", expr: "sum(rate(x[5m])" }]));
});

const hourS = 3_600;

/** A series that has one value all the time; when its alert is quiet and when it fires, in minutes. */
const cases = [
  {
    alert: "ScripdeskWorkerStuck",
    series: `scripdesk_worker_last_success_timestamp_seconds{worker="payouts"}`,
    value: 0,
    quiet: 30,
    firing: 40,
  },
  {
    alert: "ScripdeskWorkerFailing",
    series: `scripdesk_worker_failing{worker="payouts"}`,
    value: 1,
    quiet: 10,
    firing: 20,
  },
  {
    alert: "ScripdeskBackupOld",
    series: "scripdesk_backup_timestamp_seconds",
    value: hourS - 36 * hourS,
    quiet: 60,
    firing: 100,
  },
  {
    alert: "ScripdeskStatementOld",
    series: `scripdesk_bank_statement_timestamp_seconds{environment="live"}`,
    value: hourS - 4 * 24 * hourS,
    quiet: 60,
    firing: 130,
  },
  { alert: "ScripdeskNoWorkers", series: "of_another_program", value: 1, quiet: 4, firing: 6 },
];

test("what is old or fails alerts in time, and what is fresh does not", async (t) => {
  const promtool = await openPromtool(t);
  if (!promtool) return;
  const tests = cases.map(({ alert, series, value, quiet, firing }) => {
    const expr = `count(ALERTS{alertname="${alert}", alertstate="firing"})`;
    return {
      interval: "1m",
      input_series: [{ series, values: `${value}x200` }],
      promql_expr_test: [
        { expr, eval_time: `${quiet}m`, exp_samples: [] },
        { expr, eval_time: `${firing}m`, exp_samples: [{ labels: "{}", value: 1 }] },
      ],
    };
  });
  const told = { rule_files: ["alerts.yml"], evaluation_interval: "1m", tests };
  await writeFile(join(promtool.folder, "tests.json"), JSON.stringify(told));
  const { stdout } = await promtool.run("test", "rules", "tests.json");
  assert.match(stdout, /SUCCESS/);
});
