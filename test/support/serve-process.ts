// `scripdesk serve` as an operator runs it: a process of its own, with its settings in its environment.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

import type pg from "pg";

import { type Send, sender } from "./service.ts";

const program = join(import.meta.dirname, "../../cli/main.ts");
const greeting = /^scripdesk listens on (http\S+)$/;

export type ServeProcess = { readonly url: string; readonly send: Send };

/** A process that listens on a free port; it is stopped when the test is done. */
export async function startProcess(
  t: Pick<TestContext, "after">,
  settings: Readonly<Record<string, string>>,
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [program, "serve"], {
    env: { PATH: process.env["PATH"], PORT: "0", OPS_PORT: "off", LOG_LEVEL: "error", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  t.after(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  let complaints = "";
  child.stderr.on("data", (bytes: Buffer) => (complaints += bytes.toString()));
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const url = greeting.exec(line)?.[1];
    if (url !== undefined) listening.resolve(url);
  });
  void exited.then(() => listening.reject(new Error(`the service ended: ${complaints}`)));
  const url = await listening.promise;
  return { url, send: sender(url) };
}

/** The address of a database whose server listens on a socket in a folder. */
export function databaseUrl({ host, port, user, database }: pg.ClientConfig): string {
  const query = new URLSearchParams({ host: String(host), port: String(port), user: String(user) });
  return `postgres:///${database}?${query.toString()}`;
}
