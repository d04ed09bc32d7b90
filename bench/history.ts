// Whether a look into a desk's history feels how long it is: at a hundred thousand records and at twenty
// million (BENCH_RECORDS says another size). Each record has an event.

import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { buildGrowthRow, type Pair, timeInTurns } from "./growth.ts";
import { fillJournal, type Sample } from "./journal-fill.ts";
import { chooseSize } from "./sizes.ts";
import { printRemark, printTable, startService } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const small = chooseSize("BENCH_FEW_RECORDS", 100_000, 40_000);
const large = chooseSize("BENCH_RECORDS", 20_000_000, 80_000);
const rounds = chooseSize("BENCH_ROUNDS", 7, 1);
const callsPerRound = 30;

type Issued = { readonly api_key: string; readonly firm_id: string };
type Side = {
  readonly port: number;
  readonly key: string;
  readonly size: number;
  readonly samples: readonly Sample[];
  readonly perSecond: number;
  readonly bytes: number;
};

type Look = {
  readonly what: string;
  /** The path for one place in the history. */
  readonly path: (sample: Sample, side: Side, at: number) => string;
};

const looks: readonly Look[] = [
  { what: "audit of one entity", path: ({ entityId }) => `/v1/audit?entity_id=${entityId}` },
  {
    what: "audit of an action in one minute",
    path: ({ at }) => `/v1/audit?action=order.place&limit=20&${within(at, 60_000)}`,
  },
  {
    what: "audit of an actor in four minutes",
    path: ({ at }) => `/v1/audit?actor=bench&limit=20&${within(at, 240_000)}`,
  },
  { what: "the newest of the audit", path: () => "/v1/audit?limit=20" },
  {
    what: "events after a number",
    path: (_, { size, samples }, at) =>
      `/v1/events?limit=20&after_sequence=${Math.floor((at * size) / samples.length)}`,
  },
];

export async function history(): Promise<void> {
  await using stack = openStack();
  const few = await openSide(stack, small);
  const many = await openSide(stack, large);
  const rows = [];
  for (const look of looks) {
    const sides = [few, many] as const;
    const taken: Pair[] = [];
    for (let round = 0; round <= rounds; round++) {
      const pair = await timeInTurns(callsPerRound, async (side, call) => {
        await takeLook(look, sides[side], call);
      });
      if (round > 0) taken.push(pair); // The first warms both up.
    }
    rows.push(buildGrowthRow(look.what, taken, { small, large, goal: "≤ 1.25" }));
  }
  printTable(rows);
  const gib = (many.bytes / 2 ** 30).toFixed(1);
  printRemark(
    `${large} records with events were written at ${many.perSecond} a second; their database takes ${gib} GiB with its indexes`,
  );
}

async function openSide(stack: AsyncDisposableStack, size: number): Promise<Side> {
  const service = await startService(stack);
  const issue = ["keys", "issue", "--firm", "History Bench", "--env", "sandbox"];
  const { api_key: key, firm_id: deskId } = (await service.command(...issue)) as Issued;
  const server = await openEmbedded({ dataDir: service.dataDir, as: "visitor", create: true });
  stack.defer(() => server.leave());
  const filled = await fillJournal(server.connection, deskId, size);
  return { port: service.port, key, size, ...filled };
}

async function takeLook({ path }: Look, side: Side, call: number): Promise<void> {
  const at = call % side.samples.length;
  const sample = side.samples[at];
  if (!sample) throw new Error("there is no history");
  const asked = path(sample, side, at);
  const response = await fetch(`http://127.0.0.1:${side.port}${asked}`, {
    headers: { "x-service-key": side.key },
  });
  const answer = (await response.json()) as { audit?: unknown[]; events?: unknown[] };
  if (!(answer.audit ?? answer.events)?.length) {
    throw new Error(`${asked} answered ${response.status} ${JSON.stringify(answer).slice(0, 200)}`);
  }
}

function within(at: Date, ms: number): string {
  const to = new Date(at.getTime() + ms);
  return `from=${at.toISOString()}&to=${to.toISOString()}`;
}
