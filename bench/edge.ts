// What a key costs: an authenticated, metered, logged GET /v1/whoami against a bare Fastify route.
// Every call is looked up and counted in PostgreSQL before it is answered.

import type { LoadResult } from "./load.ts";
import {
  median,
  printTable,
  residentMiB,
  spread,
  startLoad,
  startService,
  startYardstick,
} from "./support.ts";

const connections = 64;
const rounds = 5;
const secondsPerRound = 4;
/** Until both are compiled as they stay. */
const warmUpSeconds = 8;

export async function edge(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const service = await startService(stack);
  const bare = await startYardstick(stack, "bare-fastify.ts");
  const load = await startLoad(stack);
  // A plan nobody reaches, so that every call is metered and none is refused.
  const plan = ["--name", "bench", "--per-minute", "1000000000", "--monthly", "1000000000000"];
  await service.command("plans", "set", ...plan);
  const issue = ["--firm", "Bench", "--env", "live", "--plan", "bench"];
  const { api_key } = (await service.command("keys", "issue", ...issue)) as { api_key: string };
  const head = "GET /v1/whoami HTTP/1.1\r\nhost: bench\r\n";
  const order = { connections, seconds: secondsPerRound };
  const callOurs = {
    ...order,
    port: service.port,
    request: `${head}x-service-key: ${api_key}\r\n\r\n`,
  };
  const callBare = { ...order, port: bare.port, request: `${head}\r\n` };

  await load({ ...callOurs, seconds: warmUpSeconds });
  await load({ ...callBare, seconds: warmUpSeconds });
  const ours: LoadResult[] = [];
  const yardstick: LoadResult[] = [];
  const memory: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await load(callOurs));
    memory.push(await residentMiB(service));
    yardstick.push(await load(callBare));
  }
  const failures = [...ours, ...yardstick].reduce((sum, result) => sum + result.failures, 0);
  if (failures > 0) throw new Error(`${failures} answers were not 2xx`);

  const ratios = ours.map((result, round) => result.perSecond / (yardstick[round]?.perSecond ?? 1));
  const bareMiB = await residentMiB(bare);
  const growth = memory.map((mib) => mib / (memory[0] ?? 1));
  printTable([
    {
      what: `authenticated, metered whoami, ${connections} connections`,
      ours: `${Math.round(median(ours.map((result) => result.perSecond)))}/s`,
      yardstick: `${Math.round(median(yardstick.map((result) => result.perSecond)))}/s bare Fastify`,
      ratio: median(ratios),
      spread: spread(ratios),
      goal: "≥ 0.6",
    },
    {
      what: "its median latency",
      ours: `${median(ours.map((result) => result.medianMs)).toFixed(2)} ms`,
      yardstick: `${median(yardstick.map((result) => result.medianMs)).toFixed(2)} ms`,
      ratio:
        median(ours.map((result) => result.medianMs)) /
        median(yardstick.map((result) => result.medianMs)),
      spread: "",
      goal: "",
    },
    {
      what: "resident memory under that load",
      ours: `${Math.round(memory.at(-1) ?? 0)} MiB`,
      yardstick: `${Math.round(bareMiB)} MiB bare Fastify`,
      ratio: (memory.at(-1) ?? 0) / bareMiB,
      spread: `growth ${spread(growth)}`,
      goal: "≤ 3",
    },
  ]);
}
