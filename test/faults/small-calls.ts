// One small call after the other, in a process of its own, so that nothing but the service is measured:
// `whoami` until the input ends, then how long each took and how many failed.

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { sender } from "../support/service.ts";

export type SmallSettings = {
  readonly url: string;
  readonly key: string;
  /** So many, where it is not the end of the input that ends them. */
  readonly count: number | undefined;
};

export type SmallReport = { readonly times: readonly number[]; readonly failed: number };

const callsMax = 50_000;
const pauseMs = 2;

async function main(): Promise<void> {
  const { url, key, count = callsMax } = JSON.parse(process.argv[2] ?? "{}") as SmallSettings;
  const send = sender(url);
  const times: number[] = [];
  let failed = 0;
  const over = new AbortController();
  process.stdin.resume();
  void once(process.stdin, "end").then(() => over.abort());
  await send("GET", "/v1/whoami", { key }); // Opens the connection.
  process.stdout.write("\n");
  while (times.length < count && !over.signal.aborted) {
    const begunMs = performance.now();
    const status = await send("GET", "/v1/whoami", { key })
      .then((answer) => answer.status)
      .catch(() => 0);
    times.push(performance.now() - begunMs);
    if (status !== 200) failed += 1;
    await sleep(pauseMs);
  }
  process.stdout.write(JSON.stringify({ times, failed } satisfies SmallReport));
  process.stdin.pause();
}

if (import.meta.main) await main();
