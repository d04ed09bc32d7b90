// Runs the programs of PostgreSQL, as a user that PostgreSQL accepts.

import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** The user of a program: our own, or another one when we are root. */
export type RunAs = {
  readonly uid?: number;
  readonly gid?: number;
  readonly wrapper: readonly string[];
};

/**
 * PostgreSQL refuses to run as root. As root its programs run as the owner of an existing cluster,
 * else as `postgres`, else as `nobody`. If that user may not enter the folders above the programs or
 * the data (such as a clone under /root), the programs get the capability CAP_DAC_OVERRIDE.
 */
export async function chooseUser(clusterDir: string, program: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { wrapper: [] };
  const user = (await findOwner(clusterDir)) ?? (await userNamed("postgres")) ?? nobody;
  const paths = [dirname(clusterDir), dirname(program)];
  const reachable = await Promise.all(paths.map((path) => mayEnter(path, user)));
  if (reachable.every(Boolean)) return { ...user, wrapper: [] };
  return {
    ...user,
    wrapper: [
      "setpriv",
      `--reuid=${user.uid}`,
      `--regid=${user.gid}`,
      "--clear-groups",
      // Without this bit access(2), which initdb uses to find its programs, ignores capabilities.
      "--securebits=+no_setuid_fixup",
      "--inh-caps=+dac_override",
      "--ambient-caps=+dac_override",
    ],
  };
}

type User = { readonly uid: number; readonly gid: number };

const nobody: User = { uid: 65_534, gid: 65_534 };

async function findOwner(path: string): Promise<User | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

async function userNamed(name: string): Promise<User | undefined> {
  const accounts = await readFile("/etc/passwd", "utf8").catch(() => "");
  const fields = accounts
    .split("\n")
    .find((line) => line.startsWith(`${name}:`))
    ?.split(":");
  return fields ? { uid: Number(fields[2]), gid: Number(fields[3]) } : undefined;
}

async function mayEnter(path: string, { uid, gid }: User): Promise<boolean> {
  const { mode, uid: owner, gid: group } = await stat(path);
  const shift = owner === uid ? 6 : Number(group === gid) * 3;
  if (((mode >> shift) & 1) === 0) return false;
  return path === dirname(path) || (await mayEnter(dirname(path), { uid, gid }));
}

/** Runs a program of PostgreSQL to its end. */
export async function runProgram(runAs: RunAs, program: string, args: readonly string[]) {
  const [command, ...rest] = [...runAs.wrapper, program, ...args];
  const ids = runAs.wrapper.length > 0 ? {} : { uid: runAs.uid, gid: runAs.gid };
  return await collectOutput(command ?? program, rest, { ...ids, cwd: "/" });
}

export async function collectOutput(
  command: string,
  args: readonly string[],
  options: { uid?: number | undefined; gid?: number | undefined; cwd?: string },
): Promise<{ code: number; output: string; lastLine: string }> {
  return await new Promise((resolve) => {
    const child = spawn(command, args, {
      ...options,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C", TZ: "UTC" },
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const end = (code: number) => {
      resolve({ code, output, lastLine: output.trim().split("\n").at(-1) ?? "" });
    };
    child.on("error", (error) => {
      output += error.message;
      end(1);
    });
    // The server inherits pg_ctl's pipes and keeps them open, so wait for the exit and not for the
    // end of the output.
    child.on("exit", (code) => end(code ?? 1));
  });
}
