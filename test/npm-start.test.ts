import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

test(
  "SIGTERM to `npm start` stops the service and not only npm",
  { timeout: 120_000 },
  async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), "scripdesk-npm-start-"));
    const npm = spawn("npm", ["start"], {
      cwd: root,
      detached: true,
      env: { ...process.env, DATA_DIR: dataDir, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "off" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    t.after(async () => {
      // The group outlives npm only where the guarantee is broken.
      if (npm.pid) endGroup(npm.pid);
      await rm(dataDir, { recursive: true, force: true });
    });

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
