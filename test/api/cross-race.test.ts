// Many at once on one cross, over two nodes. Whoever is first wins, once, and credits and money are
// where the winner left them.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import pg from "pg";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { bankWatch } from "../../src/bankbook/watch-deadlines.ts";
import { endOverdue } from "../../src/crosses/end-crosses.ts";
import { operator } from "../../src/kernel/actor.ts";
import { onLost } from "../../src/hooks.ts";
import {
  assertCrossesSound,
  crores,
  crossThatIs,
  propose,
  quoteFor,
  read,
  sums,
  terms,
  traders,
} from "../support/crosses.ts";
import { connectAgain, patient, testDatabase } from "../support/database.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { letSettle, readBalance } from "../support/settlements.ts";

const rounds = 8;

/**
 * Two nodes of one service; a party acts on either. Both wait for locks as long as it takes: who waited
 * too long would be told to try again, and would neither have won nor lost.
 */
async function twoNodes(t: TestContext) {
  const { db } = await testDatabase(t, { waits: patient });
  const service = await startService(t, { db });
  const beside = await startService(t, { beside: service, db: connectAgain(t, db, patient) });
  const on = (n: number, { key }: Dealer): Pick<Dealer, "post"> => ({
    post: async (path, body, _expect, headers) =>
      await (n % 2 === 0 ? service : beside).send("POST", path, {
        key,
        body,
        ...(headers && { headers }),
      }),
  });
  return { service, on };
}

async function tryAction(
  trader: Pick<Dealer, "post">,
  cross: Answer["body"],
  action: string,
  body: object = {},
): Promise<number> {
  return (await trader.post(`/v1/cross/${cross.cross_id}/${action}`, body, 0)).status;
}

/** Each of two is first on the wire half the time; the answers are in the order they are given. */
async function race<A, B>(
  n: number,
  one: () => Promise<A>,
  other: () => Promise<B>,
): Promise<[A, B]> {
  if (n % 4 < 2) return await Promise.all([one(), other()]);
  const [second, first] = await Promise.all([other(), one()]);
  return [first, second];
}

function countEach(items: readonly (string | number)[]): Record<string, number> {
  const groups = Map.groupBy(items, String);
  return Object.fromEntries([...groups].map(([item, all]) => [item, all.length]));
}

test("concurrent accepts and cancels of a cross are serialized", async (t) => {
  const { service, on } = await twoNodes(t);
  const parties = await traders(service, crores(rounds));
  const { seller, buyer } = parties;
  const endings: string[] = [];
  for (const [n, scripNo] of seller.scripNos.entries()) {
    const cross = await propose(seller, terms(parties, { scrip_nos: [scripNo] }));
    const [accepted, cancelled] = await race(
      n,
      async () => await tryAction(on(n, buyer), cross, "accept", { terms_hash: cross.terms_hash }),
      async () => await tryAction(on(n + 1, seller), cross, "cancel"),
    );
    const { status, history } = await read(seller, cross);
    const wasAgreed = history.some((step: { status: string }) => step.status === "agreed");
    assert.deepEqual([status, cancelled], ["cancelled", 200]);
    assert.equal(accepted, wasAgreed ? 200 : 409);
    assert.equal((await seller.credit(scripNo)).status, "listed");
    endings.push(wasAgreed ? "agreed first" : "cancelled first");
  }
  t.diagnostic(JSON.stringify(countEach(endings)));
  await assertCrossesSound(service);
});

test("of a concurrent release and a deadline refund exactly one wins", async (t) => {
  const { service, on } = await twoNodes(t);
  const parties = await traders(service, crores(rounds));
  const { seller, buyer } = parties;
  const endings: string[] = [];
  for (const [n, scripNo] of seller.scripNos.entries()) {
    const cross = await crossThatIs(parties, "funded", { scrip_nos: [scripNo] });
    service.clock.advance({ seconds: 900 });
    const [released] = await race(
      n,
      async () => await tryAction(on(n, seller), cross, "release"),
      async () => await endOverdue(service.ctx, bankWatch).catch(() => "gave way"),
    );
    await endOverdue(service.ctx, bankWatch);
    const { status } = await read(buyer, cross);
    assert.equal(released, status === "released" ? 200 : 409);
    if (status !== "released") assert.equal(status, "refunded");
    endings.push(status);
  }
  t.diagnostic(JSON.stringify(countEach(endings)));
  const released = endings.filter((ending) => ending === "released").length;
  await letSettle(service);
  const { available_paise, escrow_paise, posted_paise } = await readBalance(service, buyer);
  assert.equal(escrow_paise, 0);
  assert.equal(available_paise, posted_paise);
  const holding = seller.scripNos.map(async (scripNo) => (await seller.credit(scripNo)).status);
  const sold = (await Promise.all(holding)).filter((status) => status === "transferred");
  assert.equal(sold.length, released);
  await assertCrossesSound(service);
});

test("of several desks with one IEC exactly one accepts a cross, and the others no longer see it", async (t) => {
  const { service, on } = await twoNodes(t);
  const parties = await traders(service, crores(4));
  const { seller, buyer } = parties;
  const others = await Promise.all(
    Array.from({ length: 3 }, async () => await dealer(service, [], { pan: buyer.pan })),
  );
  for (const [n, scripNo] of seller.scripNos.entries()) {
    const cross = await propose(seller, terms(parties, { scrip_nos: [scripNo] }));
    const statuses = await Promise.all(
      [buyer, ...others].map(async (trader, at) => {
        const accept = { terms_hash: cross.terms_hash };
        return await tryAction(on(n + at, trader), cross, "accept", accept);
      }),
    );
    assert.deepEqual(countEach(statuses), { 200: 1, 404: 3 });
    assert.equal((await read(seller, cross)).status, "agreed");
  }
  await assertCrossesSound(service);
});

test("concurrent retries of one payment fund a cross once", async (t) => {
  const { service, on } = await twoNodes(t);
  const parties = await traders(service);
  const { buyer } = parties;
  const cross = await crossThatIs(parties, "agreed");
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const payment = { payment_ref: n % 4 === 0 ? "OTHER" : "ONE" };
      return { ...payment, status: await tryAction(on(n, buyer), cross, "fund", payment) };
    }),
  );
  const { payment_ref } = await read(buyer, cross);
  for (const sent of statuses) {
    assert.equal(sent.status, sent.payment_ref === payment_ref ? 200 : 409);
  }
  assert.equal((await readBalance(service, buyer)).escrow_paise, sums.buyer);
  await assertCrossesSound(service);
});

test("one balance that funds several crosses concurrently is never held twice", async (t) => {
  const { service, on } = await twoNodes(t);
  const parties = await traders(service, crores(8));
  const { seller, buyer } = parties;
  const crosses = await Promise.all(
    seller.scripNos.map(
      async (scripNo) => await crossThatIs(parties, "agreed", { scrip_nos: [scripNo] }),
    ),
  );
  const statuses = await Promise.all(
    crosses.map(
      async (cross, n) => await tryAction(on(n, buyer), cross, "fund", { payment_ref: `PAY-${n}` }),
    ),
  );
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.equal((await readBalance(service, buyer)).escrow_paise, 8 * sums.buyer);
  await assertCrossesSound(service);
});

test("a credit in many concurrent crosses is reserved for one", async (t) => {
  const { service, on } = await twoNodes(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const crosses = await Promise.all(
    Array.from({ length: 12 }, async () => await propose(seller, terms(parties))),
  );
  const statuses = await Promise.all(
    crosses.map(async (cross, n) => {
      return await tryAction(on(n, buyer), cross, "accept", { terms_hash: cross.terms_hash });
    }),
  );
  assert.deepEqual(countEach(statuses), { 200: 1, 409: crosses.length - 1 });
  await assertCrossesSound(service);
});

test("concurrent proposals of one quote make one cross", async (t) => {
  const { service, on } = await twoNodes(t);
  const parties = await traders(service);
  const { cross_quote_ref } = await quoteFor(parties.seller, terms(parties));
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const headers = n % 2 === 0 ? { "idempotency-key": "one" } : {};
      return await on(n, parties.seller).post("/v1/cross", { cross_quote_ref }, 0, headers);
    }),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.ok(answers.every(({ status }) => [200, 201, 409].includes(status)));
  assert.equal((await parties.seller.get("/v1/cross")).crosses.length, 1);
});

test("registry news and actions of the parties do not deadlock", async (t) => {
  const { service, on } = await twoNodes(t);
  const parties = await traders(service, crores(rounds));
  const { seller, buyer } = parties;
  const endings: string[] = [];
  for (const [n, scripNo] of seller.scripNos.entries()) {
    const cross = await crossThatIs(parties, "funded", { scrip_nos: [scripNo] });
    const [released] = await race(
      n,
      async () => await tryAction(on(n, seller), cross, "release"),
      async () => await suspend(service, scripNo),
    );
    assert.ok([200, 409].includes(released), String(released));
    await letSettle(service, 2);
    service.clock.advance({ seconds: 900 });
    await service.work();
    const { status } = await read(buyer, cross);
    assert.ok(["refunded", "failed", "settled"].includes(status), status);
    endings.push(status);
  }
  t.diagnostic(JSON.stringify(countEach(endings)));
  assert.equal((await readBalance(service, buyer)).escrow_paise, 0);
  await assertCrossesSound(service);
});

async function suspend({ ctx }: Service, scripNo: string): Promise<void> {
  const news = [{ scripNo, news: "suspend", reason: "a question" }] as const;
  await applyRegistryNews(ctx, operator, { environment: "sandbox", news, onLost });
}

test("control: a release and a refund that check before they write both win", async (t) => {
  const { connection } = await testDatabase(t);
  const pool = new pg.Pool({ ...connection, max: 4 });
  pool.on("error", () => {}); // A connection may outlive the pool until its database is dropped.
  await pool.query("create table naive_crosses (cross_id int primary key, state text)");
  await pool.query("insert into naive_crosses select n, 'funded' from generate_series(1, 40) as n");
  const move = async (crossId: number, to: string) => {
    const found = await pool.query("select state from naive_crosses where cross_id = $1", [
      crossId,
    ]);
    if (found.rows[0].state !== "funded") return 0;
    await pool.query("update naive_crosses set state = $2 where cross_id = $1", [crossId, to]);
    return 1;
  };
  let bothWon = 0;
  for (let crossId = 1; crossId <= 40; crossId++) {
    const won = await Promise.all([move(crossId, "released"), move(crossId, "refunded")]);
    if (won[0] + won[1] === 2) bothWon += 1;
  }
  await pool.end();
  t.diagnostic(`${bothWon} of 40`);
  assert.ok(bothWon > 0);
});
