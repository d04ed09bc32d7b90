// One caller at a time, which is what most desks are, and sixty-four: single sales and `whoami` of the
// service and of one that is written by hand (`plain-service.ts`), in turns, on one durable PostgreSQL.
// The environment is live, so that nobody simulates the other side on the cores that are measured.

import { createHash } from "node:crypto";

import pg from "pg";

import type { LoadResult } from "./load.ts";
import { ProcessorPerOrder } from "./processor.ts";
import { openMarket } from "./sales.ts";
import { chooseSize } from "./sizes.ts";
import { median, printRemark, printTable, spread, startYardstick } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const rounds = chooseSize("BENCH_ROUNDS", 5, 1);
const secondsPerRound = chooseSize("BENCH_SECONDS", 4, 1);
/** More than can be sold in a round. */
const creditsPerRound = { 1: 1_000 * secondsPerRound, 64: 10_000 * secondsPerRound } as const;
const facePaise = 25_000_000;
const plainKey = "plain";

type Connections = keyof typeof creditsPerRound;

const compared = [
  { what: "a single sell order", connections: 1, goal: "≥ 1.0" },
  { what: "a single sell order", connections: 64, goal: "≥ 1.0" },
  { what: "whoami", connections: 1, goal: "≥ 0.6" },
  { what: "whoami", connections: 64, goal: "≥ 1.0" },
] as const;

/** What one of the two answered, round by round. */
class Answers {
  readonly results: LoadResult[] = [];
  readonly processor = new ProcessorPerOrder();

  get perSecond(): number {
    return median(this.results.map(({ perSecond }) => perSecond));
  }

  get medianMs(): number {
    return median(this.results.map(({ medianMs }) => medianMs));
  }
}

export async function alone(): Promise<void> {
  await using stack = openStack();
  const market = await openMarket(stack, "live");
  const { service } = market;
  const plain = await openPlain(stack, market.client);
  const dataDir = service.dataDir;
  const all = compared.map((one) => ({ ...one, ours: new Answers(), plain: new Answers() }));
  for (let round = 0; round <= rounds; round++) {
    for (const { what, connections, ...answers } of all) {
      const isSale = what !== "whoami";
      const [whoami = ""] = (await market.singles(1)).map(toWhoAmI);
      const sides = {
        ours: {
          ...service,
          request: isSale ? await market.singles(creditsPerRound[connections]) : [whoami],
        },
        plain: {
          ...plain,
          request: isSale ? await plain.singles(creditsPerRound[connections]) : [plain.whoami],
        },
      };
      for (const side of round % 2 === 0
        ? (["ours", "plain"] as const)
        : (["plain", "ours"] as const)) {
        const { port, pid, request } = sides[side];
        const run = async () => {
          const order = { port, connections, seconds: secondsPerRound, request };
          const result = await market.load(order);
          if (result.failures > 0) throw new Error(`${side} refused: ${result.firstFailure}`);
          return { ...result, orders: result.answers };
        };
        if (round === 0) await run(); // Warms both up.
        else
          answers[side].results.push(await answers[side].processor.measure({ pid, dataDir }, run));
      }
    }
  }
  printTable(
    all.map(({ what, connections, goal, ours, plain: theirs }) => {
      const ratios = ours.results.map(
        ({ perSecond }, at) => perSecond / (theirs.results[at]?.perSecond ?? perSecond),
      );
      return {
        what: `${what}, ${nameConnections(connections)}`,
        ours: `${ours.medianMs.toFixed(2)} ms, ${Math.round(ours.perSecond)}/s`,
        yardstick: `${theirs.medianMs.toFixed(2)} ms, ${Math.round(theirs.perSecond)}/s by hand`,
        ratio: median(ratios),
        spread: spread(ratios),
        goal,
      };
    }),
  );
  for (const { what, connections, ours, plain: theirs } of all) {
    printRemark(
      `processor time of ${what}, ${nameConnections(connections)}: ` +
        `${ours.processor.describe()}; by hand ${theirs.processor.describe()}`,
    );
  }
}

const nameConnections = (connections: Connections) =>
  connections === 1 ? "one connection" : `${connections} connections`;

/** The same key's `whoami`. */
function toWhoAmI(request: string): string {
  const key = /x-service-key: (\S+)/.exec(request)?.[1] ?? "";
  return formatWhoAmI(key);
}

const formatWhoAmI = (key: string) =>
  `GET /v1/whoami HTTP/1.1\r\nhost: bench\r\nx-service-key: ${key}\r\n\r\n`;

/** The plain service, on a database of its own in the same PostgreSQL. */
async function openPlain(stack: AsyncDisposableStack, server: pg.Client) {
  const { host, port, user, password } = server;
  await server.query("create database plain");
  const connection = { host, port, user, password: password ?? undefined, database: "plain" };
  const service = await startYardstick(stack, "plain-service.ts", JSON.stringify(connection));
  const client = new pg.Client(connection);
  await client.connect();
  stack.defer(() => client.end());
  await client.query("insert into desks (name) values ('Bench')");
  const hash = createHash("sha256").update(plainKey).digest();
  await client.query("insert into api_keys select $1, desk_id from desks", [hash]);
  let added = 0;
  return {
    ...service,
    whoami: formatWhoAmI(plainKey),
    async singles(count: number): Promise<string[]> {
      const scripNos = Array.from({ length: count }, () => `PLAIN-${++added}`);
      await client.query(
        `insert into credits
         select scrip_no, desk_id, 'RODTEP', $2, 'listed' from unnest($1::text[]) as scrip_no, desks`,
        [scripNos, facePaise],
      );
      await client.query("vacuum analyze credits");
      return scripNos.map((scrip_no) => {
        const body = JSON.stringify({ side: "sell", scrip_no });
        return (
          `POST /v1/orders HTTP/1.1\r\nhost: bench\r\nx-service-key: ${plainKey}\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
        );
      });
    },
  };
}
