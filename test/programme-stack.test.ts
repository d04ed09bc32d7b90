// A long programme that a signal ends leaves nothing behind: no process, no folder.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const stacks = pathToFileURL(join(import.meta.dirname, "support/programme-stack.ts")).href;

/** Starts a child that needs a moment to end, and fails as soon as the child has ended. */
const programme = `
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { endChild, endOnSignals, openStack } from ${JSON.stringify(stacks)};
if (process.argv[2] === "handled") endOnSignals();
await using stack = openStack();
stack.defer(() => rm(process.argv[1], { recursive: true }));
const wait = "setInterval(() => {}, 60_000); process.on('SIGTERM', () => setTimeout(() => process.exit(), 100)); console.log('up')";
const child = spawn(process.execPath, ["-e", wait]);
stack.defer(() => endChild(child));
await once(child.stdout, "data");
console.log(child.pid);
await once(child, "exit");
throw new Error("what was started has ended");
`;

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  for (const handled of [true, false]) {
    const name = handled
      ? `${signal} ends what a programme started, and then the programme`
      : `control: without the handler a child outlives its programme after ${signal}`;
    test(name, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "scripdesk-programme-"));
      t.after(() => rm(folder, { recursive: true, force: true }));
      const words = ["--input-type=module", "-e", programme, folder, handled ? "handled" : ""];
      const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
      const exited = once(child, "exit");
      t.after(() => void child.kill("SIGKILL"));
      const [line] = (await once(createInterface(child.stdout), "line")) as [string];
      const started = `/proc/${line}`;
      t.after(async () => {
        if (await isThere(started)) process.kill(Number(line), "SIGKILL");
      });

      child.kill(signal);
      const [code, killedBy] = (await exited) as [number | null, string | null];
      assert.equal(await isThere(started), !handled);
      assert.equal(await isThere(folder), !handled);
      if (handled) assert.equal(code, signal === "SIGTERM" ? 143 : 130);
      else assert.equal(killedBy, signal);
    });
  }
}
