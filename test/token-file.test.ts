import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { readSecretFile, readToken, writeToken } from "../cli/token-file.ts";

const token = `operator_${"A".repeat(43)}`;

async function keepToken(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-token-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "token");
  await writeToken(path, token);
  return path;
}

test("a token's file is written with mode 600 and read by its owner", async (t) => {
  const path = await keepToken(t);
  assert.equal((await stat(path)).mode & 0o7777, 0o600);
  assert.equal(await readToken(path), token);
  await chmod(path, 0o400);
  assert.equal(await readToken(path), token);
});

test("a file of any mode wider than 600 is refused", async (t) => {
  const path = await keepToken(t);
  let refused = 0;
  for (let bit = 1; bit <= 0o4000; bit *= 2) {
    if ((bit & 0o600) !== 0) continue;
    await chmod(path, 0o600 | bit);
    // A system may take a bit back, as it does with the sticky one.
    if (((await stat(path)).mode & bit) === 0) continue;
    for (const read of [readToken, readSecretFile]) {
      await assert.rejects(read(path), /wider than 600/, (0o600 | bit).toString(8));
    }
    refused += 1;
  }
  assert.ok(refused >= 7, `${refused} bits`);
});

test("a file of another owner is refused, whatever its mode", async (t) => {
  const path = await keepToken(t);
  const { uid } = await stat(path);
  for (const read of [readToken, readSecretFile]) {
    assert.equal(await read(path, uid), token);
    await assert.rejects(read(path, uid + 1), /is not yours/);
  }
  await writeFile(path, "x".repeat(3_000), { mode: 0o600 });
  await assert.rejects(readToken(path), /too long/);
});
