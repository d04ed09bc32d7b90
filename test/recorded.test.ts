// What people and programs see of the commands changes only where somebody meant it to.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const program = join(import.meta.dirname, "support/record-commands.ts");
const recorded = join(import.meta.dirname, "recorded");

test("every command prints what is recorded of it; `npm run golden` records it anew", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-recorded-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // Its own test context is no part of what it prints.
  await promisify(execFile)(process.execPath, [program, folder], { env });
  assert.deepEqual((await readdir(recorded)).toSorted(), (await readdir(folder)).toSorted());
  for (const name of await readdir(recorded)) {
    const [found, expected] = await Promise.all(
      [folder, recorded].map((place) => readFile(join(place, name), "utf8")),
    );
    // Line by line, because a difference of two long texts is not shown.
    assert.deepEqual(found?.split("\n"), expected?.split("\n"), `test/recorded/${name}`);
  }
});
