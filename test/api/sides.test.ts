// A settlement has many sides, and each reads what became of its own credits and money: its order, its
// settlement, its events, its statement and its positions say what the books say of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { assertOrdersSound } from "../support/invariants.ts";
import { mintChild } from "../support/keys.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { readRuns } from "../support/random.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  face,
  letSettle,
  makeDeal,
  openTestDesk,
  readBalance,
  readSettlement,
  sellerPaise,
} from "../support/settlements.ts";

type Body = Answer["body"];

async function restSell(service: Service, seller: Dealer, ending: string): Promise<Body> {
  const scripNo = await addCredit(service, seller, ending);
  const body = { side: "sell", scrip_no: scripNo, limit_bps: 9_800 };
  return (await seller.post("/v1/orders", body, 201)).body;
}

async function buy({ post, firmId }: Dealer, credits: number): Promise<Body> {
  const cover = { side: "buy", scheme: "RODTEP", requirement_paise: credits * face };
  const terms = { ...cover, limit_bps: 9_900, firm_id: firmId };
  return (await post("/v1/orders", terms, 201)).body;
}

async function eventsAbout({ get }: Dealer, noun: string): Promise<Body[]> {
  const { events } = await get("/v1/events?limit=200");
  return events.filter(({ event }: Body) => event.startsWith(`${noun}.`));
}

const pickName = ({ event }: Body) => event as string;

test("in a mixed bundle the seller whose only credit was refused sees a failed settlement", async (t) => {
  const service = await startService(t);
  const [paid, refused, buyer] = [
    await dealer(service, []),
    await dealer(service, []),
    await dealer(service, []),
  ];
  const sold = await restSell(service, paid, "0001");
  const unsold = await restSell(service, refused, "0409");
  const bought = await buy(buyer, 2);
  assert.equal(bought.status, "matched");
  await letSettle(service, 6);

  const order = await refused.read(unsold.order_id);
  assert.deepEqual(
    [order.status, order.settlement_status, order.settled_paise],
    ["failed", "failed", 0],
  );
  assert.equal((await refused.credit(unsold.scrip_nos[0])).status, "listed", "free again");
  const failed = await refused.get(`/v1/settlements/${bought.settlement_id}`);
  assert.deepEqual(
    [failed.status, failed.reason, failed.waiting_on, failed.due_at],
    ["failed", "refused", "none", null],
  );
  assert.deepEqual([failed.sides[0].status, failed.sides[0].settled_paise], ["failed", 0]);
  assert.equal(failed.history.at(-1).status, "failed");
  assert.ok(!failed.history.some(({ status }: Body) => status === "settled"));
  const told = (await eventsAbout(refused, "settlement")).map(pickName);
  assert.equal(told.at(-1), "settlement.failed");
  assert.ok(!told.includes("settlement.settled"));
  assert.equal((await eventsAbout(refused, "order")).at(-1)?.event, "order.failed");
  assert.equal((await eventsAbout(refused, "payout")).length, 0);
  const { notes } = await refused.get(`/v1/settlements/${bought.settlement_id}/contract-note`);
  assert.deepEqual([notes[0].status, notes[0].settled_paise], ["failed", 0]);

  const other = await paid.read(sold.order_id);
  assert.deepEqual([other.status, other.settlement_status], ["matched", "settled"]);
  assert.equal(other.settled_paise, other.all_in_paise);
  const settled = await paid.get(`/v1/settlements/${bought.settlement_id}`);
  assert.deepEqual([settled.status, settled.sides[0].status], ["settled", "settled"]);

  const half = await buyer.read(bought.order_id);
  assert.deepEqual([half.status, half.settlement_status], ["matched", "settled"]);
  assert.ok(half.settled_paise > 0 && half.settled_paise < half.all_in_paise);

  const countFailed = async (who: Dealer) =>
    (await who.get("/v1/settlements?status=failed")).settlements.length;
  const countSettled = async (who: Dealer) =>
    (await who.get("/v1/settlements?status=settled")).settlements.length;
  assert.deepEqual([await countFailed(refused), await countSettled(refused)], [1, 0]);
  assert.deepEqual([await countFailed(paid), await countSettled(paid)], [0, 1]);
  assert.deepEqual([await countFailed(buyer), await countSettled(buyer)], [0, 1]);
  await assertOrdersSound(service);
});

test("an ended side does not wait for other sides' credits", async (t) => {
  const service = await startService(t);
  const [quick, silent, buyer] = [
    await dealer(service, []),
    await dealer(service, []),
    await dealer(service, []),
  ];
  const refused = await restSell(service, quick, "0409");
  const awaited = await restSell(service, silent, "0408");
  const { settlement_id } = await buy(buyer, 2);
  await letSettle(service, 6);
  const over = await quick.get(`/v1/settlements/${settlement_id}`);
  assert.deepEqual([over.status, over.history.at(-1).status], ["failed", "failed"]);
  assert.equal((await quick.read(refused.order_id)).status, "failed");
  assert.equal((await silent.read(awaited.order_id)).settlement_status, "transfer_initiated");
  const open = await buyer.get(`/v1/settlements/${settlement_id}`);
  assert.deepEqual([open.status, open.waiting_on], ["transfer_initiated", "customs"]);
  // What failed has nothing open that would keep its firm from leaving.
  await quick.post(`/v1/firms/${quick.firmId}/offboard`, {}, 200);

  service.clock.advance({ seconds: 60 });
  await letSettle(service, 2);
  const told = (await eventsAbout(quick, "settlement")).map(pickName);
  assert.equal(told.filter((name) => name === "settlement.failed").length, 1, "told once");
  assert.deepEqual((await quick.get(`/v1/settlements/${settlement_id}`)).history, over.history);
  assert.equal((await buyer.get(`/v1/settlements/${settlement_id}`)).status, "failed");
  await assertOrdersSound(service);
});

test("a desk with several sides sees settled if any side was delivered, and each side separately", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const sibling = { deskId: desk.deskId, firmId: desk.deskId };
  const buyer = await openTestDesk(service);
  const refused = await addCredit(service, desk, "0409");
  const legs = [
    { seller: desk, scripNo: refused },
    { seller: sibling, scripNo: await addCredit(service, sibling) },
  ];
  const settlementId = await makeDeal(service, { buyer, legs });
  await letSettle(service, 6);
  const settled = await readSettlement(service, desk, settlementId);
  assert.equal(settled.status, "settled");
  assert.deepEqual(
    settled.sides.map(({ firm_id, status, settled_paise }: Body) => [
      firm_id,
      status,
      settled_paise,
    ]),
    [
      [desk.firmId, "failed", 0],
      [desk.deskId, "settled", sellerPaise],
    ],
  );
  const bound = await mintChild(service, desk.key, { kind: "sub_account", firm_id: desk.firmId });
  const own = await readSettlement(service, { key: bound.api_key }, settlementId);
  assert.deepEqual([own.status, own.sides.length], ["failed", 1]);
  const { body: failed } = await service.send("GET", "/v1/settlements?status=failed", {
    key: bound.api_key,
    expect: 200,
  });
  assert.equal(failed.settlements.length, 1);
  const bought = await readSettlement(service, buyer, settlementId);
  assert.deepEqual([bought.status, bought.sides[0].settled_paise], ["settled", buyerPaise]);
});

test("a resting buy whose only settlement failed ends cancelled, not matched", async (t) => {
  const service = await startService(t);
  const [seller, buyer] = [await dealer(service, []), await dealer(service, [])];
  const first = await buy(buyer, 2);
  assert.equal(first.status, "open");
  await restSell(service, seller, "0409");
  await letSettle(service, 6);
  assert.equal((await buyer.read(first.order_id)).settlement_status, "failed");
  const { body: cancelled } = await buyer.post(`/v1/orders/${first.order_id}/cancel`, {}, 200);
  assert.deepEqual([cancelled.status, cancelled.settled_paise], ["cancelled", 0]);
  assert.equal((await eventsAbout(buyer, "order")).at(-1)?.event, "order.cancelled");
  await buyer.post(`/v1/orders/${first.order_id}/cancel`, {}, 200);

  const second = await buy(buyer, 2);
  await restSell(service, seller, "0409");
  const { body: matched } = await buyer.post(`/v1/orders/${second.order_id}/cancel`, {}, 200);
  assert.equal(matched.status, "matched", "its deal may still settle");
  await letSettle(service, 6);
  assert.equal((await buyer.read(second.order_id)).status, "failed");
  await buyer.post(`/v1/orders/${second.order_id}/cancel`, {}, 200);
  await assertOrdersSound(service);
});

const endings = ["0001", "0001", "0409", "0407", "0408"] as const;

const market = fc.record({
  /** The credits of each seller, by what customs will do with them. */
  sellers: fc.array(fc.array(fc.constantFrom(...endings), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  }),
  more: fc.integer({ min: 0, max: 2 }),
  buysFirst: fc.boolean(),
  cancels: fc.constantFrom("never", "before", "after"),
});

type Reading = {
  readonly who: Dealer;
  readonly side: "sell" | "buy";
  readonly heldBefore: number;
};

/** What one side reads in five places, against what its ledger says. */
async function assertOwnTruth(service: Service, { who, side, heldBefore }: Reading) {
  const { settlements } = await who.get("/v1/settlements?limit=200");
  const sides: Body[] = settlements.flatMap((settlement: Body) => settlement.sides);
  const total = (of: (item: Body) => number, items: readonly Body[]) =>
    items.reduce((sum, item) => sum + of(item), 0);
  const settled = total((own) => own.settled_paise, sides);
  const delivered = total(
    (own) => own.face_paise,
    sides.flatMap((own) => own.legs.filter(({ status }: Body) => status === "delivered")),
  );
  const events = await eventsAbout(who, "settlement");
  for (const settlement of settlements) {
    const [own] = settlement.sides;
    const expected = own.settled_paise > 0 ? "settled" : "failed";
    assert.deepEqual([settlement.status, own.status], [expected, expected]);
    assert.equal(own.settled_paise + own.undelivered_paise, own.all_in_paise);
    const about = events.filter(({ entity }) => entity.id === settlement.settlement_id);
    assert.equal(about.at(-1)?.event, `settlement.${expected}`);
    assert.equal(about.at(-1)?.data.settled_paise, own.settled_paise);
    assert.equal(settlement.history.at(-1).status, expected);
    const filtered = await who.get(`/v1/settlements?status=${expected}&limit=200`);
    assert.ok(
      filtered.settlements.some((row: Body) => row.settlement_id === settlement.settlement_id),
    );
  }
  const orders = await who.list("?limit=200");
  assert.equal(
    total((order) => order.settled_paise ?? 0, orders),
    settled,
    "orders add up to what was settled",
  );
  for (const order of orders) {
    const dealt = order.settlement_ids.length > 0;
    const isOver = order.status !== "open";
    if (dealt && isOver) {
      assert.equal(order.status === "matched", order.settled_paise > 0, JSON.stringify(order));
    }
    const told = (await eventsAbout(who, "order")).findLast(
      ({ entity }) => entity.id === order.order_id,
    );
    assert.equal(told?.data.status, order.status);
  }
  const statement = await who.get(`/v1/statements/2026-11?firm_id=${who.firmId}`);
  const kind = side === "sell" ? "sale" : "purchase";
  const dealt = statement.totals.filter((row: Body) => [kind, "fee", "gst"].includes(row.kind));
  const told = Math.abs(total((row) => row.amount_paise, dealt));
  assert.equal(told, settled, "the statement says the same");
  const positions = await who.get(`/v1/positions?firm_id=${who.firmId}`);
  const held = total((scheme) => scheme.held_paise, positions.schemes);
  const suspended = total(
    (credit) => credit.face_paise,
    (await who.get(`/v1/firms/${who.firmId}/credits?limit=200`)).credits.filter(
      ({ status }: Body) => status === "suspended",
    ),
  );
  const gained = side === "sell" ? -delivered : delivered;
  assert.equal(held + suspended, heldBefore + gained, "and so does what it holds");
  const { payouts } = await who.get("/v1/payouts?limit=200");
  assert.equal(
    total((payout) => payout.amount_paise, payouts),
    side === "sell" ? settled : 0,
  );
  const balance = await readBalance(service, who);
  assert.equal(balance.escrow_paise, 0);
  assert.equal(balance.available_paise, positions.cash.available_paise);
}

test("each side's view equals its ledger, for any refusals and cancellations", async (t) => {
  const service = await startService(t);
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(market, async ({ sellers, more, buysFirst, cancels }) => {
      const buyer = await dealer(service, []);
      const desks: { who: Dealer; count: number }[] = [];
      for (const credits of sellers) {
        desks.push({ who: await dealer(service, []), count: credits.length });
      }
      const wanted = sellers.flat().length + more;
      const early = buysFirst ? await buy(buyer, wanted) : undefined;
      for (const [at, credits] of sellers.entries()) {
        for (const ending of credits) {
          const who = desks[at]?.who;
          if (who) await restSell(service, who, ending);
        }
      }
      const order = early ?? (await buy(buyer, wanted));
      const cancel = async () => {
        if ((await buyer.read(order.order_id)).status !== "open") return;
        await buyer.post(`/v1/orders/${order.order_id}/cancel`, {}, 200);
      };
      if (cancels === "before") await cancel();
      await letSettle(service, 5);
      service.clock.advance({ seconds: 60 });
      await letSettle(service, 4);
      if (cancels === "after") await cancel();
      await assertOwnTruth(service, { who: buyer, side: "buy", heldBefore: 0 });
      for (const { who, count } of desks) {
        await assertOwnTruth(service, { who, side: "sell", heldBefore: count * face });
      }
      const { status } = await buyer.read(order.order_id);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      // What still rests would be dealt with the next market's.
      await cancel();
    }),
    { numRuns: readRuns(7), seed: 20_261_115, endOnFailure: true },
  );
  for (const status of ["matched", "failed", "cancelled"]) {
    assert.ok((seen.get(status) ?? 0) > 0, `no buy ended ${status}: ${JSON.stringify([...seen])}`);
  }
  await assertOrdersSound(service);
});
