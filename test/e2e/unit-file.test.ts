// The unit file is one that systemd takes, and leaves the service little of the machine.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { debianProgram } from "../support/debian-program.ts";
import { scratchFolder } from "../support/scratch.ts";
import { deployFolder } from "../support/watching.ts";

const execute = promisify(execFile);
const name = "scripdesk.service";

/** Of ten; systemd calls less than 4.0 not exposed. */
const exposureMax = 4;

test("systemd takes the unit file, and calls what it leaves open little", async (t) => {
  const systemd = await debianProgram("systemd-analyze", "systemd");
  if ("missing" in systemd) {
    t.skip(systemd.missing);
    return;
  }
  const folder = await scratchFolder("scripdesk-unit-");
  t.after(() => rm(folder, { recursive: true, force: true }));
  const expose = async (file: string) => {
    const words = ["security", "--offline=yes", "--no-pager", file];
    const { stdout, stderr } = await execute(systemd.path, words, { cwd: folder });
    assert.doesNotMatch(stderr, /Unknown|Failed to parse|ignoring/i);
    const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    assert.ok(level, stdout);
    t.diagnostic(`${file}: ${level}`);
    return Number(level);
  };
  await copyFile(join(deployFolder, name), join(folder, name));
  assert.ok((await expose(`./${name}`)) < exposureMax);

  const text = await readFile(join(deployFolder, name), "utf8");
  const open = text.replaceAll(/^(?:Protect|Private|Restrict|System|Capability).*\n/gm, "");
  await writeFile(join(folder, "open.service"), open);
  assert.ok((await expose("./open.service")) > exposureMax, "without its sandbox it is exposed");
});
