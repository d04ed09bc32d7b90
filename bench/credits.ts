// Whether a desk feels how many credits the service holds: listing and declaring at 10 thousand and
// at a million seeded credits. Two whole services run side by side and take turns, so that a busy
// machine slows both alike; what is listed and declared is the same in both.

import { median, printTable, type RunningService, spread, startService } from "./support.ts";

const small = 10_000;
const large = Number(process.env["BENCH_CREDITS"] ?? 1_000_000);
const rounds = 5;
const listsPerRound = 100;
const declaresPerRound = 50;
const listedFirmSize = 1_000;

type Desk = { readonly api_key: string; readonly firm_id: string };
type Side = {
  readonly port: number;
  readonly lister: Desk;
  readonly declarer: Desk;
  declared: number;
};

export async function credits(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const few = await sideWith(await startService(stack), small);
  const many = await sideWith(await startService(stack), large);
  await measureRound(few);
  await measureRound(many);
  const fewRounds: Round[] = [];
  const manyRounds: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    fewRounds.push(await measureRound(few));
    manyRounds.push(await measureRound(many));
  }
  const row = (what: string, pick: (round: Round) => number) => {
    const ratios = manyRounds.map((round, at) => pick(round) / pick(fewRounds[at] ?? round));
    const shown = (measured: readonly Round[]) => `${median(measured.map(pick)).toFixed(2)} ms`;
    return {
      what,
      ours: `${shown(manyRounds)} at ${large}`,
      yardstick: `${shown(fewRounds)} at ${small}`,
      ratio: median(manyRounds.map(pick)) / median(fewRounds.map(pick)),
      spread: spread(ratios),
      goal: "≤ 1.25",
    };
  };
  printTable([
    row("list 100 of a firm's 1,000 credits", ({ listMs }) => listMs),
    row("list with a filter", ({ filterMs }) => filterMs),
    row("declare 10 new credits", ({ declareMs }) => declareMs),
    row("read one credit", ({ readMs }) => readMs),
  ]);
}

type Round = {
  readonly listMs: number;
  readonly filterMs: number;
  readonly declareMs: number;
  readonly readMs: number;
};

async function sideWith(service: RunningService, seeded: number): Promise<Side> {
  const issue = async (firm: string) =>
    (await service.command("keys", "issue", "--firm", firm, "--env", "sandbox")) as Desk;
  const side = {
    port: service.port,
    lister: await issue("Lister"),
    declarer: await issue("Declarer"),
    declared: 0,
  };
  await service.command("seed", "--credits", String(seeded), "--firm", "Crowd");
  for (let from = 0; from < listedFirmSize; from += 500) {
    await declare(side, side.lister, numbers("LIST", from, 500));
  }
  return side;
}

async function measureRound(side: Side): Promise<Round> {
  const path = `/v1/firms/${side.lister.firm_id}/credits?limit=100`;
  const listMs = await medianOf(listsPerRound, () => call(side, side.lister, "GET", path));
  const filterMs = await medianOf(listsPerRound, () =>
    call(side, side.lister, "GET", `${path}&scheme=RODTEP&expiring_before=2099-01-01`),
  );
  const declareMs = await medianOf(declaresPerRound, () => {
    side.declared += 10;
    return declare(side, side.declarer, numbers("NEW", side.declared, 10));
  });
  const readMs = await medianOf(listsPerRound, () =>
    call(side, side.lister, "GET", "/v1/credits/LIST-000007"),
  );
  return { listMs, filterMs, declareMs, readMs };
}

async function medianOf(times: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let time = 0; time < times; time++) {
    const startedAt = performance.now();
    await work();
    taken.push(performance.now() - startedAt);
  }
  return median(taken);
}

function numbers(prefix: string, from: number, count: number): string[] {
  return Array.from(
    { length: count },
    (_, index) => `${prefix}-${String(from + index).padStart(6, "0")}`,
  );
}

async function declare(side: Side, desk: Desk, scripNos: readonly string[]): Promise<void> {
  const items = scripNos.map((scripNo) => ({
    scrip_no: scripNo,
    scheme: "RODTEP",
    face_paise: 25_000_000,
    issued_on: "2026-01-01",
    expires_on: "2098-12-31",
  }));
  const body = { credits: items };
  const answer = await call(side, desk, "POST", `/v1/firms/${desk.firm_id}/credits`, body);
  const { failed } = answer as { failed: number };
  if (failed > 0) throw new Error(`${failed} declarations failed`);
}

async function call(side: Side, desk: Desk, method: string, path: string, body?: object) {
  const response = await fetch(`http://127.0.0.1:${side.port}${path}`, {
    method,
    headers: {
      "x-service-key": desk.api_key,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
  return await response.json();
}
