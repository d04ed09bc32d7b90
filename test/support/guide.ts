// Guides of `docs/` run as they stand: every block of commands, in its order, by a shell, against a
// service. What a block prints is what the page shows, but for ids, times and cursors.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { databaseUrlFor } from "./cli.ts";
import type { Service } from "./service.ts";

const root = join(import.meta.dirname, "../..");

type Block = { readonly text: string; readonly shown: string | undefined };

/**
 * Indented lines are commands, and a fence after them, before the next heading, is what they print. One
 * of another language than JSON is for reading.
 */
function readBlocks(page: string): Block[] {
  const pieces = [...page.matchAll(/((?:^ {4}.*\n)+)|^```(\w*)\n([\s\S]*?)^```$|^#+ .*/gm)];
  const blocks: Block[] = [];
  let isPrinted = false;
  for (const [piece, commands, language, fence = ""] of pieces) {
    const last = blocks.at(-1);
    if (piece.startsWith("#")) isPrinted = false;
    else if (commands !== undefined) {
      blocks.push({ text: commands.replaceAll(/^ {4}/gm, ""), shown: undefined });
      isPrinted = true;
    } else if (isPrinted && (language === "" || language === "json")) {
      if (!last || last.shown !== undefined) assert.fail(`nothing prints this:\n${fence}`);
      blocks[blocks.length - 1] = { ...last, shown: fence };
    }
  }
  return blocks;
}

/** One shell for the whole page, so that what a block sets is there for the next. */
function openShell(t: TestContext, folder: string, variables: Readonly<Record<string, string>>) {
  const shell = spawn("bash", ["--noprofile", "--norc"], {
    cwd: folder,
    env: { ...process.env, ...variables },
    stdio: "pipe",
  });
  t.after(() => shell.kill("SIGKILL"));
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  const end = "\u0001end";
  let complaints = "";
  shell.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  return {
    send(text: string): void {
      shell.stdin.write(`${text}\nprintf '\\n${end} %s\\n' $?\n`);
    },
    /** What the next of the sent texts has printed. */
    async read(text: string): Promise<string> {
      const printed: string[] = [];
      for (;;) {
        const { value, done } = await lines.next();
        if (done) assert.fail(`the shell ended:\n${complaints}`);
        if (value.startsWith(end)) {
          assert.equal(value, `${end} 0`, `${text}\n${printed.join("\n")}\n${complaints}`);
          return printed.join("\n").trim();
        }
        printed.push(value);
      }
    },
    async close() {
      shell.stdin.end();
      await once(shell, "close");
    },
  };
}

/** What differs from run to run. */
function masked(text: string): string {
  return text
    .replaceAll(/\b([a-z]{3})_[0-9a-z]{26}\b/g, "$1_…")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+\+05:30/g, "…")
    .replaceAll(/\bSIM(NEFT|RTGS|IMPS)[0-9A-F]+/g, "SIM$1…")
    .replaceAll(/"next_cursor": ?"[^"]+"/g, '"next_cursor":"…"');
}

/** JSON is compared by its values: one text over several lines, or one a line. */
function readPrinted(text: string): unknown {
  const plain = masked(text).trim();
  try {
    return JSON.parse(plain) as unknown;
  } catch {
    return plain.split("\n").map((line) => {
      try {
        return JSON.parse(line) as unknown;
      } catch {
        return line.trimEnd();
      }
    });
  }
}

const workPauseMs = 50;
const missing = ["bash", "curl", "jq"].filter((name) => spawnSync(name, ["--version"]).error);

/** Why a guide cannot be run here; false where it can. */
export const guideMissing = missing.length > 0 && `needs ${missing.join(" and ")}`;

/** Runs a guide and compares what it shows; returns how many answers it compared. */
export async function runGuide(
  t: TestContext,
  service: Service,
  {
    file,
    fill,
    beside,
  }: {
    readonly file: string;
    /** Puts the reader's own address and key into a block. */
    readonly fill: (text: string) => string;
    /** What the service does by itself, again and again, while the page is pasted as one. */
    readonly beside: () => Promise<void>;
  },
): Promise<number> {
  const blocks = readBlocks(await readFile(join(root, file), "utf8"));
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-guide-"));
  t.after(async () => await rm(folder, { recursive: true, force: true }));
  const shell = openShell(t, folder, {
    DATA_DIR: folder,
    DATABASE_URL: await databaseUrlFor(service.ctx),
    MASTER_KEY: service.masterKey.toString("hex"),
  });
  // Where it may take a package from the registry, it could be a stranger's.
  const npx = `npx() { [ "$npm_config_yes" = false ] && ${process.execPath} ${join(root, "cli/main.ts")} "\${@:2}"; }`;
  const state = { isRunning: true };
  const working = (async () => {
    while (state.isRunning) {
      await beside();
      await sleep(workPauseMs);
    }
  })();
  try {
    for (const text of [npx, ...blocks.map((block) => fill(block.text))]) shell.send(text);
    await shell.read(npx);
    let compared = 0;
    for (const { text, shown } of blocks) {
      const printed = await shell.read(text);
      if (shown === undefined) continue;
      assert.deepEqual(readPrinted(printed), readPrinted(shown), text);
      compared++;
    }
    await shell.close();
    if (blocks.some(({ text }) => text.includes("npx scripdesk"))) {
      assert.deepEqual(await readdir(folder), ["data"], "git ignores what the guide wrote");
    }
    return compared;
  } finally {
    state.isRunning = false;
    await working;
  }
}
