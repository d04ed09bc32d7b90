// Whether a quote, an order or a look for one feels how much the service holds: at 50 thousand credits
// and as many orders of the desk, and at five million of each; BENCH_SCALE says another size. A
// tenth of the credits are the house's. Two whole services run side by side and take turns.

import pg from "pg";
import { pino } from "pino";

import { openBook } from "../src/trading/book.ts";
import { offerSources } from "../src/hooks.ts";
import { readConfig } from "../src/config.ts";
import { houseFirmId } from "../src/kernel/ids.ts";
import { schemes } from "../src/kernel/scheme.ts";
import { openContext } from "../src/open-context.ts";
import type { Context } from "../src/platform/context.ts";
import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { buildGrowthRow, type Pair } from "./growth.ts";
import { multiply, writeNewId } from "./multiply.ts";
import { chooseSize } from "./sizes.ts";
import { median, printRemark, printTable, type RunningService, startService } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const small = chooseSize("BENCH_FEW", 50_000, 20_000);
const large = chooseSize("BENCH_SCALE", 5_000_000, 50_000);
const houseShare = 10;
/** What the service makes itself; the rest are copies. */
const clientCredits = 9_000;
const ordersPlaced = 5_000;
const ordersPerCall = 500;
const rounds = chooseSize("BENCH_ROUNDS", 5, 1);
const callsPerRound = 60;

type Desk = { readonly api_key: string; readonly firm_id: string };
type BookSize = { readonly credits: number; readonly bytes: number; readonly loadMs: number };
type Party = { readonly port: number; readonly desk: Desk };
/** What it took to hold so much. */
type Growth = { readonly seconds: number; readonly bytes: number };
type Side = Party & { readonly book: BookSize; readonly growth: Growth };
type Times = Readonly<Record<(typeof measured)[number], number[]>>;
type Round = Readonly<Record<(typeof measured)[number], number>>;

const measured = ["sell", "buy", "order", "found"] as const;

/** Duty as importers have it: a few thousand rupees to ten crore, to the paisa. */
const requirements = [421_137, 3_750_000, 148_261_050, 1_234_567_890, 9_876_543_210];

export async function scale(): Promise<void> {
  await using stack = openStack();
  const few = await sideWith(await startService(stack), small);
  const many = await sideWith(await startService(stack), large);
  await measureRound(few, many, 0);
  const taken: [Round, Round][] = [];
  for (let round = 1; round <= rounds; round++) taken.push(await measureRound(few, many, round));
  const row = (what: string, of: keyof Round) => {
    const pairs = taken.map(([few, many]): Pair => [few[of], many[of]]);
    return buildGrowthRow(what, pairs, { small, large, goal: "≤ 1.1" });
  };
  printTable([
    row("sell quote by scrip_no", "sell"),
    row("buy quote", "buy"),
    row("sell order", "order"),
    row("that order by its client_ref", "found"),
    {
      what: "memory of the book per credit",
      ours: `${perCredit(many)} bytes at ${many.book.credits}`,
      yardstick: `${perCredit(few)} bytes at ${few.book.credits}`,
      ratio: perCredit(many) / perCredit(few),
      spread: "",
      goal: "",
    },
    {
      what: "time to load the book",
      ours: `${Math.round(many.book.loadMs)} ms`,
      yardstick: `${Math.round(few.book.loadMs)} ms`,
      ratio: many.book.loadMs / few.book.loadMs,
      spread: "",
      goal: "",
    },
  ]);
  const { seconds, bytes } = many.growth;
  printRemark(
    `${large} credits and as many orders take ${(bytes / 2 ** 30).toFixed(1)} GiB with their indexes; ` +
      `they were copied, indexed and vacuumed in ${Math.round(seconds)} s`,
  );
}

function perCredit({ book: { bytes, credits } }: Side): number {
  return Math.round(bytes / credits);
}

async function sideWith(service: RunningService, size: number): Promise<Side> {
  const issue = ["--firm", "Trader", "--env", "sandbox", "--buy"];
  const desk = (await service.command("keys", "issue", ...issue)) as Desk;
  const party = { port: service.port, desk };
  await service.command("seed", "--credits", String(clientCredits), "--firm", "Crowd");
  for (let at = 0; at < ordersPlaced; at += ordersPerCall) {
    const scripNos = numbers("DEALT", at, ordersPerCall);
    await declareCredits(party, scripNos);
    const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
    await post(party, "/v1/orders:batch", { orders });
  }
  for (let round = 0; round <= rounds; round++) {
    await declareCredits(party, numbers("SELL", round * callsPerRound, callsPerRound));
  }
  const growth = await grow(service, size);
  const opened = await openContext(readConfig({ DATA_DIR: service.dataDir }), {
    as: "visitor",
    create: false,
    log: pino({ level: "silent" }),
    now: () => new Date(),
  });
  try {
    return { ...party, book: await sizeOfBook(opened.ctx), growth };
  } finally {
    await opened.close();
  }
}

/**
 * Makes the credits and orders of a service as many as asked for. The service itself stands still
 * meanwhile: while indexes are off, each of its looks would read a whole table.
 */
async function grow({ pid, dataDir }: RunningService, size: number): Promise<Growth> {
  const startedAt = performance.now();
  process.kill(pid, "SIGSTOP");
  const server = await openEmbedded({ dataDir, as: "visitor", create: true });
  const client = new pg.Client(server.connection);
  await client.connect();
  try {
    // A book of plain copies would have a few hundred faces; credits have as many as there are.
    const more = "100 * (abs(hashtext(credit_id || copy)) % 1000)";
    const own = {
      credit_id: writeNewId("credit_id"),
      scrip_no: "'X' || upper(substr(md5(credit_id || copy), 1, 20))",
      face_paise: `face_paise + ${more}`,
      issued_paise: `issued_paise + ${more}`,
    };
    const ofHouse = `firm_id = '${houseFirmId.sandbox}' and state = 'listed'`;
    const ofClients = "firm_id not in (select firm_id from orders) and state = 'listed'";
    const house = Math.round(size / houseShare);
    await multiply(client, { table: "credits", own, where: ofHouse, count: house });
    await multiply(client, {
      table: "credits",
      own,
      where: `${ofClients} and firm_id <> '${houseFirmId.sandbox}'`,
      count: size - house,
    });
    const orderId = { order_id: writeNewId("order_id") };
    await multiply(client, {
      table: "orders",
      own: orderId,
      where: "state = 'matched'",
      count: size,
    });
    const { rows } = await client.query<{ bytes: string }>(
      "select pg_total_relation_size('credits') + pg_total_relation_size('orders') as bytes",
    );
    return { seconds: (performance.now() - startedAt) / 1_000, bytes: Number(rows[0]?.bytes) };
  } finally {
    await client.end();
    await server.leave();
    process.kill(pid, "SIGCONT");
  }
}

/** What a node has in memory once it has opened its book. */
async function sizeOfBook(ctx: Context): Promise<BookSize> {
  const startedAt = performance.now();
  const offers = await openBook(ctx, offerSources).look("sandbox");
  const loadMs = performance.now() - startedAt;
  const indexes = schemes.map((scheme) => offers[scheme]);
  return {
    credits: indexes.reduce((sum, { size }) => sum + size, 0),
    bytes: indexes.reduce((sum, { bytes }) => sum + bytes, 0),
    loadMs,
  };
}

async function measureRound(few: Side, many: Side, round: number): Promise<[Round, Round]> {
  const times = () => Object.fromEntries(measured.map((of) => [of, [] as number[]])) as Times;
  const taken = [times(), times()] as const;
  const scripNos = numbers("SELL", round * callsPerRound, callsPerRound);
  for (const [call, scrip_no] of scripNos.entries()) {
    const requirement_paise = requirements[call % requirements.length];
    // The two take turns in going first, so that whatever else the machine does falls on both.
    for (const at of call % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const side = at === 0 ? few : many;
      const priced = async (path: string, body: object) =>
        await timed(async () => await readPrice(await post(side, path, body)));
      taken[at].sell.push(await priced("/v1/quote", { side: "sell", scrip_no }));
      const buy = { side: "buy", scheme: "RODTEP", requirement_paise };
      taken[at].buy.push(await priced("/v1/quote", buy));
      const order = { side: "sell", scrip_no, client_ref: scrip_no };
      taken[at].order.push(await priced("/v1/orders", order));
      taken[at].found.push(await timed(async () => await findOrder(side, scrip_no)));
    }
  }
  const medians = (of: Times) =>
    Object.fromEntries(measured.map((name) => [name, median(of[name])])) as Round;
  return [medians(taken[0]), medians(taken[1])];
}

async function timed(call: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}

async function readPrice(response: Response): Promise<void> {
  const answer = (await response.json()) as { price_bps?: number };
  if (!answer.price_bps) throw new Error(`no price: ${JSON.stringify(answer)}`);
}

async function findOrder({ port, desk }: Party, clientRef: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/orders?client_ref=${clientRef}`, {
    headers: { "x-service-key": desk.api_key },
  });
  const { orders } = (await response.json()) as { orders?: unknown[] };
  if (orders?.length !== 1) throw new Error(`${orders?.length} orders are called ${clientRef}`);
}

function numbers(of: string, from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${of}-${String(from + at).padStart(5, "0")}1`);
}

async function declareCredits(party: Party, scripNos: string[]): Promise<void> {
  const credits = scripNos.map((scrip_no) => ({
    scrip_no,
    scheme: "RODTEP",
    face_paise: 2_500_000,
    issued_on: "2026-01-01",
    expires_on: "2098-12-31",
  }));
  const response = await post(party, `/v1/firms/${party.desk.firm_id}/credits`, { credits });
  const { accepted } = (await response.json()) as { accepted: number };
  if (accepted !== credits.length) throw new Error(`${accepted} credits were accepted`);
}

async function post({ port, desk }: Party, path: string, body: object): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "x-service-key": desk.api_key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response;
}
