import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { writeToken } from "../../cli/token-file.ts";
import { backUpCluster } from "../../src/platform/postgres/backup-cluster.ts";
import { Unusable } from "../../src/platform/http/errors.ts";
import { commandLine } from "../support/cli.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { startService } from "../support/service.ts";

/** Below a file nothing can be, not even for root. */
const nowhere = "/dev/null/nowhere";

test("a file that has no place is told in one line, and nothing is done", async (t) => {
  const service = await startService(t);
  const { dataDir, run } = await commandLine(t, service, { TWO_OPERATORS_FROM_PAISE: "20000000" });
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000);
  const { firmId } = seller;
  const asha = ["--operator", "asha"];
  const month = ["--env", "live", "--period", "2026-10"];
  const out = ["--out", join(nowhere, "file")];
  for (const words of [
    ["payouts", "file", "--out", nowhere, ...asha],
    ["payouts", "file", "write", "pfl_01m7f7t7e02kcjc5aa1acnt5vz", "--out", nowhere, ...asha],
    ["statements", "show", firmId, "--period", new Date().toISOString().slice(0, 7), ...out],
    ["statements", "list", ...month, ...out],
    ["statements", "archive", ...month, ...out],
    ["registry", "confirm", "--csv", join(nowhere, "file"), ...asha],
  ]) {
    const { code, stdout, stderr } = await run(...words);
    assert.deepEqual([code, stdout], [2, ""], `${words.join(" ")}\n${stderr}`);
    assert.match(stderr, /^scripdesk: --(out|csv) [^\n]+\n$/);
  }
  const listed = await run("payouts", "file", "list", "--json");
  assert.deepEqual(JSON.parse(listed.stdout), [], "no file was made");
  const made = await run("payouts", "file", "--out", dataDir, ...asha, "--json");
  assert.equal(JSON.parse(made.stdout)[0]?.outcome, "made", "what was due still is");
});

test("a token and a backup that have no place say so", async () => {
  await assert.rejects(writeToken(join(nowhere, "token"), "secret"), Unusable);
  const backup = { connection: {}, clusterDir: "/", to: join(nowhere, "backup"), now: new Date(0) };
  await assert.rejects(backUpCluster(backup), Unusable);
});
