// A session holds a credit that orders want: whoever matches does not wait for it. A buy takes another
// credit; what needs the held one waits outside the matching, and is refused alone.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { recordPlans } from "../compat/plans.ts";
import { asOwner } from "../support/database.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { payIn } from "../support/ledger.ts";
import { type Held, holdRow } from "../support/locks.ts";
import { dealer } from "../support/orders.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const face = 25_000_000;
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);
const buildSell = (scripNo: string) => ({ side: "sell", scrip_no: scripNo });

async function buyer(service: Service) {
  const one = await dealer(service, []);
  await payIn(service, one.firmId, 10 * face);
  const cover = { side: "buy", scheme: "RODTEP", requirement_paise: face, firm_id: one.firmId };
  return { ...one, cover };
}

/** The first of these is the one that a buy takes. */
async function houseCredits(service: Service, many: number): Promise<string[]> {
  const stocked = await stockHouse(
    service.ctx,
    Array.from({ length: many }, () => ({ face_paise: face })),
  );
  return stocked.map(({ scrip_no }) => scrip_no);
}

async function holdCredit(t: TestContext, service: Service, scripNo = "") {
  const where = `scrip_no = '${scripNo}' and standing = 'live'`;
  return await holdRow(t, service, { table: "credits", where });
}

/** Whether any session waited for the held rows until the work was done; then `onSeen` is called. */
async function seesWaiting(
  { ctx }: Service,
  { pid }: Held,
  work: Promise<unknown>,
  onSeen = async () => {},
): Promise<boolean> {
  const progress = { isDone: false };
  const done = work.finally(() => (progress.isDone = true));
  let isSeen = false;
  await asOwner(ctx.db, async (owner) => {
    while (!progress.isDone) {
      const { rows } = await owner.query(
        `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
          and $1 = any(pg_blocking_pids(pid))`,
        [pid],
      );
      if (!isSeen && rows.length > 0) await onSeen();
      isSeen ||= rows.length > 0;
      await sleep(2);
    }
  });
  await done;
  return isSeen;
}

test("control: a session that waits for a held credit is seen", async (t) => {
  const service = await startService(t);
  const [only] = await houseCredits(service, 1);
  const held = await holdCredit(t, service, only);
  const waiting = service.ctx.db.pool.query("select from credits for update");
  assert.equal(await seesWaiting(service, held, waiting, held.release), true);
});

test("a buy skips a locked credit of the house and takes another without waiting", async (t) => {
  const service = await startService(t);
  const [first, second] = await houseCredits(service, 2);
  const { post, cover } = await buyer(service);
  const held = await holdCredit(t, service, first);
  const buying = post("/v1/orders", cover, 201);
  assert.equal(await seesWaiting(service, held, buying), false);
  assert.deepEqual((await buying).body.scrip_nos, [second]);
  await held.release();
  const { body } = await post("/v1/orders", cover, 201);
  assert.deepEqual(body.scrip_nos, [first], "what was held is on offer again");
  await assertOrdersSound(service);
});

test("a buy skips a locked resting sell and takes another", async (t) => {
  const service = await startService(t);
  const sellers = [await dealer(service), await dealer(service)];
  const { post, cover } = await buyer(service);
  for (const seller of sellers) {
    await seller.post("/v1/orders", { ...buildSell(seller.scripNo), limit_bps: 9_840 }, 201);
  }
  const buy = { ...cover, limit_bps: 10_000 };
  const tried = await post("/v1/orders", buy, 200, { "x-dry-run": "1" });
  const [first] = tried.body.scrip_nos;
  const held = await holdCredit(t, service, first);
  const { body } = await post("/v1/orders", buy, 201);
  assert.deepEqual(
    new Set([first, ...body.scrip_nos]),
    new Set(sellers.map(({ scripNo }) => scripNo)),
  );
  await held.release();
  assert.deepEqual((await post("/v1/orders", buy, 201)).body.scrip_nos, [first]);
  await assertOrdersSound(service);
});

test("a buy that only a locked credit fits is refused alone, with a retryable answer", async (t) => {
  const service = await startService(t);
  const [only] = await houseCredits(service, 1);
  const { post, cover } = await buyer(service);
  const other = await dealer(service, [{}, {}, { scheme: "ROSCTL" }]);
  const held = await holdCredit(t, service, only);
  const refused = [
    post("/v1/orders", cover, 0),
    post("/v1/orders", { ...cover, limit_bps: 10_000, time_in_force: "IOC" }, 0),
  ];
  const beside = other.scripNos.map((scripNo) => other.post("/v1/orders", buildSell(scripNo), 0));
  assert.equal(await seesWaiting(service, held, Promise.all([...refused, ...beside])), false);
  assert.deepEqual(statuses(await Promise.all(beside)), [201, 201, 201]);
  const answers = await Promise.all(refused);
  assert.deepEqual(statuses(answers), [500, 500]);
  assert.match(answers[0]?.body.message, /try again/);
  await held.release();
  assert.deepEqual((await post("/v1/orders", cover, 201)).body.scrip_nos, [only]);
  await assertOrdersSound(service);
});

test("a buy that may rest does so while its credit is locked, and is dealt afterwards", async (t) => {
  const service = await startService(t);
  const [only] = await houseCredits(service, 1);
  const { post, cover, read } = await buyer(service);
  const held = await holdCredit(t, service, only);
  const { body } = await post("/v1/orders", { ...cover, limit_bps: 10_000 }, 201);
  assert.equal(body.status, "open");
  await service.work();
  assert.equal((await read(body.order_id)).status, "open");
  await held.release();
  service.clock.advance({ seconds: 20 });
  await service.work();
  assert.deepEqual((await read(body.order_id)).scrip_nos, [only]);
  await assertOrdersSound(service);
});

test("of a batch only the orders that need a locked credit fail", async (t) => {
  const service = await startService(t);
  const [only] = await houseCredits(service, 1);
  const { post, cover } = await buyer(service);
  const own = await dealer(service, [{}, {}, {}]);
  const [one = "", two = "", three = ""] = own.scripNos;
  const held = [await holdCredit(t, service, only), await holdCredit(t, service, two)];
  const buys = { orders: [cover, { ...cover, limit_bps: 9_000 }] };
  const { body: bought } = await post("/v1/orders:batch", buys, 200);
  assert.deepEqual(statuses(bought.results), [500, 201]);
  const sells = { orders: [buildSell(one), buildSell(two), buildSell(three)] };
  const { body: sold } = await own.post("/v1/orders:batch", sells, 200);
  assert.deepEqual(statuses(sold.results), [201, 500, 201]);
  assert.equal(sold.results[1].error.code, "internal");
  const dry = await own.post("/v1/orders:batch", { orders: [buildSell(two)] }, 200, {
    "x-dry-run": "1",
  });
  assert.deepEqual(statuses(dry.body.results), [500]);
  for (const { release } of held) await release();
  await assertOrdersSound(service);
});

test("an order on a quote waits for its locked bundle outside the matching, and is placed when it is free", async (t) => {
  const service = await startService(t);
  const [first, second] = await houseCredits(service, 2);
  const { post, cover, firmId } = await buyer(service);
  const { firm_id: _, ...wanted } = cover;
  const { quote_ref } = (await post("/v1/quote", wanted, 200)).body;
  const quoted = { quote_ref, firm_id: firmId };
  const held = await holdCredit(t, service, first);
  const asked = post("/v1/orders", quoted, 0);
  assert.equal(await seesWaiting(service, held, asked), false);
  assert.equal((await asked).status, 500);
  const other = await post("/v1/orders", cover, 201);
  assert.deepEqual(other.body.scrip_nos, [second]);
  const again = post("/v1/orders", quoted, 201);
  await held.release();
  assert.deepEqual((await again).body.scrip_nos, [first]);
  await assertOrdersSound(service);
});

test("a forbidden order is refused whether or not its credit is locked", async (t) => {
  const service = await startService(t);
  const { scripNo } = await dealer(service);
  const stranger = await dealer(service);
  const held = await holdCredit(t, service, scripNo);
  assert.equal((await stranger.post("/v1/orders", buildSell(scripNo), 0)).status, 404);
  await held.release();
});

test("a batch whose balance is locked is retried whole, and placed when it is free", async (t) => {
  const service = await startService(t, { isNew: true });
  const plans = await recordPlans(service.ctx.db);
  const { post, scripNos, firmId } = await dealer(
    service,
    Array.from({ length: 40 }, () => ({})),
  );
  const [first = "", ...others] = scripNos;
  await post("/v1/orders", buildSell(first), 201);
  const held = await holdRow(t, service, {
    table: "ledger_balances",
    where: `firm_id = '${firmId}'`,
  });
  plans.take();
  const selling = post("/v1/orders:batch", { orders: others.map(buildSell) }, 200);
  for (let attempts = 0; attempts < 2; await sleep(2)) {
    attempts += plans.take().filter(({ text }) => text.includes("with matching as")).length;
  }
  await held.release();
  const { body } = await selling;
  assert.equal(body.submitted, others.length);
  const placedIn =
    "select count(distinct xmin::text)::int as sets from orders where scrip_no <> $1";
  const { rows } = await asOwner(service.ctx.db, async (owner) => {
    return await owner.query(placedIn, [first]);
  });
  assert.deepEqual(rows, [{ sets: 1 }]);
  await assertOrdersSound(service);
});

test("a batch waits for a balance that is locked for seconds, and its last try queues for it", async (t) => {
  const service = await startService(t, { isNew: true });
  const plans = await recordPlans(service.ctx.db);
  const { post, scripNos, firmId } = await dealer(
    service,
    Array.from({ length: 11 }, () => ({})),
  );
  const [first = "", ...others] = scripNos;
  await post("/v1/orders", buildSell(first), 201);
  const where = `firm_id = '${firmId}'`;
  const held = await holdRow(t, service, { table: "ledger_balances", where });
  plans.take();
  const selling = post("/v1/orders:batch", { orders: others.map(buildSell) }, 200);
  // At once, and after each of the six pauses.
  for (let attempts = 0; attempts < 7; await sleep(2)) {
    attempts += plans.take().filter(({ text }) => text.includes("with matching as")).length;
  }
  await held.whenWaiting(1);
  await sleep(50); // Longer than a part of a set waits.
  await held.release();
  assert.equal((await selling).body.submitted, others.length);
  const afterwards = plans.take().filter(({ text }) => text.includes("with matching as"));
  assert.deepEqual(afterwards, [], "nothing was split");
  await assertOrdersSound(service);
});
