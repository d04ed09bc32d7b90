// A PostgreSQL that stands still, as one does whose machine swaps or whose disk hangs: its processes
// are there, its sockets take what is sent, and nothing is answered. Or one that is gone at once.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The first process of a server, while its data folder names one. */
export async function findPostmaster(dataFolder: string): Promise<number | undefined> {
  const text = await readFile(join(dataFolder, "postmaster.pid"), "utf8").catch(() => "");
  return text === "" ? undefined : Number(text.split("\n")[0]);
}

/** Stops every process of a server until they are let go; whoever stops it lets it go in any case. */
export async function stopPostgres(postmaster: number): Promise<() => void> {
  signal(postmaster, "SIGSTOP"); // First, so that it makes no more of them.
  const children = await listChildren(postmaster);
  for (const pid of children) signal(pid, "SIGSTOP");
  return () => {
    for (const pid of [postmaster, ...children]) signal(pid, "SIGCONT");
  };
}

/** All of its processes at once, so that none of them can still write down what it knows. */
export async function killPostgres(postmaster: number): Promise<void> {
  for (const pid of [postmaster, ...(await listChildren(postmaster))]) signal(pid, "SIGKILL");
}

/** The processes that a server has made. */
export async function listChildren(postmaster: number): Promise<number[]> {
  const path = `/proc/${postmaster}/task/${postmaster}/children`;
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split(" ").filter(Boolean).map(Number);
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself a moment ago.
  }
}
