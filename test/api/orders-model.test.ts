// The same kinds of sequences as test/orders-model.test.ts, fewer and through the front door: what
// loading, locking and storing add is held to the rows.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { putCard } from "../support/dealing-house.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { readRuns } from "../support/random.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const sequences = readRuns(4);
const lakh = 10_000_000;
const margin = 20;

const step = fc.record({
  kind: fc.constantFrom("sell", "sell", "amount", "buy", "buy", "batch", "cancel", "card", "work"),
  client: fc.nat({ max: 3 }),
  size: fc.integer({ min: 1, max: 6 }),
  price: fc.integer({ min: -10, max: 10 }),
  pick: fc.nat({ max: 1_000 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

type Client = { readonly desk: Dealer; readonly firmId: string; readonly scripNos: string[] };

test("sequences of orders through the front door leave sound rows and no crossed book", async (t) => {
  const service = await startService(t);
  const clients = await openClients(service);
  const statuses = new Map<string, number>();
  const note = (what: string, { status }: { status: number }) => {
    statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1);
    assert.ok(status < 500, `${what} answered ${status}`);
  };
  const placed: { readonly client: Client; readonly orderId: string }[] = [];

  async function place(client: Client, path: string, body: object): Promise<void> {
    const answer = await client.desk.post(path, body, 0);
    const results: Answer["body"][] = answer.body.results ?? [
      { status: answer.status, order: answer.body },
    ];
    for (const { status, order } of results) {
      note("order", { status });
      if (status === 201) placed.push({ client, orderId: order.order_id });
    }
  }

  async function cancel(pick: number): Promise<void> {
    const { client, orderId } = placed[pick % Math.max(1, placed.length)] ?? {};
    if (!client || !orderId) return;
    const before = (await client.desk.read(orderId)).status;
    const answer = await client.desk.post(`/v1/orders/${orderId}/cancel`, {}, 0);
    note(`cancel of ${before}`, answer);
  }

  async function take({ kind, client: who, size, price, pick }: Step): Promise<void> {
    service.clock.advance({ seconds: 1 });
    const client = clients[who] as Client; // There are four.
    const { firmId, scripNos } = client;
    const terms = chooseTerms(service, { price, pick });
    const sell = { side: "sell", scrip_no: scripNos[pick % scripNos.length], ...terms };
    const buy = {
      side: "buy",
      scheme: "RODTEP",
      requirement_paise: size * 2 * lakh,
      firm_id: firmId,
      ...terms,
    };
    const amount = { side: "sell", scheme: "RODTEP", face_paise: size * lakh, firm_id: firmId };
    if (kind === "sell") await place(client, "/v1/orders", sell);
    else if (kind === "amount") await place(client, "/v1/orders", { ...amount, ...terms });
    else if (kind === "buy") await place(client, "/v1/orders", buy);
    else if (kind === "batch") {
      await place(client, "/v1/orders:batch", { orders: [buy, sell, amount, sell, buy] });
    } else if (kind === "cancel") await cancel(pick);
    else if (kind === "card") await putCard(service, { mid_bps: 9_850 + price * 6 });
    else {
      service.clock.advance({ seconds: pick });
      await service.work();
    }
  }

  /** Few sequences may leave no such orders: these ask more than anybody pays. */
  async function leaveExpiredAndOpen(): Promise<void> {
    await restock(service, clients);
    const [client] = clients as [Client];
    const [first, second] = client.scripNos.slice(-2);
    const ask = { side: "sell", limit_bps: 9_990 };
    const expiresAt = new Date(service.clock.now().getTime() + 61_000).toISOString();
    const expiring = { ...ask, scrip_no: first, time_in_force: "GTD", expires_at: expiresAt };
    await place(client, "/v1/orders", expiring);
    await place(client, "/v1/orders", { ...ask, scrip_no: second });
    service.clock.advance({ seconds: 62 });
    await service.work();
  }

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), async (steps) => {
      await restock(service, clients);
      for (const each of steps) await take(each);
      await service.work();
      await assertOrdersSound(service);
      await assertUncrossed(service);
    }),
    { numRuns: sequences, endOnFailure: true },
  );
  await leaveExpiredAndOpen();
  // The newest hundred twice: some of them are open still.
  for (let pick = 0; pick < 200; pick++) await cancel(placed.length - 1 - (pick % 100));
  t.diagnostic(JSON.stringify(Object.fromEntries(statuses)));
  for (const hit of [
    "cancel of open 200",
    "cancel of cancelled 200",
    "cancel of matched 409",
    "cancel of expired 409",
    "order 201",
    "order 409",
  ]) {
    assert.ok(statuses.has(hit), `${hit} never came up`);
  }
  await assertOrdersSound(service);
});

/** Two desks with two clients each; one client of either desk is the same company. */
async function openClients(service: Service): Promise<Client[]> {
  const clients: Client[] = [];
  for (let n = 0; n < 2; n++) {
    const desk = await dealer(service, [], n === 0 ? {} : { pan: clients[0]?.desk.pan ?? "" });
    const second = await addFirm(service, { deskId: desk.deskId });
    clients.push({ desk, firmId: desk.firmId, scripNos: [] });
    clients.push({ desk, firmId: second, scripNos: [] });
  }
  return clients;
}

async function restock(service: Service, clients: readonly Client[]): Promise<void> {
  await stockHouse(service.ctx, [{ face_paise: 3 * lakh }]);
  for (const { desk, firmId, scripNos } of clients) {
    const plain = { firmId, scheme: "RODTEP", expiresOn: "2028-10-01", state: "listed" } as const;
    scripNos.length = 0;
    scripNos.push(
      ...(await addCredits(
        service,
        desk.deskId,
        [1, 2, 3].map((lakhs) => ({ ...plain, facePaise: lakhs * lakh })),
      )),
    );
  }
}

function chooseTerms(
  { clock }: Service,
  { price, pick }: { readonly price: number; readonly pick: number },
): object {
  const limit = { limit_bps: 9_800 + price * 8 };
  if (pick % 3 === 0) return {};
  if (pick % 3 === 1) return limit;
  const expiresAt = new Date(clock.now().getTime() + 60_000 + pick * 1_000);
  return { ...limit, time_in_force: "GTD", expires_at: expiresAt.toISOString() };
}

/** After the matcher ran, no two orders that rest could be dealt with each other. */
async function assertUncrossed({ ctx }: Service): Promise<void> {
  const { rows } = await ctx.db.pool.query(
    `select s.order_id as sell, b.order_id as buy
    from orders as s
    join firms as sf on sf.firm_id = s.firm_id
    join orders as b on b.side = 'buy' and b.state = 'open' and b.scheme = s.scheme
    join firms as bf on bf.firm_id = b.firm_id
    cross join unnest(s.resting_scrip_nos) as n (scrip_no)
    join credits as c on c.scrip_no = n.scrip_no and c.reserved_for = s.order_id
    where s.side = 'sell' and s.state = 'open' and sf.pan <> bf.pan
      and s.limit_bps + $1 <= b.price_bps
      and c.face_paise <= b.requirement_paise - b.dealt_paise`,
    [margin],
  );
  assert.deepEqual(rows, []);
}
