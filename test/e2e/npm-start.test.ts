import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";

import { dataDirectory } from "../support/process.ts";

const root = join(import.meta.dirname, "../..");

test(
  "SIGTERM to `npm start` stops the service and not only npm",
  { timeout: 120_000 },
  async (t) => {
    const dataDir = await dataDirectory(t, { isMigrated: true });
    const npm = spawn("npm", ["start"], {
      cwd: root,
      detached: true,
      env: { ...process.env, DATA_DIR: dataDir, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "off" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    // The group outlives npm only where the guarantee is broken.
    t.after(() => npm.pid && endGroup(npm.pid));

    let said = "";
    npm.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    while (!said.includes("API reference")) await once(npm.stdout, "data");
    npm.kill("SIGTERM");
    await once(npm, "close"); // The output closes when everyone who could write to it has ended.

    assert.match(said, /"signal":"SIGTERM","msg":"stopping"/);
  },
);

function endGroup(id: number): void {
  try {
    process.kill(-id, "SIGTERM");
  } catch {
    // Nobody is left in it.
  }
}
