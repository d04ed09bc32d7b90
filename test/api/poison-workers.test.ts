// One row that fails late among good ones of another desk, for every worker by its name: the good ones
// are done in the same run, the offender is set aside, and it is done once what ails it is over.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { deleteOutage, insertOutage } from "../../src/outside/question-store.ts";
import { operator } from "../../src/kernel/actor.ts";
import { begin } from "../../src/settlement/advance-settlements.ts";
import { lockSettlements } from "../../src/settlement/store.ts";
import { settlementHooks } from "../../src/hooks.ts";
import { noFee } from "../../src/kernel/money.ts";
import { istDay } from "../../src/kernel/time.ts";
import { setTax } from "../../src/taxes/taxes.ts";
import { crores, propose, terms, traders } from "../support/crosses.ts";
import { addDeals } from "../support/deals.ts";
import { putCard } from "../support/dealing-house.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { hold, poison } from "../support/poison.ts";
import { type Service, startService } from "../support/service.ts";
import { addCredit, house, letSettle, makeDeal, openTestDesk } from "../support/settlements.ts";

const face = 25_000_000;
const three = [{}, {}, {}];
const registry = { environment: "sandbox", port: "registry" } as const;

/** Lets one worker run, as a process does that has just started, until it has no more to do. */
async function run(service: Service, name: string): Promise<void> {
  const work = service.workers().find((each) => each.name === name) ?? assert.fail(name);
  for (let runs = 0; (await work.work()) === "more"; runs++) assert.ok(runs < 50, "it never ends");
}

/** How often a worker has set something aside. */
async function setAside({ metrics }: Service, worker: string): Promise<number> {
  const { values } = await metrics.setAside.get();
  return values.find(({ labels }) => labels.worker === worker)?.value ?? 0;
}

type Case = {
  /** Makes three good things of one desk and one bad of another; what is poisoned, and how it stands. */
  readonly make: (service: Service) => Promise<{
    readonly table: string;
    readonly condition: string;
    /** Whether each of them is done, the bad one last. */
    readonly done: () => Promise<readonly boolean[]>;
  }>;
};

async function isolates(t: TestContext, worker: string, { make }: Case): Promise<void> {
  const service = await startService(t);
  const { table, condition, done } = await make(service);
  const { heal } = await poison(service, table, condition);
  await run(service, worker);
  assert.deepEqual(await done(), [true, true, true, false]);
  assert.ok((await setAside(service, worker)) >= 1);
  await heal();
  await run(service, worker);
  assert.deepEqual(await done(), [true, true, true, true]);
  await assertLedgerSound(service);
}

async function twoDealers(service: Service): Promise<{ good: Dealer; bad: Dealer }> {
  return { good: await dealer(service, three), bad: await dealer(service) };
}

const query = async <Row extends object>({ ctx }: Service, text: string, values: unknown[] = []) =>
  (await ctx.db.pool.query<Row>(text, values)).rows;

/** Sells of both desks to the house, the bad one last; the ids of orders and of settlements. */
async function sellAll(desks: { good: Dealer; bad: Dealer }, order: object = {}) {
  const placed: { order_id: string; settlement_ids: string[] }[] = [];
  for (const { post, scripNos } of [desks.good, desks.bad]) {
    for (const scrip_no of scripNos) {
      placed.push((await post("/v1/orders", { side: "sell", scrip_no, ...order }, 201)).body);
    }
  }
  return placed;
}

const listStates = async (service: Service, table: string, id: string, ids: readonly string[]) => {
  const rows = await query<{ id: string; state: string }>(
    service,
    `select ${id} as id, state from ${table} where ${id} = any($1)`,
    [ids],
  );
  return ids.map((one) => rows.find((row) => row.id === one)?.state);
};

/** The settlements there are, the one that is to be poisoned last. */
async function listSettlements(service: Service, { bad }: { readonly bad: Dealer }) {
  const rows = await query<{ settlement_id: string }>(
    service,
    `select s.settlement_id
    from settlements as s
    join settlement_legs as l on l.settlement_id = s.settlement_id
    order by l.seller_desk_id = $1 or s.buyer_desk_id = $1, s.settlement_id`,
    [bad.deskId],
  );
  const ids = rows.map((row) => row.settlement_id);
  const areNot = (state: string) => async () =>
    (await listStates(service, "settlements", "settlement_id", ids)).map((each) => each !== state);
  return { ids, badId: ids.at(-1) ?? "", areNot };
}

/** Buys of both desks that nobody has paid for. */
async function unpaidBuys(service: Service) {
  await stockHouse(
    service.ctx,
    [1, 2, 3, 4].map(() => ({ face_paise: face })),
  );
  const desks = { good: await dealer(service, []), bad: await dealer(service, []) };
  for (const { post, firmId } of [desks.good, desks.good, desks.good, desks.bad]) {
    const order = { side: "buy", scheme: "RODTEP", requirement_paise: face, firm_id: firmId };
    await post("/v1/orders", order, 201);
  }
  return { desks, ...(await listSettlements(service, desks)) };
}

test("simulation: an answer of customs that cannot be booked fails alone", async (t) => {
  await isolates(t, "simulation", {
    async make(service) {
      const desks = await twoDealers(service);
      await sellAll(desks);
      const { areNot } = await listSettlements(service, desks);
      service.clock.advance({ seconds: 5 });
      const condition = `new.scrip_no = '${desks.bad.scripNo}' and new.state = 'delivered'`;
      return { table: "settlement_legs", condition, done: areNot("transfer_initiated") };
    },
  });
});

test("simulation: a deposit that cannot be booked delays no sales of another desk", async (t) => {
  await isolates(t, "simulation", {
    async make(service) {
      const { desks, areNot } = await unpaidBuys(service);
      service.clock.advance({ seconds: 30 });
      const condition = `new.firm_id = '${desks.bad.firmId}'`;
      return { table: "deposits", condition, done: areNot("pending") };
    },
  });
});

test("funding: a settlement whose money cannot be held fails alone", async (t) => {
  await isolates(t, "funding", {
    async make(service) {
      const { desks, badId, areNot } = await unpaidBuys(service);
      await payIn(service, desks.good.firmId, 3 * face);
      await payIn(service, desks.bad.firmId, face);
      const condition = `new.settlement_id = '${badId}'`;
      return { table: "settlements", condition, done: areNot("pending") };
    },
  });
});

/** Sales that wait for customs, which has come back. */
async function waitingSales(service: Service) {
  const desks = await twoDealers(service);
  await insertOutage(service.ctx.db, { ...registry, since: service.ctx.now(), note: "test" });
  await sellAll(desks);
  await deleteOutage(service.ctx.db, registry);
  return { desks, ...(await listSettlements(service, desks)) };
}

test("settlement: a settlement that cannot be initiated fails alone", async (t) => {
  await isolates(t, "settlement", {
    async make(service) {
      const { badId, areNot } = await waitingSales(service);
      const condition = `new.settlement_id = '${badId}'`;
      return { table: "settlements", condition, done: areNot("funded") };
    },
  });
});

test("control: a worker's set that is not split fails whole", async (t) => {
  const service = await startService(t);
  const { ids, badId, areNot } = await waitingSales(service);
  await poison(service, "settlements", `new.settlement_id = '${badId}'`);
  const now = service.ctx.now();
  const whole = service.ctx.db.transaction(async (tx) => {
    const settlements = await lockSettlements(tx, ids);
    await begin(tx, { environment: "sandbox", settlements, settlementHooks, now });
  });
  await assert.rejects(whole, /poisoned/);
  assert.deepEqual(await areNot("funded")(), [false, false, false, false]);
});

test("settlement: a locked credit delays no other settlement", async (t) => {
  const service = await startService(t);
  const { desks, areNot } = await waitingSales(service);
  const held = await hold(
    service,
    `select from credits where scrip_no = '${desks.bad.scripNo}' for update`,
  );
  await run(service, "settlement");
  assert.deepEqual(await areNot("funded")(), [true, true, true, false]);
  await held.letGo();
  await run(service, "settlement");
  assert.deepEqual(await areNot("funded")(), [true, true, true, true]);
  assert.equal(await setAside(service, "settlement"), 0, "what passes by itself is not set aside");
});

test("deadlines: a settlement whose end cannot be stored fails alone", async (t) => {
  await isolates(t, "deadlines", {
    async make(service) {
      const { badId, areNot } = await unpaidBuys(service);
      service.clock.advance({ days: 3 });
      const condition = `new.settlement_id = '${badId}'`;
      return { table: "settlements", condition, done: areNot("pending") };
    },
  });
});

test("cross-deadlines: a cross whose end cannot be stored fails alone", async (t) => {
  await isolates(t, "cross-deadlines", {
    async make(service) {
      const good = await traders(service, crores(3));
      const bad = await traders(service);
      const ids: string[] = [];
      for (const scripNo of good.seller.scripNos) {
        const proposed = await propose(good.seller, terms(good, { scrip_nos: [scripNo] }));
        ids.push(proposed.cross_id);
      }
      ids.push((await propose(bad.seller, terms(bad))).cross_id);
      service.clock.advance({ days: 30 });
      const done = async () =>
        (await listStates(service, "crosses", "cross_id", ids)).map((state) => state === "expired");
      return { table: "crosses", condition: `new.cross_id = '${ids[3]}'`, done };
    },
  });
});

test("payouts: a payout that cannot be sent fails alone", async (t) => {
  await isolates(t, "payouts", {
    async make(service) {
      const desks = await twoDealers(service);
      const held = await poison(service, "payouts", "new.state = 'sent'");
      await sellAll(desks);
      await letSettle(service);
      await held.heal();
      const rows = await query<{ payout_id: string }>(
        service,
        "select payout_id from payouts order by desk_id = $1, payout_id",
        [desks.bad.deskId],
      );
      const ids = rows.map((row) => row.payout_id);
      const done = async () =>
        (await listStates(service, "payouts", "payout_id", ids)).map(
          (state) => state !== "scheduled",
        );
      return { table: "payouts", condition: `new.payout_id = '${ids[3]}'`, done };
    },
  });
});

test("offboarding: a firm that cannot be offboarded fails alone", async (t) => {
  await isolates(t, "offboarding", {
    async make(service) {
      const firms = [];
      for (let n = 0; n < 4; n++) firms.push(await dealer(service));
      for (const { post, firmId, scripNo } of firms) {
        const order = { side: "sell", scrip_no: scripNo, limit_bps: 9_990 };
        const { body } = await post("/v1/orders", order, 201);
        await post(`/v1/firms/${firmId}/offboard`, { mode: "drain" }, 200);
        await post(`/v1/orders/${body.order_id}/cancel`, {}, 200);
      }
      const ids = firms.map(({ firmId }) => firmId);
      const done = async () => {
        const rows = await query<{ firm_id: string }>(
          service,
          "select firm_id from firms where connection_state = 'offboarded'",
        );
        return ids.map((id) => rows.some((row) => row.firm_id === id));
      };
      const condition = `new.firm_id = '${ids[3]}' and new.connection_state = 'offboarded'`;
      return { table: "firms", condition, done };
    },
  });
});

test("expiry: a credit whose end cannot be stored fails alone", async (t) => {
  await isolates(t, "expiry", {
    async make(service) {
      const { good, bad } = await twoDealers(service);
      service.clock.advance({ days: 1_000 });
      const scripNos = [...good.scripNos, bad.scripNo];
      const done = async () =>
        (await listStates(service, "credits", "scrip_no", scripNos)).map(
          (each) => each === "expired",
        );
      return { table: "credits", condition: `new.scrip_no = '${bad.scripNo}'`, done };
    },
  });
});

test("matching: a resting order whose deal cannot be stored fails alone", async (t) => {
  await isolates(t, "matching", {
    async make(service) {
      const desks = await twoDealers(service);
      const placed = await sellAll(desks, { limit_bps: 9_800 });
      await putCard(service, { mid_bps: 9_900 });
      const ids = placed.map(({ order_id }) => order_id);
      const done = async () =>
        (await listStates(service, "orders", "order_id", ids)).map((state) => state === "matched");
      const condition = `new.scrip_no = '${desks.bad.scripNo}'`;
      return { table: "settlement_legs", condition, done };
    },
  });
});

test("order-upkeep: a sell without its credit that cannot be cancelled fails alone", async (t) => {
  await isolates(t, "order-upkeep", {
    async make(service) {
      const { good, bad } = await twoDealers(service);
      const placed = await sellAll({ good, bad }, { limit_bps: 9_990 });
      const news = [...good.scripNos, bad.scripNo].map((scripNo) => ({
        scripNo,
        news: "cancel" as const,
        reason: "test",
      }));
      await applyRegistryNews(service.ctx, operator, { environment: "sandbox", news, onLost: [] });
      const ids = placed.map(({ order_id }) => order_id);
      const done = async () =>
        (await listStates(service, "orders", "order_id", ids)).map(
          (state) => state === "cancelled",
        );
      return { table: "orders", condition: `new.order_id = '${ids[3]}'`, done };
    },
  });
});

test("small-rests: a small remainder that cannot be cancelled fails alone", async (t) => {
  await isolates(t, "small-rests", {
    async make(service) {
      const buyer = await dealer(service, []);
      await payIn(service, buyer.firmId, 5 * face);
      const ids: string[] = [];
      // A buyer takes one credit of each amount, and leaves the other, which may not rest alone.
      for (let n = 0; n < 4; n++) {
        const { post, firmId } = await dealer(service, [
          { facePaise: face },
          { facePaise: 99_999 },
        ]);
        const amount = {
          side: "sell",
          scheme: "RODTEP",
          face_paise: face + 100_000,
          firm_id: firmId,
        };
        ids.push((await post("/v1/orders", { ...amount, limit_bps: 9_850 }, 201)).body.order_id);
        const buy = { side: "buy", scheme: "RODTEP", requirement_paise: face };
        await buyer.post("/v1/orders", { ...buy, firm_id: buyer.firmId }, 201);
      }
      const done = async () =>
        (await listStates(service, "orders", "order_id", ids)).map((state) => state !== "open");
      return { table: "orders", condition: `new.order_id = '${ids[3]}'`, done };
    },
  });
});

test("depth: an environment whose stock cannot be counted fails alone", async (t) => {
  const service = await startService(t);
  await putCard(service, { environment: "live" });
  await poison(service, "market_depths", "new.environment = 'sandbox'");
  await run(service, "depth");
  const counted = await query(service, "select distinct environment from market_depths");
  assert.deepEqual(counted, [{ environment: "live" }]);
  assert.ok((await setAside(service, "depth")) >= 1);
});

test("market: an environment whose updates cannot be written fails alone", async (t) => {
  const service = await startService(t);
  await putCard(service, { environment: "live" });
  await poison(service, "market_updates", "new.environment = 'sandbox'");
  await run(service, "market");
  const told = await query(service, "select distinct environment from market_updates");
  assert.deepEqual(told, [{ environment: "live" }]);
  assert.ok((await setAside(service, "market")) >= 1);
});

test("order-expiry: an order whose end cannot be stored fails alone", async (t) => {
  await isolates(t, "order-expiry", {
    async make(service) {
      const placed = await sellAll(await twoDealers(service), {
        limit_bps: 9_990,
        time_in_force: "GTD",
        expires_at: new Date(service.clock.now().getTime() + 60_000).toISOString(),
      });
      service.clock.advance({ days: 2 });
      const ids = placed.map(({ order_id }) => order_id);
      const done = async () =>
        (await listStates(service, "orders", "order_id", ids)).map((state) => state === "expired");
      return { table: "orders", condition: `new.order_id = '${ids[3]}'`, done };
    },
  });
});

test("fan-out: a subscription whose deliveries cannot be written fails alone", async (t) => {
  await isolates(t, "fan-out", {
    async make(service) {
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) {
        const { post, scripNo } = await dealer(service);
        const hook = { url: "http://127.0.0.1:3000/hook", event: "order.accepted" };
        ids.push((await post("/v1/webhooks", hook, 201)).body.webhook_id);
        await post("/v1/orders", { side: "sell", scrip_no: scripNo, limit_bps: 9_990 }, 201);
      }
      const done = async () => {
        const rows = await query<{ webhook_id: string }>(
          service,
          "select webhook_id from delivery_blocks",
        );
        return ids.map((id) => rows.some((row) => row.webhook_id === id));
      };
      return { table: "delivery_blocks", condition: `new.webhook_id = '${ids[3]}'`, done };
    },
  });
});

test("invoices: a fee that cannot be invoiced fails alone", async (t) => {
  await isolates(t, "invoices", {
    make: async (service) => {
      const rate = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
      const from = istDay(service.ctx.now());
      await setTax(service.ctx, operator, { environment: "sandbox", line: "gst", from, rate });
      const desks = [await openTestDesk(service), await openTestDesk(service)] as const;
      const fees = { buyer: noFee, seller: { feePaise: 4_000, gstPaise: 720 } };
      const ids: string[] = [];
      for (const seller of [desks[0], desks[0], desks[0], desks[1]]) {
        const legs = [{ seller, scripNo: await addCredit(service, seller), fees }];
        ids.push(await makeDeal(service, { buyer: house(), legs }));
      }
      for (let second = 0; second < 4; second++) {
        service.clock.advance({ seconds: 1 });
        await service.work(["invoices"]);
      }
      const done = async () => {
        const rows = await query<{ settlement_id: string; number: string }>(
          service,
          "select settlement_id, number::text from fee_invoices order by fee_invoices.number",
        );
        const numbers = rows.map(({ number }) => Number(number));
        assert.deepEqual(
          numbers,
          numbers.map((_, at) => at + 1),
        );
        return ids.map((id) => rows.some((row) => row.settlement_id === id));
      };
      return { table: "fee_invoices", condition: `new.firm_id = '${desks[1].firmId}'`, done };
    },
  });
});

test("index: a scheme whose figure cannot be fixed fails alone", async (t) => {
  const service = await startService(t);
  const deal = { environment: "live", facePaise: face, sellerBps: 9_800 } as const;
  await addDeals(service, [
    { ...deal, scheme: "RODTEP" },
    { ...deal, scheme: "ROSCTL" },
  ]);
  service.clock.advance({ days: 2 });
  await poison(service, "rate_index_days", "new.scheme = 'RODTEP'");
  await run(service, "index");
  const fixed = await query<{ scheme: string }>(
    service,
    "select distinct scheme from rate_index_days",
  );
  assert.deepEqual(fixed, [{ scheme: "ROSCTL" }]);
});

test("an item that was set aside is not retried in every run", async (t) => {
  const service = await startService(t);
  const desks = await twoDealers(service);
  await sellAll(desks);
  await poison(service, "settlement_legs", `new.scrip_no = '${desks.bad.scripNo}'`);
  service.clock.advance({ seconds: 5 });
  const works = service.workers().find(({ name }) => name === "simulation") ?? assert.fail();
  await works.work();
  const once = await setAside(service, "simulation");
  await works.work();
  assert.equal(await setAside(service, "simulation"), once, "it is not tried at every run");
  await assertOrdersSound(service);
});
