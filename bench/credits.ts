// Whether a desk feels how many credits the service holds: listing and declaring at 10 thousand and
// at a million seeded credits; what is listed and declared is the same in both.

import { buildGrowthRow, type Pair, timeInTurns } from "./growth.ts";
import { chooseSize } from "./sizes.ts";
import { printTable, type RunningService, startService } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const small = chooseSize("BENCH_FEW_CREDITS", 10_000, 2_000);
const large = chooseSize("BENCH_CREDITS", 1_000_000, 10_000);
const rounds = chooseSize("BENCH_ROUNDS", 5, 1);
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
  await using stack = openStack();
  const few = await sideWith(await startService(stack), small);
  const many = await sideWith(await startService(stack), large);
  const acts = listActs([few, many]);
  const taken = acts.map((): Pair[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [at, { work }] of acts.entries()) {
      const pair = await timeInTurns(calls, work);
      if (round > 0) taken[at]?.push(pair); // The first warms both up.
    }
  }
  printTable(
    acts.map(({ what }, at) =>
      buildGrowthRow(what, taken[at] ?? [], { small, large, goal: "≤ 1.25" }),
    ),
  );
}

type Act = { readonly what: string; readonly work: (side: 0 | 1) => Promise<unknown> };

function listActs(sides: readonly [Side, Side]): readonly Act[] {
  const filter = "&scheme=RODTEP&expiring_before=2099-01-01";
  const readAsLister = async (side: Side, path: string) =>
    await call(side, side.lister, "GET", path);
  const buildListPath = ({ lister }: Side) => `/v1/firms/${lister.firm_id}/credits?limit=100`;
  const acts: { what: string; work: (side: Side) => Promise<unknown> }[] = [
    {
      what: "list 100 of a firm's 1,000 credits",
      work: (side) => readAsLister(side, buildListPath(side)),
    },
    {
      what: "list with a filter",
      work: (side) => readAsLister(side, `${buildListPath(side)}${filter}`),
    },
    {
      what: "declare 10 new credits",
      work(side) {
        side.declared += 10;
        return declare(side, side.declarer, numbers("NEW", side.declared, 10));
      },
    },
    { what: "read one credit", work: (side) => readAsLister(side, "/v1/credits/LIST-000007") },
  ];
  return acts.map(({ what, work }) => ({ what, work: (side) => work(sides[side]) }));
}

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
