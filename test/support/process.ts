// The service as an operator runs it: a process of its own, with a database of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type ServiceProcess = {
  readonly url: string;
  /** The key of the sandbox desk that a first start makes. */
  readonly key: string;
  /** What is left of the process when it has ended by itself. */
  readonly child: ChildProcess;
  stop(): Promise<void>;
};

const command = join(import.meta.dirname, "../../cli/main.ts");

/** Waits until the process has said where it listens and what its key is. */
export async function startServiceProcess(
  variables: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), "scripdesk-process-"));
  const child = spawn(process.execPath, [command, "serve"], {
    env: {
      ...process.env,
      HOST: "127.0.0.1",
      PORT: "0",
      OPS_PORT: "off",
      LOG_LEVEL: "silent",
      DATA_DIR: dataDir,
      ...variables,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  async function stop(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    await rm(dataDir, { recursive: true, force: true });
  }

  let said = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    const url = /listens on (\S+)/.exec(said)?.[1];
    const key = /\bservice_test_\w+/.exec(said)?.[0];
    if (!url || !key) continue;
    child.stdout.resume(); // Whatever else it says must not fill the pipe.
    return { url, key, child, stop };
  }
  await stop();
  throw new Error(`the service did not start: ${said}`);
}
