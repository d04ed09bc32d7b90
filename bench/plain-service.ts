// The service that most people would write by hand, for sales to the house: Fastify and `pg`, one
// transaction an order, normalised tables, a key found by its hash, a rate limit in memory, an index that
// keeps an order from being placed twice, and a row for the event. It has no ledger, no audit trail and
// nothing that follows an order.
//
//   node bench/plain-service.ts CONNECTION   CONNECTION as JSON; the database is its own

import { createHash } from "node:crypto";

import { fastify, type FastifyRequest } from "fastify";
import pg from "pg";

const priceBps = 9_765;
const perMinute = 10_000_000;
const poolSize = 20;

const pool = new pg.Pool({ ...JSON.parse(process.argv[2] ?? "{}"), max: poolSize });

await pool.query(`
  create table if not exists desks (desk_id bigserial primary key, name text not null, events bigint not null default 0);
  create table if not exists api_keys (
    key_hash bytea primary key, desk_id bigint not null references desks, revoked_at timestamptz
  );
  create table if not exists prices (scheme text primary key, price_bps int not null);
  create table if not exists credits (
    scrip_no text primary key, desk_id bigint not null references desks, scheme text not null,
    face_paise bigint not null, state text not null check (state in ('listed', 'sold'))
  );
  create index if not exists credits_of_desk on credits (desk_id, state);
  create table if not exists orders (
    order_id bigserial primary key, desk_id bigint not null references desks,
    scrip_no text not null references credits, price_bps int not null, all_in_paise bigint not null,
    status text not null, idempotency_key text, created_at timestamptz not null default now()
  );
  create unique index if not exists orders_once on orders (desk_id, idempotency_key);
  create index if not exists orders_by_desk on orders (desk_id, created_at);
  create table if not exists settlements (
    settlement_id bigserial primary key, order_id bigint not null references orders,
    amount_paise bigint not null, state text not null, updated_at timestamptz not null default now()
  );
  create index if not exists settlements_by_order on settlements (order_id);
  create table if not exists events (
    desk_id bigint not null references desks, sequence bigint not null, body jsonb not null,
    primary key (desk_id, sequence)
  )`);

const text = { type: "string" } as const;
const integer = { type: "integer" } as const;
const Placed = {
  type: "object",
  properties: {
    order_id: text,
    settlement_id: text,
    scrip_no: text,
    price_bps: integer,
    all_in_paise: integer,
    status: text,
  },
} as const;
const Sale = {
  type: "object",
  properties: { side: { enum: ["sell"] }, scrip_no: text },
  required: ["side", "scrip_no"],
} as const;

class Refusal extends Error {
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

const minutes = new Map<string, { minute: number; calls: number }>();

/** The desk of the key, when its calls of the minute are below its rate. */
async function authenticate({ headers }: FastifyRequest): Promise<string> {
  const key = String(headers["x-service-key"]);
  const { rows } = await pool.query<{ desk_id: string }>({
    name: "key",
    text: "select desk_id from api_keys where key_hash = $1 and revoked_at is null",
    values: [createHash("sha256").update(key).digest()],
  });
  const deskId = rows[0]?.desk_id;
  if (deskId === undefined) throw new Refusal(401, "the key is not known");
  const minute = Math.floor(Date.now() / 60_000);
  const counted = minutes.get(deskId);
  const calls = counted?.minute === minute ? counted.calls + 1 : 1;
  minutes.set(deskId, { minute, calls });
  if (calls > perMinute) throw new Refusal(429, "too many calls");
  return deskId;
}

const app = fastify();

app.get("/v1/whoami", async (request) => ({ desk_id: await authenticate(request) }));

app.post<{ Body: { scrip_no: string } }>(
  "/v1/orders",
  { schema: { body: Sale, response: { 201: Placed } } },
  async (request, reply) => {
    const deskId = await authenticate(request);
    const key = request.headers["idempotency-key"];
    const client = await pool.connect();
    const run = async (name: string, statement: string, values: readonly unknown[]) =>
      (await client.query({ name, text: statement, values: [...values] })).rows[0];
    try {
      await client.query("begin");
      const credit = await run(
        "credit",
        "select scheme, face_paise, state from credits where scrip_no = $1 and desk_id = $2 for update",
        [request.body.scrip_no, deskId],
      );
      if (credit?.state !== "listed") throw new Refusal(409, "the credit cannot be sold");
      const price = await run("price", "select price_bps from prices where scheme = $1", [
        credit.scheme,
      ]);
      const paise = (BigInt(credit.face_paise) * BigInt(price.price_bps)) / 10_000n;
      await run("sold", "update credits set state = 'sold' where scrip_no = $1", [
        request.body.scrip_no,
      ]);
      const order = await run(
        "order",
        `insert into orders (desk_id, scrip_no, price_bps, all_in_paise, status, idempotency_key)
         values ($1, $2, $3, $4, 'matched', $5) returning order_id`,
        [deskId, request.body.scrip_no, price.price_bps, paise, key ?? null],
      );
      const settlement = await run(
        "settlement",
        "insert into settlements (order_id, amount_paise, state) values ($1, $2, 'pending') returning settlement_id",
        [order.order_id, paise],
      );
      const placed = {
        order_id: order.order_id,
        settlement_id: settlement.settlement_id,
        scrip_no: request.body.scrip_no,
        price_bps: price.price_bps,
        all_in_paise: Number(paise),
        status: "matched",
      };
      const { events } = await run(
        "sequence",
        "update desks set events = events + 1 where desk_id = $1 returning events",
        [deskId],
      );
      await run("event", "insert into events (desk_id, sequence, body) values ($1, $2, $3)", [
        deskId,
        events,
        JSON.stringify({ event: "order.matched", ...placed }),
      ]);
      await client.query("commit");
      return await reply.code(201).send(placed);
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  },
);

await pool.query("insert into prices values ('RODTEP', $1) on conflict do nothing", [priceBps]);
const address = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`the plain service listens on ${address}\n`);
process.once("SIGTERM", () => void app.close().then(() => pool.end()));
