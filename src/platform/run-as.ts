// Which user the programs of PostgreSQL run as.

import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** How a program is started: as ourselves, or as another user when we are root. */
export type RunAs = {
  readonly uid?: number;
  readonly gid?: number;
  readonly wrapper: readonly string[];
};

/**
 * PostgreSQL refuses to run as root. As root its programs run as the owner of an existing cluster,
 * else as `postgres`, else as `nobody`. Where that user may not enter the folders above the
 * programs or the data (a clone under /root, say), it is lent the one capability that lets it.
 */
export async function chooseUser(clusterDir: string, program: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { wrapper: [] };
  const user = (await ownerOf(clusterDir)) ?? (await userNamed("postgres")) ?? nobody;
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
      // Without this bit access(2), by which initdb looks for its neighbours, ignores capabilities.
      "--securebits=+no_setuid_fixup",
      "--inh-caps=+dac_override",
      "--ambient-caps=+dac_override",
    ],
  };
}

type User = { readonly uid: number; readonly gid: number };

const nobody: User = { uid: 65_534, gid: 65_534 };

async function ownerOf(path: string): Promise<User | undefined> {
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
