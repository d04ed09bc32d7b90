// A Redis of one test's own: a process on a free loopback port that keeps nothing.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { RedisClientType } from "@redis/client";

import { connectRedis } from "../../src/platform/redis.ts";
import { debianProgram } from "./debian-program.ts";
import { freePort } from "./free-port.ts";

export type RedisServer = {
  readonly url: string;
  /** A client as the service makes it, closed when the test is done. */
  connect(): Promise<RedisClientType>;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Alive and silent: connections stay open and nothing is answered. */
  pause(): void;
  resume(): void;
};

const startAttemptsMax = 200;

/** Why there is no Redis to test with, or undefined when there is. */
export async function redisMissing(): Promise<string | undefined> {
  const program = await debianProgram("redis-server");
  return "missing" in program ? program.missing : undefined;
}

export async function startRedis(t: Pick<TestContext, "after">): Promise<RedisServer> {
  const program = await debianProgram("redis-server");
  if ("missing" in program) throw new Error(program.missing);
  const dir = await mkdtemp(join(tmpdir(), "scripdesk-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const settings = { bind: "127.0.0.1", port, dir, save: "", appendonly: "no" };
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  let child: ChildProcess | undefined;

  const server: RedisServer = {
    url,
    async connect() {
      const client = await connectRedis(url);
      t.after(() => client.destroy());
      return client;
    },
    async start() {
      child = spawn(program.path, words, { stdio: "ignore" });
      for (let attempt = 1; ; attempt++) {
        try {
          (await connectRedis(url)).destroy();
          return;
        } catch (error) {
          if (attempt === startAttemptsMax || child.exitCode !== null) throw error;
          await sleep(50);
        }
      }
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
  };
  t.after(async () => {
    await server.kill();
    await rm(dir, { recursive: true, force: true });
  });
  await server.start();
  return server;
}
