// Whether a desk feels how many credits the service holds: listing and declaring at 10 thousand and
// at a million seeded credits. Two whole services run side by side and take turns, so that a busy
// machine slows both alike; what is listed and declared is the same in both.

import { median, printTable, type RunningService, spread, startService } from "./support.ts";

const small = 10_000;
const large = Number(process.env["BENCH_CREDITS"] ?? 1_000_000);
const rounds = 5;
const calls = 60;
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
  await measureRound(few, many);
  const fewRounds: Round[] = [];
  const manyRounds: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const [ofFew, ofMany] = await measureRound(few, many);
    fewRounds.push(ofFew);
    manyRounds.push(ofMany);
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

async function measureRound(few: Side, many: Side): Promise<[Round, Round]> {
  const both = async (times: number, work: (side: Side) => Promise<unknown>) =>
    await mediansOf(times, [() => work(few), () => work(many)]);
  const pathOf = ({ lister }: Side) => `/v1/firms/${lister.firm_id}/credits?limit=100`;
  const filter = "&scheme=RODTEP&expiring_before=2099-01-01";
  const list = await both(calls, (side) => call(side, side.lister, "GET", pathOf(side)));
  const filtered = await both(calls, (side) =>
    call(side, side.lister, "GET", `${pathOf(side)}${filter}`),
  );
  const declared = await both(calls, (side) => {
    side.declared += 10;
    return declare(side, side.declarer, numbers("NEW", side.declared, 10));
  });
  const read = await both(calls, (side) =>
    call(side, side.lister, "GET", "/v1/credits/LIST-000007"),
  );
  const roundOf = (at: 0 | 1): Round => ({
    listMs: list[at],
    filterMs: filtered[at],
    declareMs: declared[at],
    readMs: read[at],
  });
  return [roundOf(0), roundOf(1)];
}

/** The two take turns call by call, so that whatever else the machine does falls on both. */
async function mediansOf(
  times: number,
  works: readonly [() => Promise<unknown>, () => Promise<unknown>],
): Promise<[number, number]> {
  const taken: [number[], number[]] = [[], []];
  for (let time = 0; time < times; time++) {
    for (const at of time % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const startedAt = performance.now();
      await works[at]();
      taken[at].push(performance.now() - startedAt);
    }
  }
  return [median(taken[0]), median(taken[1])];
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
