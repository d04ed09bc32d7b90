// A PostgreSQL that stands still, as one does whose machine swaps or whose disk hangs: its processes
// are there, its sockets take what is sent, and nothing is answered.

import { readFile } from "node:fs/promises";

/** Stops every process of a server until they are let go; whoever stops it lets it go in any case. */
export async function stopPostgres(postmaster: number): Promise<() => void> {
  signal(postmaster, "SIGSTOP"); // First, so that it makes no more of them.
  const path = `/proc/${postmaster}/task/${postmaster}/children`;
  const children = (await readFile(path, "utf8")).split(" ").filter(Boolean).map(Number);
  for (const pid of children) signal(pid, "SIGSTOP");
  return () => {
    for (const pid of [postmaster, ...children]) signal(pid, "SIGCONT");
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself a moment ago.
  }
}
