// What a key costs: authenticated, metered, logged reads against a bare Fastify route with the same
// schemas. Every call is looked up and counted in PostgreSQL before it is answered; `whoami` reads
// nothing else, and an order is read with its settlement and its history.

import { setTimeout } from "node:timers/promises";

import { buildRows, connections, loadInTurns, type Rounds } from "./beside-bare.ts";
import { declareCredits, type Desk } from "./quotes.ts";
import {
  printTable,
  residentMiB,
  type RunningService,
  spread,
  startLoad,
  startService,
  startYardstick,
} from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

/** Until the sandbox has settled and paid the orders that are read. */
const settlingMs = 10_000;

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

  /** Of the service, in MiB after each round. */
  const memoryMiB: number[] = [];
  const measure = async (paths: readonly string[]): Promise<Rounds> => {
    const format = (headers = "") =>
      paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: bench\r\n${headers}\r\n`);
    const key = `x-service-key: ${desk.api_key}\r\n`;
    const calls = {
      ours: { port: service.port, request: format(key) },
      bare: { port: bare.port, request: format() },
    };
    return await loadInTurns(load, calls, async () => {
      memoryMiB.push(await residentMiB(service));
    });
  };

  const whoami = await measure(["/v1/whoami"]);
  const whoamiMiB = memoryMiB.splice(0);
  const bareMiB = await residentMiB(bare);
  const orderIds = await sellCredits(service, desk);
  await setTimeout(settlingMs);
  const orders = await measure(orderIds.map((orderId) => `/v1/orders/${orderId}`));
  const memory = whoamiMiB.at(-1) ?? 0;
  const told = { latency: "its median latency", goal: "≥ 0.78" };
  printTable([
    ...buildRows(
      { ...told, what: `authenticated, metered whoami, ${connections} connections` },
      whoami,
    ),
    {
      what: "resident memory under that load",
      ours: `${Math.round(memory)} MiB`,
      yardstick: `${Math.round(bareMiB)} MiB bare Fastify`,
      ratio: memory / bareMiB,
      spread: `growth ${spread(whoamiMiB.map((mib) => mib / (whoamiMiB[0] ?? 1)))}`,
      goal: "≤ 1.75",
    },
    ...buildRows({ ...told, what: `an order by its id, ${connections} connections` }, orders),
  ]);
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
