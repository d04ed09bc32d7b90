// What the measurements of orders share: a service with a desk for each scheme, whose credits are sold
// to the house, a connection to its database, and pgbench's TPC-B on the same server.

import pg from "pg";

import type { Environment } from "../src/kernel/caller.ts";
import { newId } from "../src/kernel/ids.ts";
import { type Scheme, schemes } from "../src/kernel/scheme.ts";
import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import type { LoadOrder, LoadResult } from "./load.ts";
import { type Pgbench, preparePgbench } from "./pgbench.ts";
import { type RunningService, startLoad, startService } from "./support.ts";

export const batchSize = 500;
const batchConnections = 4;

type Desk = {
  readonly api_key: string;
  readonly firm_id: string;
  readonly scheme: Scheme;
};

/** A first live card takes a complete house. */
const house = Object.entries({
  env: "live",
  "legal-name": "Bench House",
  iec: "AAACB1234C",
  pan: "AAACB1234C",
  address: "1 Bench Street",
  state: "27",
  signatory: "Nobody",
  beneficiary: "Bench House",
  account: "123456789012",
  ifsc: "HDFC0000001",
  bank: "HDFC Bank",
}).flatMap(([name, value]) => [`--${name}`, value]);

/** Who answers for the sandbox's customs about the transfer of a credit, by the end of its number. */
const endings = { simulated: "1", attested: "0408" } as const;

export type Transfers = keyof typeof endings;

export type Market = {
  readonly service: RunningService;
  readonly load: (order: LoadOrder) => Promise<LoadResult>;
  /** To the service's database, as its owner. */
  readonly connection: pg.ClientConfig;
  readonly client: pg.Client;
  readonly pgbench: Pgbench;
  /** The requests of single sales, or of batches, of new credits; of several schemes by turns. */
  singles(count: number, of?: readonly Scheme[]): Promise<string[]>;
  batches(
    count: number,
    of?: readonly Scheme[],
    desks?: number,
    transfers?: Transfers,
  ): Promise<string[]>;
  /** Sends batches, all of them or for some seconds; throws where an order was refused. */
  sellInBatches(requests: readonly string[], seconds?: number): Promise<LoadResult>;
};

/** A house without a limit, and desks without one, so many for each scheme. */
export async function openMarket(
  stack: AsyncDisposableStack,
  environment: Environment,
  desksPerScheme = 1,
): Promise<Market> {
  const service = await startService(stack);
  const load = await startLoad(stack);
  const server = await openEmbedded({ dataDir: service.dataDir, as: "visitor", create: true });
  stack.defer(() => server.leave());
  const client = new pg.Client(server.connection);
  await client.connect();
  stack.defer(() => client.end());
  const pgbench = await preparePgbench({ ...server.connection, database: "postgres" });
  if (environment === "live") await service.command("house", "set", ...house);
  for (const scheme of schemes) {
    const card = ["--env", environment, "--scheme", scheme];
    await service.command("rates", "publish", ...card, "--house-limit-paise", "9007199254740991");
  }
  const plan = ["--name", "bench", "--per-minute", "10000000", "--monthly", "1000000000"];
  await service.command("plans", "set", ...plan);
  const desks: Desk[] = [];
  for (let at = 0; at < desksPerScheme; at++) {
    for (const scheme of schemes) {
      const firm = ["--firm", "Bench", "--env", environment, "--plan", "bench"];
      const pan = `AAACB1${String(desks.length).padStart(3, "0")}D`;
      const identity = environment === "live" ? ["--iec", pan, "--pan", pan] : [];
      const issued = await service.command("keys", "issue", ...firm, ...identity);
      desks.push({ ...(issued as Omit<Desk, "scheme">), scheme });
    }
  }
  /** New credits of so many desks of each scheme, in lots of this size, by turns. */
  const take = async (
    lots: number,
    size: number,
    of: readonly Scheme[],
    most = 1,
    transfers: Transfers = "simulated",
  ) => {
    const stocks = of.flatMap((wanted) =>
      desks.filter(({ scheme }) => scheme === wanted).slice(0, most),
    );
    const each = Math.ceil(lots / stocks.length);
    const taken: { readonly desk: Desk; readonly scripNos: string[] }[] = [];
    for (const desk of stocks) {
      const count = each * size;
      const scripNos = await addCredits(client, { environment, desk, count, transfers });
      taken.push({ desk, scripNos });
    }
    return Array.from({ length: lots }, (_, at) => {
      const { desk, scripNos } = taken[at % taken.length] ?? { scripNos: [] };
      if (!desk) throw new Error("credits of at least one scheme are sold");
      const place = Math.floor(at / taken.length);
      return { desk, scripNos: scripNos.slice(place * size, (place + 1) * size) };
    });
  };
  return {
    service,
    load,
    connection: server.connection,
    client,
    pgbench,
    async singles(count, of = ["RODTEP"]) {
      return (await take(count, 1, of)).map(({ desk, scripNos: [scrip_no] }) =>
        post("/v1/orders", { side: "sell", scrip_no }, desk),
      );
    },
    async batches(count, of = ["RODTEP"], most = 1, transfers = "simulated") {
      return (await take(count, batchSize, of, most, transfers)).map(({ desk, scripNos }) => {
        const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
        return post("/v1/orders:batch", { orders }, desk);
      });
    },
    async sellInBatches(request, seconds) {
      const before = await countOrders(client);
      const { port } = service;
      const connections = Math.min(batchConnections, request.length);
      const time = seconds === undefined ? {} : { seconds };
      const result = await load({ port, connections, request, ...time });
      const placed = (await countOrders(client)) - before;
      if (result.failures > 0 || placed !== result.answers * batchSize) {
        const refused = result.answers * batchSize - placed;
        const how = result.firstFailure ?? "one by one, in answers of 2xx";
        throw new Error(`${refused} orders of batches were refused: ${how}`);
      }
      return result;
    },
  };
}

async function countOrders(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>("select count(*) from orders");
  return Number(rows[0]?.count);
}

let added = 0;

/** Listed credits of a desk's own firm and scheme, by the thousand. */
async function addCredits(
  client: pg.Client,
  {
    environment,
    desk,
    count,
    transfers,
  }: {
    readonly environment: Environment;
    readonly desk: Desk;
    readonly count: number;
    readonly transfers: Transfers;
  },
): Promise<string[]> {
  const now = new Date();
  const ids = Array.from({ length: count }, () => newId("crd", now));
  const scripNos = ids.map(() => `BENCH-${String(added++).padStart(8, "0")}${endings[transfers]}`);
  await client.query(
    `insert into credits (
      credit_id, environment, desk_id, firm_id, scrip_no, scheme, issued_paise, face_paise,
      issued_on, expires_on, expiry_due_on, state, as_of, version, created_at, updated_at
    )
    select credit_id, $5, $3, $3, scrip_no, $6, 25000000, 25000000, '2026-01-01',
      '2098-12-31', '2098-12-31', 'listed', $4, 1, $4, $4
    from unnest($1::text[], $2::text[]) as c (credit_id, scrip_no)`,
    [ids, scripNos, desk.firm_id, now, environment, desk.scheme],
  );
  await client.query("vacuum analyze credits");
  return scripNos;
}

function post(path: string, body: object, { api_key }: Desk): string {
  const text = JSON.stringify(body);
  return (
    `POST ${path} HTTP/1.1\r\nhost: bench\r\nx-service-key: ${api_key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}
