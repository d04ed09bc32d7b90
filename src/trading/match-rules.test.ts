import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { Offer } from "../cover/rules.ts";
import { addedCeil, addedFloor, priceFloor } from "../kernel/money.ts";
import { type CardToday, priceAsk, priceBid, startingTerms } from "../rates/rules.ts";
import {
  coversSellerShare,
  filterPayable,
  findHighestBid,
  findHouseBid,
  findPool,
  findRestingPool,
  matchSell,
  priceBundle,
  type RestingBuy,
  type Sell,
} from "./match-rules.ts";

const market: CardToday = {
  ...startingTerms.RODTEP,
  environment: "sandbox",
  scheme: "RODTEP",
  version: 1,
  state: "open",
  published_at: new Date(0),
  published_by: "test",
  note: null,
  taken_paise: 0,
};
const halted: CardToday = { ...market, state: "halted" };

const sell = (over: Partial<Sell> = {}): Sell => ({
  facePaise: over.facePaise ?? 300_000_000,
  faces: [over.facePaise ?? 300_000_000],
  daysLeft: 400,
  pan: "AAAPA0000A",
  limitBps: null,
  quotedBps: null,
  ...over,
});
const buy = (over: Partial<RestingBuy> = {}): RestingBuy => ({
  orderId: "ord",
  pan: "BBBPB0000B",
  priceBps: 9_900,
  remainingPaise: 1_000_000_000,
  ...over,
});

test("a sell without resting buys is sold to the house at its bid", () => {
  const bid = priceBid(market, 300_000_000, 400);
  assert.deepEqual(matchSell(market, [], sell()), {
    with: "house",
    sellerBps: bid,
    buyerBps: bid,
  });
});

test("a resting buy that pays at least bid plus margin comes before the house", () => {
  const match = matchSell(market, [buy()], sell());
  assert.equal(match?.with, "client");
  assert.equal(match?.sellerBps, 9_900 - market.margin_bps);
  assert.equal(match?.buyerBps, 9_900);
});

test("a quoted sell gets its quoted price from any buyer, in an open or halted market", () => {
  assert.equal(matchSell(market, [buy()], sell({ quotedBps: 9_700 }))?.sellerBps, 9_700);
  assert.equal(matchSell(halted, [], sell({ quotedBps: 9_700 }))?.sellerBps, 9_700);
  assert.equal(matchSell(halted, [buy()], sell({ quotedBps: 9_700 }))?.with, "house");
});

test("without a bid of the house a sell without a limit is not matched", () => {
  assert.equal(matchSell(halted, [buy()], sell()), undefined);
  assert.equal(matchSell(undefined, [buy()], sell()), undefined);
  const spent = { ...market, taken_paise: market.house_limit_paise };
  assert.equal(matchSell(spent, [buy()], sell()), undefined);
  assert.equal(findHouseBid(spent, sell()), undefined);
});

test("firms of one PAN do not deal with each other, and no buy takes more than its remainder", () => {
  const bid = { with: "house", sellerBps: 9_810, buyerBps: 9_810 };
  assert.deepEqual(matchSell(market, [buy({ pan: "AAAPA0000A" })], sell()), bid);
  assert.deepEqual(matchSell(market, [buy({ remainingPaise: 299_999_999 })], sell()), bid);
});

test("no sell gets less than its limit, and the house keeps its margin between two clients", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          priceBps: fc.integer({ min: 9_500, max: 10_000 }),
          remainingPaise: fc.integer({ min: 1, max: 2_000_000_000 }),
        }),
        { maxLength: 6 },
      ),
      fc.integer({ min: 9_500, max: 10_000 }),
      fc.integer({ min: 1, max: 2_000_000_000 }),
      (orders, limitBps, facePaise) => {
        const resting = orders
          .map((order, at) => buy({ ...order, orderId: `ord_${at}` }))
          .toSorted((a, b) => b.priceBps - a.priceBps);
        const match = matchSell(market, resting, sell({ limitBps, facePaise }));
        const bid = findHouseBid(market, sell({ facePaise })) ?? 0;
        const best = resting.find(
          (order) =>
            order.remainingPaise >= facePaise &&
            order.priceBps - market.margin_bps >= Math.max(limitBps, bid),
        );
        if (!match) {
          assert.ok(!best && bid < limitBps);
          return;
        }
        assert.ok(match.sellerBps >= limitBps);
        assert.equal(match.with === "client", best !== undefined);
        if (match.with === "house") return;
        assert.equal(match.buy.orderId, best?.orderId);
        assert.ok(match.buyerBps - match.sellerBps >= market.margin_bps);
      },
    ),
  );
});

const offer = (limit_bps: number): Offer => ({
  scrip_no: "A",
  face_paise: 100,
  expires_on: 0,
  limit_bps,
  seller: "",
  order_id: limit_bps === 0 ? null : "ord",
});

test("a buy pays the ask for the whole bundle, or below it the dearest limit and the margin", () => {
  const requirementPaise = 200_000_000;
  const ask = priceAsk(market, requirementPaise);
  const atAsk = findPool(market, { requirementPaise, limitBps: null });
  assert.deepEqual(atAsk, { fromHouse: true, limitBpsMax: ask - market.margin_bps });
  assert.equal(atAsk && priceBundle(market, requirementPaise, atAsk, [offer(0)]), ask);
  const below = findPool(market, { requirementPaise, limitBps: ask - 1 });
  assert.deepEqual(below, { fromHouse: false, limitBpsMax: ask - 1 - market.margin_bps });
  const bundle = [offer(9_700), offer(9_750)];
  assert.equal(below && priceBundle(market, requirementPaise, below, bundle), 9_770);
  assert.equal(findPool(halted, { requirementPaise, limitBps: null }), undefined);
});

test("a resting buy takes from the house only when the ask is within its price", () => {
  const ask = priceAsk(market, 1_000_000_000);
  assert.equal(findRestingPool(market, buy({ priceBps: ask })).fromHouse, true);
  assert.equal(findRestingPool(market, buy({ priceBps: ask - 1 })).fromHouse, false);
});

test("no bid exceeds the highest bid, and both respect the limits of the house", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20_000_000_000 }),
      fc.integer({ min: -5, max: 900 }),
      (facePaise, days) => {
        const bid = findHouseBid(market, { facePaise, daysLeft: days });
        const highest = findHighestBid(market, facePaise);
        if (facePaise > market.face_max_paise) assert.equal(highest, undefined);
        assert.ok(bid === undefined || bid <= (highest ?? 0));
      },
    ),
  );
  assert.equal(findHighestBid(halted, 1), undefined);
});

test("the buyer's share of a credit covers the seller's share at any position in their orders", () => {
  const paise = fc.oneof(fc.nat({ max: 20_000 }), fc.nat({ max: 2 ** 40 }));
  const face = fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 2 ** 40 }));
  const bps = fc.integer({ min: 1, max: 10_000 });
  const margin = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100 }));
  fc.assert(
    fc.property(face, bps, margin, paise, paise, (facePaise, sellerBps, more, bought, sold) => {
      const buyerBps = Math.min(10_000, sellerBps + more);
      const pays = addedCeil(bought, facePaise, buyerBps);
      assert.ok(pays >= priceFloor(facePaise, sellerBps), "one credit alone is always paid for");
      if (!coversSellerShare(facePaise, buyerBps, sellerBps)) return;
      assert.ok(pays >= addedFloor(sold, facePaise, sellerBps));
    }),
  );
  assert.ok(
    coversSellerShare(500, 9_850, 9_830),
    "five rupees leave room at the margin of the first cards",
  );
  assert.ok(!coversSellerShare(1, 9_850, 9_830));
  assert.ok(!coversSellerShare(100, 9_830, 9_850));
});

test("a sell of several credits is not matched with a buy whose share of one could be too small", () => {
  const several = sell({ facePaise: 300_000_001, faces: [300_000_000, 1] });
  assert.equal(matchSell(market, [buy()], several)?.with, "house");
  assert.equal(matchSell(market, [buy()], sell({ facePaise: 300_000_001 }))?.with, "client");
});

test("filterPayable keeps offers of the house and sells that the price covers", () => {
  const offer = { scrip_no: "A", expires_on: 1, seller: "", order_id: "ord" };
  const offers = [
    { ...offer, face_paise: 1, limit_bps: 9_830 },
    { ...offer, face_paise: 1_000, limit_bps: 9_830 },
    { ...offer, face_paise: 1, limit_bps: 0, order_id: null },
  ];
  assert.deepEqual(filterPayable(offers, 9_850), offers.slice(1));
});
