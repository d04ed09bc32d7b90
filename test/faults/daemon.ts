import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";

import type { User } from "../support/external-postgres.ts";
import type { Scope } from "../support/process.ts";

export type Daemon = {
  readonly pid: number;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<unknown>;
};

/** A program of the system that runs until its test is over; what it says goes to its log. */
export async function startDaemon(
  scope: Scope,
  {
    path,
    words,
    user,
    log,
  }: {
    readonly path: string;
    readonly words: readonly string[];
    readonly user: User | undefined;
    readonly log: string;
  },
): Promise<Daemon> {
  await using file = await open(log, "a");
  const { PATH = "" } = process.env;
  const child = spawn(path, words, {
    ...user,
    cwd: "/",
    env: { PATH: `${PATH}:/usr/sbin:/usr/bin:/sbin:/bin`, LANG: "C.UTF-8", HOME: "/tmp" },
    stdio: ["ignore", file.fd, file.fd],
  });
  const ended = once(child, "exit");
  scope.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { pid: child.pid ?? 0, signal: (name) => void child.kill(name), ended };
}
