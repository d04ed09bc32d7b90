import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { type CardToday, priceBid, startingTerms } from "../rates/rules.ts";
import {
  findHighestBid,
  findHouseBid,
  listRestingTiers,
  listTiers,
  matchSell,
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
  gst_bps: 1_800,
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

test("a buy has a tier for each ask, without a sum that saves nothing", () => {
  const requirementPaise = 7_000_000;
  const [large, small] = listTiers(market, { requirementPaise, limitBps: null });
  assert.deepEqual(large, {
    least_paise: 5_000_000,
    most_paise: requirementPaise,
    price_max_bps: 9_980 - market.margin_bps,
    price_min_bps: 0,
    dealt_at: { price_bps: 9_980 },
  });
  assert.equal(small?.most_paise, 4_999_999);
  assert.deepEqual(small.dealt_at, { price_bps: 9_990 });
  // 999 paise cost 999 at 99.90 %; 1,000 cost 999.
  assert.equal(small.least_paise, 1_000);
  assert.deepEqual(listTiers(halted, { requirementPaise, limitBps: null }), []);
  assert.deepEqual(listTiers(market, { requirementPaise: 999, limitBps: null }), []);
});

test("below the ask a buy takes what other clients sell, at the dearest limit and the margin", () => {
  const tiers = listTiers(market, { requirementPaise: 7_000_000, limitBps: 9_985 });
  const small = { price_max_bps: 9_985 - market.margin_bps, price_min_bps: 1 };
  assert.deepEqual(
    tiers.map(({ price_max_bps, price_min_bps }) => ({ price_max_bps, price_min_bps })),
    [{ price_max_bps: 9_980 - market.margin_bps, price_min_bps: 0 }, small],
  );
  assert.deepEqual(tiers[1]?.dealt_at, { margin_bps: market.margin_bps });
  const below = listTiers(market, { requirementPaise: 7_000_000, limitBps: 9_979 });
  assert.equal(below.length, 1, "ranges that come to the same are one");
});

test("a resting buy takes from the house only sums whose ask is within its price", () => {
  const remainingPaise = 7_000_000;
  const fromHouse = (priceBps: number) =>
    listRestingTiers(market, buy({ priceBps, remainingPaise })).map(
      ({ price_min_bps }) => price_min_bps === 0,
    );
  assert.deepEqual(fromHouse(9_990), [true]);
  assert.deepEqual(fromHouse(9_980), [true, false]);
  assert.deepEqual(fromHouse(9_979), [false]);
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

test("a sell of several credits is not matched with a buy whose share of one could be too small", () => {
  const several = sell({ facePaise: 300_000_001, faces: [300_000_000, 1] });
  assert.equal(matchSell(market, [buy()], several)?.with, "house");
  assert.equal(matchSell(market, [buy()], sell({ facePaise: 300_000_001 }))?.with, "client");
});
