// The version of the service that an upgrade begins from: the last release by its tag, or, while no
// release is tagged, the commit before the newest migration, so that the upgrade has one to run.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Scope } from "../support/process.ts";

const root = join(import.meta.dirname, "../..");
const execute = promisify(execFile);

export type Version = {
  readonly commit: string;
  /** The tag, or that there is none. */
  readonly name: string;
};

/** Why there is none, or the version. */
export async function findFormerVersion(): Promise<Version | { readonly missing: string }> {
  try {
    const tag = (await git("tag", "--list", "v*", "--sort=-version:refname")).split("\n")[0];
    if (tag) return { commit: await git("rev-list", "-1", tag), name: tag };
    const newest = await git(
      "log",
      "-1",
      "--format=%H",
      "--diff-filter=A",
      "--",
      "migrations/[0-9]*.sql",
    );
    const commit = await git("rev-parse", `${newest}^`);
    return { commit, name: `${commit.slice(0, 10)}, before the newest migration` };
  } catch (error) {
    return {
      missing: `the history of the repository is needed for the former version: ${(error as Error).message.split("\n")[0]}`,
    };
  }
}

/** Its program, with the packages of the present version. */
export async function unpackVersion(scope: Scope, { commit }: Version): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-former-"));
  scope.after(() => rm(folder, { recursive: true, force: true }));
  await execute("sh", ["-c", `git archive ${commit} | tar -x -C ${folder}`], { cwd: root });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const { dependencies: former } = await readPackage(folder);
  const { dependencies: present } = await readPackage(root);
  const gone = Object.keys(former).filter((name) => !(name in present));
  if (gone.length > 0) throw new Error(`the former version needs ${gone.join(", ")}`);
  return join(folder, "cli/main.ts");
}

async function readPackage(folder: string): Promise<{ dependencies: Record<string, string> }> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
}

async function git(...words: readonly string[]): Promise<string> {
  return (await execute("git", words, { cwd: root })).stdout.trim();
}
