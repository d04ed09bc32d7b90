import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { chooseUser } from "./run-as.ts";

const run = promisify(execFile);
const isRoot = process.platform === "linux" && process.getuid?.() === 0;

test(
  "as root, programs run as another user, also from a folder that user cannot read",
  {
    skip: isRoot ? false : "only root has to become another user",
  },
  async (t) => {
    const closed = await mkdtemp(join(tmpdir(), "scripdesk-closed-"));
    t.after(() => rm(closed, { recursive: true, force: true }));
    await chmod(closed, 0o700);
    await mkdir(join(closed, "bin"));
    const program = join(closed, "bin/program");
    await writeFile(program, "#!/bin/sh\n", { mode: 0o755 });

    const { uid, wrapper } = await chooseUser(join(closed, "postgres"), program);
    assert.notEqual(uid, 0);
    const [command = "", ...args] = wrapper;
    const whoAmI = await run(command, [...args, "id", "-u"]);
    assert.equal(Number(whoAmI.stdout), uid);
    // `find -executable` asks by access(2), as PostgreSQL does for its own programs.
    const found = await run(command, [...args, "find", program, "-executable"]);
    assert.equal(found.stdout.trim(), program);
    const withoutLoan = args.filter(
      (flag) => !flag.includes("caps") && !flag.includes("securebits"),
    );
    await assert.rejects(run(command, [...withoutLoan, "find", program, "-executable"]));
  },
);
