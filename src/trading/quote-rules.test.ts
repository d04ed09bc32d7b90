import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { type CardToday, priceBid, startingTerms } from "../rates/rules.ts";
import {
  describeOffer,
  findLeastFace,
  findQuoteState,
  findSellPrice,
  isPricedOffer,
  parseWanted,
  quoteLifecycle,
  type QuoteRequest,
} from "./quote-rules.ts";

const paise = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const smallPaise = fc.oneof(fc.integer({ min: 1, max: 1_000 }), paise);

const card = fc
  .record({
    scheme: fc.constantFrom(...schemes),
    state: fc.constantFrom("open" as const, "halted" as const),
    floor_bps: fc.integer({ min: 1, max: 9_000 }),
    mid_bps: fc.integer({ min: 1, max: 10_000 }),
    half_spread_bps: fc.integer({ min: 1, max: 500 }),
    margin_bps: fc.integer({ min: 0, max: 5_000 }),
    face_max_paise: paise,
    house_limit_paise: paise,
    gst_bps: fc.constant(1_800),
    taken_paise: fc.oneof(fc.constant(0), paise),
  })
  .map(({ scheme, ...terms }): CardToday => ({
    ...startingTerms[scheme],
    ...terms,
    scheme,
    environment: "sandbox",
    version: 1,
    published_at: new Date(0),
    published_by: "test",
    note: null,
  }));

test("a sell has a price exactly when the market is open and takes the size", () => {
  const sale = fc.record({ facePaise: smallPaise, daysLeft: fc.integer({ min: 0, max: 800 }) });
  fc.assert(
    fc.property(card, sale, (card, sale) => {
      const price = findSellPrice(card, sale);
      const bid = priceBid(card, sale.facePaise, sale.daysLeft);
      if (card.state === "halted") {
        assert.deepEqual(price, { kind: "no_quote", reason: "market_unavailable" });
        return;
      }
      const isTooLarge =
        sale.facePaise > card.face_max_paise ||
        BigInt(card.taken_paise) + BigInt(sale.facePaise) > BigInt(card.house_limit_paise);
      const allIn = (BigInt(sale.facePaise) * BigInt(bid ?? 0)) / 10_000n;
      if (isTooLarge || allIn === 0n) {
        assert.deepEqual(price, { kind: "no_quote", reason: "size_unavailable" });
        return;
      }
      assert.ok(price.kind === "price");
      assert.equal(price.price_bps, bid);
      assert.equal(BigInt(price.all_in_paise), allIn);
      assert.ok(price.all_in_paise <= sale.facePaise);
    }),
  );
  assert.deepEqual(findSellPrice(undefined, { facePaise: 1, daysLeft: 365 }), {
    kind: "no_quote",
    reason: "market_unavailable",
  });
});

test("three combinations of fields are valid, and every other one names its problems", () => {
  const fields = ["scheme", "face_paise", "requirement_paise", "scrip_no"] as const;
  const values = { scheme: "RODTEP" as Scheme, face_paise: 1, requirement_paise: 2, scrip_no: "X" };
  const meant: Record<string, object> = {
    "sell scrip_no": { side: "sell", scripNo: "X" },
    "sell scheme face_paise": { side: "sell", scheme: "RODTEP", facePaise: 1 },
    "buy scheme requirement_paise": { side: "buy", scheme: "RODTEP", requirementPaise: 2 },
  };
  const taken = new Set<string>();
  for (const side of ["sell", "buy"] as const) {
    for (let mask = 0; mask < 2 ** fields.length; mask++) {
      const given = fields.filter((_, at) => (mask >> at) & 1);
      const request = { side, ...Object.fromEntries(given.map((name) => [name, values[name]])) };
      const name = [side, ...given].join(" ");
      const wanted = parseOutcome(request);
      if (wanted instanceof Failure) {
        assert.equal(wanted.code, "unprocessable", name);
        assert.notDeepEqual(wanted.detail, { fields: [] }, name);
        continue;
      }
      taken.add(name);
      assert.deepEqual(wanted, meant[name], name);
    }
  }
  assert.deepEqual([...taken].toSorted(), Object.keys(meant).toSorted());
});

function parseOutcome(request: QuoteRequest): object {
  try {
    return parseWanted(request);
  } catch (error) {
    assert.ok(error instanceof Failure);
    return error;
  }
}

test("a quote is open until it expires or is used, and then allows no action", () => {
  const valid_until = new Date(1_000);
  const at = (ms: number, order_id: string | null = null) =>
    findQuoteState({ order_id, valid_until }, new Date(ms));
  assert.deepEqual([at(0), at(1_000), at(1_001)], ["open", "open", "expired"]);
  assert.deepEqual([at(0, "ord_1"), at(2_000, "ord_1")], ["used", "used"]);
  assert.deepEqual(allowedActions(quoteLifecycle, "open"), ["order"]);
  for (const state of ["used", "expired"] as const) {
    assert.deepEqual(allowedActions(quoteLifecycle, state), []);
  }
});

test("every delivery from the least face on gets at least the bid of the amount", () => {
  const life = fc.integer({ min: 365, max: 800 });
  fc.assert(
    fc.property(card, smallPaise, life, fc.nat({ max: 10_000 }), (card, face, days, part) => {
      const least = findLeastFace(card, face, days);
      assert.ok(least >= 1 && least <= face);
      const between = least + Number((BigInt(face - least) * BigInt(part)) / 10_000n);
      const bid = priceBid(card, face, days) ?? 0;
      assert.ok((priceBid(card, between, days) ?? 0) >= bid);
      assert.ok(least === 1 || (priceBid(card, least - 1, days) ?? 0) < bid);
    }),
  );
});

test("an offer counts as priced only when none of its facts has changed", () => {
  const offer = {
    scrip_no: "SCRIP00001",
    face_paise: 100,
    expires_on: 20_000,
    limit_bps: 9_830,
    seller: "AAAPA1111A",
    order_id: "ord_1",
  };
  const facts = describeOffer(offer);
  assert.ok(isPricedOffer(facts, { ...offer, seller: "BBBPB2222B" }));
  const changes = [
    { face_paise: 101 },
    { expires_on: 19_999 },
    { limit_bps: 9_831 },
    { order_id: "ord_2" },
    { order_id: null },
  ];
  for (const change of changes) assert.ok(!isPricedOffer(facts, { ...offer, ...change }));
  assert.ok(!isPricedOffer(undefined, offer));
  assert.ok(
    isPricedOffer(describeOffer({ ...offer, order_id: null }), { ...offer, order_id: null }),
  );
});
