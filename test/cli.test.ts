import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";

import { layTable, listCells } from "../cli/print.ts";
import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { readMigrations } from "../src/platform/postgres/migrate.ts";
import { commands, dataDirectory, type Ended, postgresPid, scripdesk } from "./support/process.ts";

// Hooks run in the order they were made: the server is left, then its directory is removed.
after(() => held.leave());
const DATA_DIR = await dataDirectory({ after });
// Holding the server saves every command its start and stop.
const held = await openEmbedded({ dataDir: DATA_DIR, as: "visitor", create: true });

const run = commands({ after }, { DATA_DIR });

/** The JSON of a command that succeeds. */
// oxlint-disable-next-line typescript/no-explicit-any
async function json(...words: string[]): Promise<any> {
  const { code, stdout, stderr } = await run(...words, "--json");
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  assert.match(stdout, /^[^\n]+\n$/, "one line");
  return JSON.parse(stdout);
}

/** One line for the operator, and nothing where programs read. */
function assertOneLine({ code, stdout, stderr }: Ended, expected: number, line: RegExp): void {
  assert.equal(code, expected, `${stdout}${stderr}`);
  assert.equal(stdout, "");
  assert.match(stderr, /^scripdesk: [^\n]+\n$/);
  assert.match(stderr, line);
}

const issueAcme = ["keys", "issue", "--firm", "Acme Exports", "--env", "sandbox"];

test("the first command creates the database, and migrating again does nothing", async () => {
  const files = (await readMigrations()).map(({ file }) => file);
  assert.deepEqual(await json("migrate"), { applied: files, role: "scripdesk_app" });
  assert.deepEqual(await json("migrate"), { applied: [], role: "scripdesk_app" });
});

test("keys issue prints the key, its id and its firm, and the same name is the same desk", async () => {
  const words = [...issueAcme, "--scopes", "*", "--plan", "growth", "--buy"];
  const first = await json(...words);
  assert.deepEqual(Object.keys(first), ["api_key", "key_id", "firm_id"]);
  assert.match(first.api_key, /^service_test_[0-9A-Za-z]{64}$/);
  assert.match(first.key_id, /^key_[0-9a-z]{26}$/);
  assert.match(first.firm_id, /^frm_[0-9a-z]{26}$/);
  const second = await json(...words);
  assert.equal(second.firm_id, first.firm_id);
  assert.notEqual(second.key_id, first.key_id);
  const live = await json("keys", "issue", "--firm", "Acme Exports", "--env", "live");
  assert.match(live.api_key, /^service_live_/);
  assert.notEqual(live.firm_id, first.firm_id);
});

test("keys issue takes a desk by its id, and no id for a name", async () => {
  const first = await json(...issueAcme);
  const again = await json("keys", "issue", "--desk", first.firm_id, "--env", "sandbox");
  assert.equal(again.firm_id, first.firm_id);
  const asName = await run("keys", "issue", "--firm", first.firm_id, "--env", "sandbox");
  assertOneLine(asName, 2, new RegExp(`--desk ${first.firm_id}`));
  const both = ["--firm", "Acme Exports", "--desk", first.firm_id];
  assertOneLine(
    await run("keys", "issue", "--env", "sandbox", ...both),
    2,
    /--firm NAME, or --desk/,
  );
  const elsewhere = await run("keys", "issue", "--desk", first.firm_id, "--env", "live");
  assertOneLine(elsewhere, 1, /no live desk/);
});

test("a plan that there is not is refused in live and in the sandbox", async () => {
  for (const env of ["live", "sandbox"]) {
    const issued = await run(
      "keys",
      "issue",
      "--firm",
      "Acme Exports",
      "--env",
      env,
      "--plan",
      "no",
    );
    assertOneLine(issued, 1, /there is no plan no/);
  }
});

test("help is by group or by noun, mistakes are met with what was meant, and there is a version", async () => {
  const help = await run("--help");
  assert.match(help.stdout, /\nMoney\n {2}payouts list/);
  const ofNoun = await run("payouts", "--help");
  assert.match(ofNoun.stdout, /^ {2}payouts list/);
  assert.equal(ofNoun.stdout.includes("settlements"), false);
  const mistyped = await run("ordres", "lsit");
  assert.equal(mistyped.code, 2);
  assert.match(mistyped.stdout, /did you mean "orders list"\?/);
  assertOneLine(await run("keys", "list", "--evn", "live"), 2, /did you mean --env\?/);
  const version = await run("--version");
  assert.deepEqual([version.code, /^scripdesk \d+\.\d+\.\d+\n$/.test(version.stdout)], [0, true]);
});

test("listen names the address that it cannot reach, by PORT or --base-url", async () => {
  const key = ["--key", "service_test_x", "--forward", "http://127.0.0.1:9"];
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  taken.close();
  const child = spawn(process.execPath, ["cli/main.ts", "listen", ...key], {
    cwd: join(import.meta.dirname, ".."),
    env: { ...process.env, PORT: String(port) },
  });
  try {
    const [line] = await once(child.stderr, "data");
    const expected = `scripdesk: http://127.0.0.1:${port} cannot be reached (ECONNREFUSED)`;
    assert.ok(String(line).startsWith(expected), String(line));
  } finally {
    child.kill("SIGKILL");
  }
});

test("keys list shows every desk's keys and no secret", async () => {
  const scopes = "quote, orders:read";
  const issued = await json(...issueAcme, "--scopes", scopes, "--name", "reports");
  const keys = await json("keys", "list", "--env", "sandbox");
  const { created_at, ...key } = keys.find(
    ({ key_id }: { key_id: string }) => key_id === issued.key_id,
  );
  assert.deepEqual(key, {
    key_id: issued.key_id,
    firm: "Acme Exports",
    env: "sandbox",
    kind: "root",
    name: "reports",
    plan: "sandbox",
    scopes: ["quote", "orders:read"],
    status: "active",
  });
  assert.match(created_at, /\+05:30$/);
  assert.ok(keys.every(({ env }: { env: string }) => env === "sandbox"));
  const table = await run("keys", "list");
  assert.equal(table.code, 0);
  assert.match(table.stdout, /^key_id +firm +env +kind +name +plan +scopes +status +created_at\n/);
  assert.match(table.stdout, /service|live/);
  assert.equal(table.stdout.includes(issued.api_key.slice(-38)), false);
});

test("keys revoke revokes a key; an unknown id is refused", async () => {
  const { key_id } = await json(...issueAcme);
  const revoked = await json("keys", "revoke", key_id);
  assert.deepEqual(Object.keys(revoked), ["key_id", "status", "revoked_at"]);
  assert.deepEqual([revoked.key_id, revoked.status], [key_id, "revoked"]);
  assert.deepEqual(await json("keys", "revoke", key_id), revoked);
  assertOneLine(await run("keys", "revoke", "key_nothing"), 1, /no key/);
});

test("plans are listed and set", async () => {
  const plans = await json("plans", "list");
  const byName = new Map(plans.map((plan: { name: string }) => [plan.name, plan]));
  const expected = [
    ["starter", 60, 50_000, true, 5, 1_000_000_000, 10],
    ["growth", 300, 500_000, true, 25, 5_000_000_000, 10],
    ["scale", 1_200, 5_000_000, true, 100, 25_000_000_000, 10],
    ["desk", 60_000, 100_000_000, true, 1_000, 100_000_000_000, 10],
    ["sandbox", 6_000, null, false, 1_000, 1_000_000_000_000, 0],
  ] as const;
  for (const plan of expected) {
    const [name, per_minute, monthly_quota, enforced, child_keys_max, unfunded, days] = plan;
    assert.deepEqual(byName.get(name), {
      name,
      per_minute,
      monthly_quota,
      enforced,
      child_keys_max,
      unfunded_max_paise: unfunded,
      unfunded_desk_max_paise: 2 * unfunded,
      unpaid_days: days,
    });
  }
  const tiny = {
    name: "tiny",
    per_minute: 5,
    monthly_quota: 100,
    enforced: true,
    child_keys_max: 7,
    unfunded_max_paise: 9_000,
    unfunded_desk_max_paise: 12_000,
    unpaid_days: 3,
  };
  const words = ["plans", "set", "--name", "tiny", "--per-minute", "5", "--monthly", "100"];
  const unfunded = ["--unfunded-max-paise", "9000", "--unfunded-desk-max-paise", "12000"];
  const more = ["--child-keys", "7", ...unfunded, "--unpaid-days", "3"];
  assert.deepEqual(await json(...words, ...more), tiny);
  assert.deepEqual(await json(...words), tiny);
  assert.ok(
    (await json("plans", "list")).some((plan: object) => {
      return JSON.stringify(plan) === JSON.stringify(tiny);
    }),
  );
  const live = ["keys", "issue", "--firm", "Tiny", "--env", "live", "--plan", "tiny"];
  assert.match((await json(...live)).api_key, /^service_live_/);
});

test("doctor finds the embedded database in order", async () => {
  const findings = await json("doctor");
  assert.deepEqual(
    findings.filter(({ ok }: { ok: boolean }) => !ok),
    [],
  );
  const checks = findings.map(({ check }: { check: string }) => check);
  for (const check of ["node", "postgres fsync", "postgres data_checksums", "clock", "redis"]) {
    assert.ok(checks.includes(check), `${check} is checked`);
  }
});

test("doctor exits with 1 when something is not in order", async () => {
  const { code, stdout } = await scripdesk(["doctor", "--json"], { DATA_DIR, HOST: "0.0.0.0" });
  assert.equal(code, 1);
  const findings: { check: string; ok: boolean; advice: string }[] = JSON.parse(stdout);
  const [wrong, ...others] = findings.filter(({ ok }) => !ok);
  assert.deepEqual(others, []);
  assert.equal(wrong?.check, "transport");
  assert.match(wrong?.advice ?? "", /TLS_CERT/);
});

test("help is printed for the program and for every command", async () => {
  const overview = await run("--help");
  assert.equal(overview.code, 0);
  assert.equal((await run()).stdout, overview.stdout);
  assert.equal((await run("help")).stdout, overview.stdout);
  const commands = ["serve", "migrate", "keys issue", "keys list", "keys revoke"];
  const explained = [...commands, "plans list", "plans set", "doctor"].map(async (command) => {
    assert.match(overview.stdout, new RegExp(`^ +${command} `, "m"));
    const help = await run(...command.split(" "), "--help");
    assert.equal(help.code, 0);
    assert.equal(help.stderr, "");
    assert.ok(help.stdout.startsWith(`usage: npx scripdesk ${command}`), help.stdout);
  });
  await Promise.all(explained);
});

test("a closed pipe ends a command without an error message", async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../cli/main.ts"), "help"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let told = "";
  child.stderr.on("data", (part: Buffer) => (told += part.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  assert.deepEqual([code, told], [0, ""]);
});

test("a wrong command line exits with 2 and says what is wrong", async () => {
  const unknown = await scripdesk(["keys", "mint"], { DATA_DIR });
  assert.equal(unknown.code, 2);
  assert.match(unknown.stdout, /no command "keys mint"/);
  const cases: readonly [string[], RegExp][] = [
    [["keys", "issue", "--env", "sandbox"], /give --firm NAME, or --desk ID/],
    [["keys", "issue", "--firm", "x", "--env", "test"], /--env must be live or sandbox/],
    [[...issueAcme, "--colour", "red"], /--colour/],
    [["keys", "revoke"], /KEY_ID/],
    [["plans", "set", "--name", "x", "--per-minute", "0", "--monthly", "1"], /--per-minute/],
    [["plans", "set", "--name", "x", "--per-minute", "1", "--monthly", "1.5"], /--monthly/],
    [["migrate", "now"], /now/],
  ];
  await Promise.all(
    cases.map(async ([words, line]) => assertOneLine(await run(...words), 2, line)),
  );
});

test("a refusal exits with 1", async () => {
  const cases: readonly [string[], RegExp][] = [
    [[...issueAcme, "--scopes", "quote,admin"], /scopes/],
    [["keys", "issue", "--firm", "x", "--env", "live", "--plan", "huge"], /no plan huge/],
    [["keys", "issue", "--firm", "x", "--env", "live", "--plan", "sandbox"], /plan/],
    [["keys", "issue", "--firm", "x", "--env", "live", "--pan", "nonsense"], /pan/],
    [["keys", "issue", "--firm", " ", "--env", "sandbox"], /legal_name/],
    [["keys", "issue", "--firm", "x".repeat(201), "--env", "sandbox"], /legal_name/],
    [[...issueAcme, "--name", ""], /name/],
    [["plans", "set", "--name", "Sand Box", "--per-minute", "1", "--monthly", "1"], /name/],
    [["plans", "set", "--name", "sandbox", "--per-minute", "1", "--monthly", "1"], /sandbox/],
  ];
  await Promise.all(
    cases.map(async ([words, line]) => assertOneLine(await run(...words), 1, line)),
  );
});

test("an unreachable database prints one line without its password and exits with 3", async () => {
  const settings = {
    DATABASE_URL: "postgres://scripdesk:hunter2@127.0.0.1:1/scripdesk",
    MASTER_KEY: "ab".repeat(32),
  };
  for (const words of [["keys", "list"], ["serve"]]) {
    const ended = await scripdesk(words, settings);
    assertOneLine(ended, 3, /the database cannot be reached/);
    assert.equal(ended.stderr.includes("hunter2"), false);
  }
});

test("invalid settings print one line and exit with 3", async () => {
  const settings = { DATA_DIR, PORT: "many", LOG_LEVEL: "loud" };
  for (const words of [["migrate"], ["serve"]]) {
    assertOneLine(await scripdesk(words, settings), 3, /PORT .*LOG_LEVEL/);
  }
});

test("a command without a running service starts the database and stops it at the end", async (t) => {
  const alone = await dataDirectory(t, { isMigrated: true });
  const { code, stderr } = await scripdesk([...issueAcme, "--json"], { DATA_DIR: alone });
  assert.equal(code, 0, stderr);
  assert.equal(await postgresPid(alone), undefined);
});

test("a column has one heading, whatever of it is unknown", () => {
  const firm = "frm_01m7t0bz5h6n159kf76zwmk1cz";
  const rows = [
    { id: firm, from_id: null, firm_id: null, amount_paise: null, paise: 5 },
    { id: "stl_2", from_id: firm, firm_id: firm, amount_paise: 123_456, paise: null, note: "late" },
  ];
  assert.deepEqual(listCells(rows, { names: { [firm]: "Konkan Exports" } }), [
    ["id", "from", "firm", "amount", "amount", "note"],
    [firm, "-", "-", "-", "₹0.05", "-"],
    ["stl_2", "Konkan Exports", "Konkan Exports", "₹1,234.56", "-", "late"],
  ]);
});

test("a table fits the terminal by breaking between words, and an id stays whole", () => {
  const id = "stl_01m7t0bz5h6n159kf76zwmk1cz";
  const rows = [
    ["id", "found", "advice"],
    [id, "lacks legal name, address and signatory", "npx scripdesk house set"],
    ["short", "nothing", "-"],
  ];
  assert.deepEqual(layTable(rows, 72), [
    "id                              found                advice",
    `${id}  lacks legal name,    npx scripdesk house`,
    "                                address and          set",
    "                                signatory",
    "short                           nothing              -",
  ]);
  const wide = layTable(rows);
  assert.equal(wide.length, rows.length);
  const narrow = layTable(rows, 1);
  assert.ok(narrow.some((line) => line.startsWith(`${id}  lacks `)));
});
