// What a key costs: authenticated, metered, logged reads against a bare Fastify route with the same
// schemas. Every call is looked up and counted in PostgreSQL before it is answered; `whoami` reads
// nothing else, and an order is read with its settlement and its history.

import { setTimeout } from "node:timers/promises";

import type { LoadResult } from "./load.ts";
import { declareCredits, type Desk } from "./quotes.ts";
import {
  median,
  printTable,
  residentMiB,
  type Row,
  type RunningService,
  spread,
  startLoad,
  startService,
  startYardstick,
} from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const connections = 64;
const rounds = 5;
const secondsPerRound = 4;
/** Until both are compiled as they stay. */
const warmUpSeconds = 8;
/** Until the sandbox has settled and paid the orders that are read. */
const settlingMs = 10_000;

type Rounds = {
  readonly ours: readonly LoadResult[];
  readonly yardstick: readonly LoadResult[];
  /** Of the service, in MiB after each round. */
  readonly memory: readonly number[];
};

export async function edge(): Promise<void> {
  await using stack = openStack();
  const service = await startService(stack);
  const bare = await startYardstick(stack, "bare-fastify.ts");
  const load = await startLoad(stack);
  // A plan nobody reaches, so that every call is metered and none is refused.
  const plan = ["--name", "bench", "--per-minute", "1000000000", "--monthly", "1000000000000"];
  await service.command("plans", "set", ...plan);
  const issue = ["--firm", "Bench", "--env", "sandbox", "--plan", "bench"];
  const desk = (await service.command("keys", "issue", ...issue)) as Desk;

  const measure = async (paths: readonly string[]): Promise<Rounds> => {
    const order = { connections, seconds: secondsPerRound };
    const format = (headers = "") =>
      paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: bench\r\n${headers}\r\n`);
    const key = `x-service-key: ${desk.api_key}\r\n`;
    const callOurs = { ...order, port: service.port, request: format(key) };
    const callBare = { ...order, port: bare.port, request: format() };
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
    return { ours, yardstick, memory };
  };

  const whoami = await measure(["/v1/whoami"]);
  const bareMiB = await residentMiB(bare);
  const orderIds = await sellCredits(service, desk);
  await setTimeout(settlingMs);
  const orders = await measure(orderIds.map((orderId) => `/v1/orders/${orderId}`));
  const memory = whoami.memory.at(-1) ?? 0;
  printTable([
    ...buildRows(`authenticated, metered whoami, ${connections} connections`, whoami),
    {
      what: "resident memory under that load",
      ours: `${Math.round(memory)} MiB`,
      yardstick: `${Math.round(bareMiB)} MiB bare Fastify`,
      ratio: memory / bareMiB,
      spread: `growth ${spread(whoami.memory.map((mib) => mib / (whoami.memory[0] ?? 1)))}`,
      goal: "≤ 1.75",
    },
    ...buildRows(`an order by its id, ${connections} connections`, orders),
  ]);
}

function buildRows(what: string, { ours, yardstick }: Rounds): Row[] {
  const ratios = ours.map((result, round) => result.perSecond / (yardstick[round]?.perSecond ?? 1));
  const speed = (results: readonly LoadResult[]) => median(results.map((each) => each.perSecond));
  const latency = (results: readonly LoadResult[]) => median(results.map((each) => each.medianMs));
  return [
    {
      what,
      ours: `${Math.round(speed(ours))}/s`,
      yardstick: `${Math.round(speed(yardstick))}/s bare Fastify`,
      ratio: median(ratios),
      spread: spread(ratios),
      goal: "≥ 0.78",
    },
    {
      what: "its median latency",
      ours: `${latency(ours).toFixed(2)} ms`,
      yardstick: `${latency(yardstick).toFixed(2)} ms`,
      ratio: latency(ours) / latency(yardstick),
      spread: "",
      goal: "",
    },
  ];
}

/** Sells credits to the house, and answers with the ids of the orders. */
async function sellCredits({ port }: RunningService, desk: Desk): Promise<string[]> {
  const scripNos = await declareCredits(port, desk);
  const response = await fetch(`http://127.0.0.1:${port}/v1/orders:batch`, {
    method: "POST",
    headers: { "x-service-key": desk.api_key, "content-type": "application/json" },
    body: JSON.stringify({ orders: scripNos.map((scrip_no) => ({ side: "sell", scrip_no })) }),
  });
  const { results } = (await response.json()) as { results: { order?: { order_id: string } }[] };
  const orderIds = results.flatMap(({ order }) => order?.order_id ?? []);
  if (orderIds.length !== scripNos.length) throw new Error(`${orderIds.length} orders were placed`);
  return orderIds;
}
