// Whether a quote feels how many credits the service holds: sells and buys at 50 thousand and at half
// a million credits, a tenth of them the house's; BENCH_CREDITS says another size. Two whole services
// run side by side and take turns, so that a busy machine slows both alike.

import { pino } from "pino";

import { openBook } from "../src/book/open-book.ts";
import { offerSources } from "../src/offer-sources.ts";
import { readConfig } from "../src/config.ts";
import { seededRow } from "../src/credits/seeded-row.ts";
import { type CreditRow, seedRows } from "../src/credits/store.ts";
import { syntheticExporters } from "../src/credits/synthetic-credits.ts";
import { houseFirmId } from "../src/kernel/house.ts";
import { newId } from "../src/kernel/ids.ts";
import { schemes } from "../src/kernel/scheme.ts";
import { istDay } from "../src/kernel/time.ts";
import { openContext } from "../src/open-context.ts";
import type { Context } from "../src/platform/context.ts";
import { median, printTable, type RunningService, spread, startService } from "./support.ts";

const small = 50_000;
const large = Number(process.env["BENCH_CREDITS"] ?? 500_000);
const houseShare = 10;
const rowsPerSet = 5_000;
const rounds = 5;
const callsPerRound = 60;

type Desk = { readonly api_key: string; readonly firm_id: string };
type BookSize = { readonly credits: number; readonly bytes: number; readonly loadMs: number };
type Side = { readonly port: number; readonly desk: Desk; readonly book: BookSize };
type Round = { readonly sellMs: number; readonly buyMs: number };

/** Duty as importers have it: a few thousand rupees to ten crore, to the paisa. */
const requirements = [421_137, 3_750_000, 148_261_050, 1_234_567_890, 9_876_543_210];

export async function quoteScale(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const few = await sideWith(await startService(stack), small);
  const many = await sideWith(await startService(stack), large);
  await measureRound(few, many);
  const measured: [Round, Round][] = [];
  for (let round = 0; round < rounds; round++) measured.push(await measureRound(few, many));
  const row = (what: string, pick: (round: Round) => number) => {
    const ofFew = median(measured.map(([round]) => pick(round)));
    const ofMany = median(measured.map(([, round]) => pick(round)));
    return {
      what,
      ours: `${ofMany.toFixed(2)} ms at ${large}`,
      yardstick: `${ofFew.toFixed(2)} ms at ${small}`,
      ratio: ofMany / ofFew,
      spread: spread(measured.map(([small, large]) => pick(large) / pick(small))),
      goal: "≤ 1.25",
    };
  };
  printTable([
    row("sell quote by scrip_no", ({ sellMs }) => sellMs),
    row("buy quote", ({ buyMs }) => buyMs),
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
}

function perCredit({ book: { bytes, credits } }: Side): number {
  return Math.round(bytes / credits);
}

async function sideWith(service: RunningService, credits: number): Promise<Side> {
  const issue = ["--firm", "Trader", "--env", "sandbox", "--buy"];
  const desk = (await service.command("keys", "issue", ...issue)) as Desk;
  const house = Math.round(credits / houseShare);
  await service.command("seed", "--credits", String(credits - house), "--firm", "Crowd");
  const opened = await openContext(readConfig({ DATA_DIR: service.dataDir }), {
    as: "visitor",
    log: pino({ level: "silent" }),
    now: () => new Date(),
  });
  try {
    await seedHouse(opened.ctx, house);
    await declareCredits(service.port, desk);
    return { port: service.port, desk, book: await sizeOfBook(opened.ctx) };
  } finally {
    await opened.close();
  }
}

async function seedHouse(ctx: Context, count: number): Promise<void> {
  const now = ctx.now();
  const today = istDay(now);
  const deskId = houseFirmId.sandbox;
  const holding = { environment: "sandbox", deskId, firmId: deskId, today, now } as const;
  let rows: CreditRow[] = [];
  const write = async () => {
    const set = rows;
    rows = [];
    await ctx.db.transaction(async (tx) => await seedRows(tx, holding, set));
  };
  for (const { credits } of syntheticExporters("house", count, today)) {
    for (const credit of credits) {
      rows.push({ ...seededRow(credit, holding), credit_id: newId("crd", now) });
    }
    if (rows.length >= rowsPerSet) await write();
  }
  await write();
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

async function measureRound(few: Side, many: Side): Promise<[Round, Round]> {
  const taken: Record<"sell" | "buy", [number[], number[]]> = { sell: [[], []], buy: [[], []] };
  for (let call = 0; call < callsPerRound; call++) {
    const sell = { side: "sell", scrip_no: scripNoOf(call) };
    const requirement = requirements[call % requirements.length];
    const buy = { side: "buy", scheme: "RODTEP", requirement_paise: requirement };
    // The two take turns in going first, so that whatever else the machine does falls on both.
    for (const at of call % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const side = at === 0 ? few : many;
      taken.sell[at].push(await timed(side, sell));
      taken.buy[at].push(await timed(side, buy));
    }
  }
  return [
    { sellMs: median(taken.sell[0]), buyMs: median(taken.buy[0]) },
    { sellMs: median(taken.sell[1]), buyMs: median(taken.buy[1]) },
  ];
}

async function timed({ port, desk }: Side, body: object): Promise<number> {
  const startedAt = performance.now();
  const response = await post(port, desk, "/v1/quote", body);
  const quote = (await response.json()) as { quote_ref?: string };
  if (!quote.quote_ref) throw new Error(`no quote: ${JSON.stringify(quote)}`);
  return performance.now() - startedAt;
}

function scripNoOf(at: number): string {
  return `SELL-${String(at).padStart(5, "0")}1`;
}

async function declareCredits(port: number, desk: Desk): Promise<void> {
  const credits = Array.from({ length: callsPerRound }, (_, at) => ({
    scrip_no: scripNoOf(at),
    scheme: "RODTEP",
    face_paise: 25_000_000,
    issued_on: "2026-01-01",
    expires_on: "2098-12-31",
  }));
  const response = await post(port, desk, `/v1/firms/${desk.firm_id}/credits`, { credits });
  const { accepted } = (await response.json()) as { accepted: number };
  if (accepted !== credits.length) throw new Error(`${accepted} credits were accepted`);
}

async function post(port: number, desk: Desk, path: string, body: object): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "x-service-key": desk.api_key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response;
}
