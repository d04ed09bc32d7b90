// The service as others get it: packed, put into an empty folder, and run from there.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";

import { dataDirectory } from "../support/process.ts";
import { scratchFolder } from "../support/scratch.ts";
import { sender } from "../support/service.ts";

const root = join(import.meta.dirname, "../..");
const sources = [
  "bin",
  "cli",
  "client/README.md",
  "client/examples",
  "client/python/README.md",
  "client/src",
  "docs",
  "migrations",
  "src",
  "templates",
  "web",
];
const papers = ["package.json", "tsconfig.json", "tsconfig.build.json", "LICENSE", "README.md"];

function must(program: string, words: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: "utf8" });
  assert.equal(status, 0, `${program} ${words.join(" ")}: ${stdout} ${stderr}`);
  return stdout;
}

/** Packs a copy, so that nothing is built among the sources, and unpacks it as an install would. */
async function install(folder: string): Promise<{ installed: string; files: string[] }> {
  const project = join(folder, "project");
  for (const name of [...sources, ...papers]) {
    await cp(join(root, name), join(project, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(project, "node_modules"));
  must("npm", ["pack", "--pack-destination", folder], project);
  const [packed = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  const modules = join(folder, "app/node_modules");
  const installed = join(modules, "scripdesk");
  await mkdir(installed, { recursive: true });
  const files = must("tar", ["-tzf", packed], folder).trim().split("\n");
  must("tar", ["-xzf", packed, "--strip-components=1", "-C", installed], folder);
  // What the registry would bring is what this project has.
  for (const name of await readdir(join(root, "node_modules"))) {
    await symlink(join(root, "node_modules", name), join(modules, name)).catch(() => {});
  }
  return { installed, files };
}

test(
  "the packed service is compiled, has nothing of tests, and serves from an empty folder",
  { timeout: 180_000 },
  async (t) => {
    const folder = await scratchFolder("scripdesk-package-");
    const { installed, files } = await install(folder);
    const needless = files.filter(
      (name) => /\.ts$|\.test\./.test(name) || /^package\/(?!bin\/|dist\/)\w+\//.test(name),
    );
    assert.deepEqual(needless, []);

    const program = join(installed, "bin/scripdesk.js");
    assert.match(must(process.execPath, [program, "--version"], folder), /^scripdesk \d/);
    const dataDir = await dataDirectory(t, { isMigrated: true });
    await mkdir(join(dataDir, "house"), { recursive: true });
    await writeFile(join(dataDir, "house/terms.md"), "# Our terms\n");
    const env = {
      PATH: process.env["PATH"] ?? "",
      DATA_DIR: dataDir,
      HOST: "127.0.0.1",
      PORT: "0",
      OPS_PORT: "off",
    };
    const cwd = join(folder, "app");
    const service = spawn(process.execPath, [program, "serve"], { cwd, env, stdio: "pipe" });
    const ended = once(service, "close");
    let said = "";
    service.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    service.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    t.after(async () => {
      service.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    });
    const died = ended.then(() => assert.fail(said));
    const listening = /listening at (http:\/\/127\.0\.0\.1:\d+)/;
    while (!listening.test(said)) await Promise.race([once(service.stdout, "data"), died]);
    const send = sender(listening.exec(said)?.[1] ?? "");

    const words = [
      "keys",
      "issue",
      "--firm",
      "श्री Acme",
      "--env",
      "sandbox",
      "--scopes",
      "*",
      "--json",
    ];
    const issued = spawnSync(process.execPath, [program, ...words], { cwd, env, encoding: "utf8" });
    const { api_key: key, firm_id } = JSON.parse(issued.stdout) as Record<string, string>;
    const body = { count: 1, scheme: "RODTEP" };
    const asked = { ...(key !== undefined && { key }), expect: 200 };
    const seeded = await send("POST", "/v1/sandbox/credits:seed", { ...asked, body });
    const sale = { side: "sell", scrip_no: seeded.body.scrip_nos[0] };
    await send("POST", "/v1/orders", { ...asked, body: sale, expect: 201 });
    // Drawn by a thread, which is a module of its own.
    const month = new Date(Date.now() + 19_800_000).toISOString().slice(0, 7);
    const path = `/v1/statements/${month}?firm_id=${firm_id}&format=pdf`;
    assert.match((await send("GET", path, asked)).text, /^%PDF[^]*\+NotoSansDevanagari-SemiBold/);
    const list = await send("GET", "/v1/orders?format=xlsx", asked);
    assert.match(list.text, /^PK[^]*xl\/worksheets\/sheet1\.xml/);
    assert.match((await send("GET", "/", { expect: 200 })).text, /<html/);
    for (const path of ["/docs/walk", "/docs/client-python", "/docs/verify-audit.mjs"]) {
      await send("GET", path, { expect: 200 });
    }
    assert.match((await send("GET", "/terms", { expect: 200 })).text, /<h1>Our terms/);
  },
);

/** A Node on the path that is too old for the service. */
function findOldNode(): string | undefined {
  const places = (process.env["PATH"] ?? "").split(delimiter).map((place) => join(place, "node"));
  return places.find((place) => {
    const version = /^v(\d+)/.exec(spawnSync(place, ["--version"]).stdout?.toString() ?? "")?.[1];
    return version !== undefined && Number(version) < 24;
  });
}

test("an older Node hands over to the one that came with the packages, or is told in one line what is missing", async (t) => {
  const old = findOldNode();
  if (old === undefined) {
    t.skip("every Node of this machine is new enough");
    return;
  }
  const words = ["mcp", "--key", "service_test_x", "--tools", "nothing"];
  const program = join(root, "bin/scripdesk.js");
  const handed = spawnSync(old, [program, ...words], { cwd: tmpdir(), encoding: "utf8" });
  assert.equal(handed.status, 2);
  assert.match(handed.stderr, /^scripdesk: --tools nothing: /);

  const folder = await scratchFolder("scripdesk-old-node-");
  t.after(async () => await rm(folder, { recursive: true, force: true }));
  await cp(program, join(folder, "scripdesk.js"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const alone = spawnSync(old, [join(folder, "scripdesk.js"), ...words], { encoding: "utf8" });
  assert.equal(alone.status, 1);
  assert.match(
    alone.stderr,
    /^scripdesk needs Node 24\.12 or later, and this is v\d+\.\d+\.\d+\.\n$/,
  );
});
