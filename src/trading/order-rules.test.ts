import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import { priceCeil, priceFloor } from "../kernel/money.ts";
import {
  type DealFields,
  dealPart,
  endRest,
  findRemainingPaise,
  type OrderFields,
  orderLifecycle,
  orderStates,
  parseIntent,
  splitLegFees,
} from "./order-rules.ts";

const now = new Date("2026-11-16T10:00:00+05:30");

test("an order moves only as the table says", () => {
  for (const [action, move] of Object.entries(orderLifecycle.moves)) {
    for (const state of orderStates) {
      const go = () => advance(orderLifecycle, state, action as keyof typeof orderLifecycle.moves);
      if ((move.from as readonly string[]).includes(state)) assert.equal(go(), move.to);
      else assert.throws(go, Failure);
    }
  }
});

const combinations: readonly [string, OrderFields, string[] | "ok"][] = [
  ["a quote alone", { quote_ref: "q" }, "ok"],
  ["a quote for a firm", { quote_ref: "q", firm_id: "f", client_ref: "c" }, "ok"],
  ["a quote with a side", { quote_ref: "q", side: "sell" }, ["side"]],
  ["a quote with a limit", { quote_ref: "q", limit_bps: 1 }, ["limit_bps"]],
  ["nothing", {}, ["side"]],
  ["a side alone", { side: "sell" }, ["scheme", "face_paise"]],
  ["a credit", { side: "sell", scrip_no: "A" }, "ok"],
  ["a credit with a scheme", { side: "sell", scrip_no: "A", scheme: "RODTEP" }, ["scheme"]],
  ["an amount", { side: "sell", scheme: "RODTEP", face_paise: 1 }, "ok"],
  ["an amount to buy", { side: "buy", scheme: "RODTEP", requirement_paise: 1 }, "ok"],
  ["a credit to buy", { side: "buy", scrip_no: "A" }, ["scrip_no", "scheme", "requirement_paise"]],
  [
    "a requirement to sell",
    { side: "sell", scheme: "RODTEP", requirement_paise: 1 },
    ["requirement_paise", "face_paise"],
  ],
  ["a rest without a limit", { side: "sell", scrip_no: "A", time_in_force: "GTC" }, ["limit_bps"]],
  [
    "a date without a day",
    { side: "sell", scrip_no: "A", limit_bps: 1, time_in_force: "GTD" },
    ["expires_at"],
  ],
  [
    "a day that has passed",
    {
      side: "sell",
      scrip_no: "A",
      limit_bps: 1,
      time_in_force: "GTD",
      expires_at: "2026-11-16T10:00:00+05:30",
    },
    ["expires_at"],
  ],
  [
    "a day without a date",
    { side: "sell", scrip_no: "A", limit_bps: 1, expires_at: "2026-12-16T10:00:00+05:30" },
    ["expires_at"],
  ],
];

for (const [what, fields, expected] of combinations) {
  test(`an order of ${what} is ${expected === "ok" ? "understood" : "refused by field"}`, () => {
    if (expected === "ok") {
      assert.doesNotThrow(() => parseIntent(fields, now));
      return;
    }
    assert.throws(
      () => parseIntent(fields, now),
      (error: Failure) => {
        assert.equal(error.code, "unprocessable");
        const { fields: problems } = error.detail as { fields: { path: string }[] };
        const paths = problems.map(({ path }) => path);
        assert.deepEqual(paths, expected);
        return true;
      },
    );
  });
}

test("an order is IOC without a limit and GTC with one", () => {
  const sell = { side: "sell", scrip_no: "A" } as const;
  assert.equal(parseIntent(sell, now).timeInForce, "IOC");
  assert.equal(parseIntent({ ...sell, limit_bps: 9_800 }, now).timeInForce, "GTC");
});

function newOrder(side: "sell" | "buy", faces: readonly number[]): DealFields {
  const sum = faces.reduce((total, face) => total + face, 0);
  const scripNos = faces.map((_, at) => `S${at}`);
  return {
    side,
    state: "open",
    requirement_paise: side === "buy" ? sum : null,
    scrip_nos: side === "sell" ? scripNos : [],
    resting_scrip_nos: side === "sell" ? scripNos : [],
    covered_paise: side === "sell" ? sum : 0,
    dealt_paise: 0,
    price_bps: null,
    all_in_paise: 0,
    settlement_ids: [],
    history: [],
  };
}

test("all_in_paise is the exact rounding of the dealt face, for any number of deals", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("sell" as const, "buy" as const),
      fc.array(fc.integer({ min: 1, max: 1_000_000_007 }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 10_000 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 8, maxLength: 8 }),
      (side, faces, priceBps, cuts) => {
        let order = newOrder(side, faces);
        const credits = faces.map((facePaise, at) => ({ scripNo: `S${at}`, facePaise }));
        const round = side === "sell" ? priceFloor : priceCeil;
        let paid = 0;
        for (let part = 0; credits.length > 0; part++) {
          const taken = credits.splice(0, cuts[part] ?? 1);
          const settlementId = `stl_${part}`;
          const dealt = dealPart(
            order,
            { settlementId, credits: taken, priceBps },
            { rests: true, now },
          );
          order = dealt.order;
          paid += dealt.shares.reduce((sum, share) => sum + share, 0);
          assert.equal(order.all_in_paise, round(order.dealt_paise, priceBps));
          assert.equal(order.all_in_paise, paid);
          assert.ok(dealt.shares.every((share) => share >= 0));
        }
        assert.equal(order.state, "matched");
        assert.equal(findRemainingPaise(order), 0);
      },
    ),
  );
});

test("one order has one price", () => {
  const part = (priceBps: number, scripNo: string) => ({
    settlementId: "stl",
    credits: [{ scripNo, facePaise: 100 }],
    priceBps,
  });
  const once = dealPart(newOrder("sell", [100, 100]), part(9_800, "S0"), { rests: true, now });
  assert.throws(() => dealPart(once.order, part(9_700, "S1"), { rests: true, now }));
});

test("deals stand when the remainder of an order is cancelled or expires", () => {
  const order = newOrder("sell", [100, 100]);
  const reason = "requested";
  assert.equal(endRest(order, { how: "cancelled", reason, now }).state, "cancelled");
  const part = { settlementId: "stl", credits: [{ scripNo: "S0", facePaise: 100 }], priceBps: 1 };
  const dealt = dealPart(order, part, { rests: true, now }).order;
  const ended = endRest(dealt, { how: "expired", reason: null, now });
  assert.equal(ended.state, "matched");
  assert.equal(ended.history.at(-1)?.reason, "rest_expired");
  assert.deepEqual(ended.resting_scrip_nos, []);
});

test("a buy that does not rest ends as matched with a partial bundle", () => {
  const part = {
    settlementId: "stl",
    credits: [{ scripNo: "S0", facePaise: 60 }],
    priceBps: 9_890,
  };
  const { order } = dealPart(newOrder("buy", [100]), part, { rests: false, now });
  assert.equal(order.state, "matched");
  assert.equal(order.covered_paise, 60);
});

test("fee and tax of a leg follow the card's rate, within the margin of the house", () => {
  const card = { fee_bps: 5, half_spread_bps: 40, gst_bps: 1_800 };
  const face = 10_000_000;
  const between = {
    facePaise: face,
    sellerPaise: 9_765_000,
    buyerPaise: 9_785_001,
    sellerOrderId: "ord_s",
    buyerOrderId: "ord_b",
  };
  // ₹1,00,000 at 5 bps is ₹50, with 18 % on it ₹9.
  const fee = { feePaise: 5_000, gstPaise: 900 };
  const none = { feePaise: 0, gstPaise: 0 };
  const toHouse = { ...between, buyerOrderId: null };
  const fromHouse = { ...between, sellerOrderId: null };
  assert.deepEqual(splitLegFees(card, toHouse), { buyer: none, seller: fee });
  assert.deepEqual(splitLegFees(card, fromHouse), { buyer: fee, seller: none });
  assert.deepEqual(splitLegFees({ ...card, fee_bps: 0 }, toHouse), { buyer: none, seller: none });
  // Between clients all that the house keeps is fee, half of it from each.
  assert.deepEqual(splitLegFees(card, between), {
    buyer: { feePaise: 8_475, gstPaise: 1_526 },
    seller: { feePaise: 8_475, gstPaise: 1_525 },
  });
});

test("fees and tax never exceed the margin of the house, at any rate", () => {
  const paise = fc.integer({ min: 0, max: 1_000_000 });
  const bps = fc.integer({ min: 0, max: 1_000 });
  fc.assert(
    fc.property(paise, paise, paise, bps, bps, (face, low, kept, feeBps, halfSpread) => {
      const card = { fee_bps: feeBps, half_spread_bps: halfSpread, gst_bps: 1_800 };
      const sums = { facePaise: face, sellerPaise: low, buyerPaise: low + kept };
      const ids = { sellerOrderId: "ord_s", buyerOrderId: "ord_b" };
      const { buyer, seller } = splitLegFees(card, { ...sums, ...ids });
      const all = buyer.feePaise + buyer.gstPaise + seller.feePaise + seller.gstPaise;
      assert.equal(all, kept);
      const { seller: sold } = splitLegFees(card, { ...sums, ...ids, buyerOrderId: null });
      assert.ok(sold.feePaise + sold.gstPaise <= priceFloor(face, halfSpread));
    }),
  );
});
