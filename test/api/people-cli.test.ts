import assert from "node:assert/strict";
import {
  chmod,
  chown,
  link,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { listApprovals } from "../../src/operators/list-approvals.ts";
import { computeCode, fromBase32, computeStep } from "../../src/operators/credentials.ts";
import { commandLine } from "../support/cli.ts";
import { password, settleLiveSale } from "../support/people.ts";
import { startService } from "../support/service.ts";

/** Longer than a command takes on a busy machine. */
const slowMs = 8_000;

const money = 24_400_000;

test("operators sign in on the command line, and live demands it", async (t) => {
  const service = await startService(t);
  const { dataDir } = await commandLine(t, service);
  const tokenFile = join(dataDir, "home", "token");
  const passwordFile = join(dataDir, "password");
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  const { run } = await commandLine(t, service, { SCRIPDESK_TOKEN_FILE: tokenFile });
  const ok = async (...words: string[]) => {
    const ran = await run(...words, "--json");
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout);
  };
  const refused = async (code: number, said: RegExp, ...words: string[]) => {
    const ran = await run(...words, "--json");
    assert.equal(ran.code, code, ran.stdout + ran.stderr);
    assert.match(ran.stderr, said);
  };
  const secrets = new Map<string, Buffer>();
  const used = new Map<string, number>();
  const enrol = async (name: string, codes: string) => {
    const words = ["--name", name, "--codes", codes, "--password-file", passwordFile];
    const { totp_secret, ticket } = await ok("operators", "enrol", ...words);
    const secret = fromBase32(totp_secret);
    secrets.set(name, secret);
    // The code of the step before is taken for as long as this step lasts.
    if (computeStep(new Date(Date.now() + slowMs)) > computeStep(new Date()))
      await setTimeout(slowMs);
    const step = computeStep(new Date()) - 1;
    used.set(name, step);
    const shown = ["--ticket", ticket, "--code", computeCode(secret, step)];
    const { recovery_codes } = await ok("operators", "enrol", ...words, ...shown);
    assert.equal(recovery_codes.length, 10);
  };
  /** Commands go by the machine's clock: the steps of a minute are three codes. */
  const signInAs = async (name: string) => {
    const step = Math.max(computeStep(new Date()) - 1, (used.get(name) ?? 0) + 1);
    used.set(name, step);
    const code = computeCode(secrets.get(name) ?? Buffer.alloc(0), step);
    const words = ["--name", name, "--password-file", passwordFile, "--code", code];
    return await ok("sign-in", ...words);
  };
  const sale = await settleLiveSale(service, money);
  const reversing = ["settlements", "reverse", sale.settlementId, "--reason", "forged"];

  await t.test("before the first person, commands work by --operator", async () => {
    const sold = await settleLiveSale(service, money);
    const words = ["settlements", "reverse", sold.settlementId, "--reason", "forged"];
    assert.equal((await ok(...words, "--operator", "asha"))[0].outcome, "proposed");
    assert.equal((await ok(...words, "--operator", "Asha"))[0].outcome, "proposed", "one person");
    assert.equal((await ok(...words, "--operator", "ravi"))[0].outcome, "reversed");
  });

  await t.test(
    "the first operator is added on the machine, and live then demands signing in",
    async () => {
      await ok("payouts", "list", "--env", "live");
      const { code } = await ok("operators", "add", "--name", "Asha Rao", "--role", "admin");
      await enrol("Asha Rao", code);
      await refused(1, /not signed in/, "payouts", "list", "--env", "live");
      await refused(1, /not signed in/, ...reversing, "--operator", "ravi");
      await ok("payouts", "list", "--env", "sandbox");
      const sandbox = ["--env", "sandbox", "--firm", "Any", "--scopes", "*"];
      await ok("keys", "issue", ...sandbox);
    },
  );

  await t.test("a token's file is readable by its owner only", async () => {
    const signed = await signInAs("Asha Rao");
    assert.deepEqual([signed.name, signed.role], ["Asha Rao", "admin"]);
    assert.equal("token" in signed, false);
    assert.equal((await stat(tokenFile)).mode & 0o777, 0o600);
    assert.equal((await stat(join(dataDir, "home"))).mode & 0o777, 0o700);
    const list = ["payouts", "list", "--env", "live"];
    await ok(...list);
    for (const mode of [0o640, 0o604, 0o660, 0o666]) {
      await chmod(tokenFile, mode);
      await refused(1, /wider than 600/, ...list);
    }
    await chmod(tokenFile, 0o600);
    if (process.getuid?.() === 0) {
      await chown(tokenFile, 12_345, 12_345);
      await refused(1, /is not yours/, ...list);
      await chown(tokenFile, 0, 0);
    }
    await link(tokenFile, `${tokenFile}.twin`);
    await refused(1, /no plain file/, ...list);
    await rm(`${tokenFile}.twin`);
    await rename(tokenFile, `${tokenFile}.kept`);
    await symlink(`${tokenFile}.kept`, tokenFile);
    await refused(1, /cannot be read/, ...list);
    await rm(tokenFile);
    await rename(`${tokenFile}.kept`, tokenFile);
    await chmod(passwordFile, 0o644);
    const again = ["--name", "Asha Rao", "--password-file", passwordFile, "--code", "123456"];
    await refused(1, /wider than 600/, "sign-in", ...again);
    await chmod(passwordFile, 0o600);
    await ok(...list);
    await refused(2, /signed in as Asha Rao/, ...reversing, "--operator", "ravi");
  });

  await t.test("one person proposes, another approves, each by signing in", async () => {
    assert.equal((await ok(...reversing))[0].outcome, "proposed");
    assert.equal((await ok(...reversing))[0].outcome, "proposed");
    const [waiting] = await ok("approvals", "list");
    assert.equal(waiting.proposed_by, "Asha Rao");
    await refused(1, /somebody else/, "approvals", "approve", waiting.approval_id);
    const { code } = await ok("operators", "add", "--name", "ravi", "--role", "settlement");
    await enrol("ravi", code);
    await ok("sign-out");
    await refused(1, /not signed in/, "approvals", "list");
    await signInAs("ravi");
    const shown = await ok("approvals", "show", waiting.approval_id);
    assert.match(shown.summary, /credits go back/);
    const done = await ok("approvals", "approve", waiting.approval_id);
    assert.deepEqual([done.status, done.decided_by], ["approved", "ravi"]);
    assert.equal((await ok("settlements", "show", sale.settlementId)).status, "reversed");
    await refused(1, /role/, "operators", "add", "--name", "mira", "--role", "admin");
    await refused(1, /role/, "rates", "publish", "--env", "live", "--scheme", "RODTEP");
  });

  await t.test("a revoked or forged token is refused", async () => {
    const token = await readFile(tokenFile, "utf8");
    await ok("sign-out");
    await writeFile(tokenFile, token, { mode: 0o600 });
    await refused(1, /sign in first/, "payouts", "list", "--env", "live");
    await writeFile(tokenFile, `operator_${"A".repeat(43)}\n`, { mode: 0o600 });
    await refused(1, /sign in first/, "payouts", "list", "--env", "live");
    assert.equal((await listApprovals(service.ctx, { ...open, state: "approved" })).length, 2);
  });
});

const open = { environment: null, kind: null, state: "proposed", limit: 100 } as const;

/** Which commands open the database without asking who runs them, and how often each file does. */
const openToTheMachine: Readonly<Record<string, number>> = {
  // Proofs and the public key: they change nothing and are run by the clock.
  "proofs.ts": 4,
  // The machine's own: schema, settings, and the seals of everything.
  "doctor.ts": 1,
  "migrate.ts": 1,
  // A restored folder proves its books and its trail, before it is anybody's service.
  "backup.ts": 1,
  // How one becomes somebody, or is let in again where nobody is left.
  "people.ts": 4,
  // The sandbox's alone.
  "seed.ts": 1,
};

test("every other command demands an operator", async () => {
  const folder = join(import.meta.dirname, "../../cli");
  const found: Record<string, number> = {};
  for (const name of await readdir(folder)) {
    if (name === "command.ts" || name === "operators.ts") continue;
    const text = await readFile(join(folder, name), "utf8");
    const uses = text.match(/withContext\(/g)?.length ?? 0;
    const opens = text.match(/openContext\(/g)?.length ?? 0;
    if (uses + opens > 0) found[name] = uses + opens;
  }
  assert.deepEqual(found, openToTheMachine);
});
