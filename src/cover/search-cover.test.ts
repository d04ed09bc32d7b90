import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import { pino } from "pino";

import { onThisThread } from "../platform/heavy/kinds.ts";
import { chooseBundle, type BundleRequest } from "./choose-bundle.ts";
import { OfferIndex } from "./offer-index.ts";
import type { Offer } from "./rules.ts";
import { chooseCover, planSearches, SearchNeeded } from "./search-cover.ts";
import type { CoverWanted } from "./search-cover.ts";

const here = { heavy: onThisThread, log: pino({ level: "silent" }) };
const by = { environment: "live", deskId: "desk" } as const;

const offer = fc.record({
  face_paise: fc.integer({ min: 1, max: 60 }),
  expires_on: fc.integer({ min: 1, max: 5 }),
  limit_bps: fc.integer({ min: 0, max: 3 }),
  seller: fc.constantFrom("A", "B", "house"),
});

const offers = fc
  .array(offer, { maxLength: 24 })
  .map((list): Offer[] => list.map((one, at) => ({ ...one, scrip_no: `S${at}`, order_id: null })));

const wanted = fc.record({
  requirement_paise: fc.integer({ min: 1, max: 200 }),
  min_day: fc.integer({ min: 1, max: 3 }),
  price_max_bps: fc.integer({ min: 1, max: 3 }),
  buyer: fc.constantFrom("A", "C"),
});

/** A requirement whose sums all have one price. */
function inOneTier({
  requirement_paise,
  price_max_bps = 65_535,
  ...usable
}: BundleRequest): CoverWanted {
  const sums = { least_paise: 1, most_paise: requirement_paise };
  const limits = { price_min_bps: 0, price_max_bps };
  const tier = { ...sums, ...limits, dealt_at: { price_bps: 10_000_000 } };
  return { requirement_paise, ...usable, tiers: [tier] };
}

function buildIndex(list: readonly Offer[]): OfferIndex {
  const index = new OfferIndex();
  index.load(list, list.length);
  return index;
}

/** Offers that differ in their faces only. */
function buildFaces(faces: readonly number[]): OfferIndex {
  const common = { expires_on: 1, limit_bps: 0, seller: "A", order_id: null };
  return buildIndex(faces.map((face_paise, at) => ({ scrip_no: `S${at}`, face_paise, ...common })));
}

test("a plan made in a thread equals a search in process, on the offers that earlier plans left", async () => {
  await fc.assert(
    fc.asyncProperty(offers, fc.array(wanted, { maxLength: 4 }), async (list, wishes) => {
      const index = buildIndex(list);
      const searches = wishes.map((wish) => new SearchNeeded(index, inOneTier(wish)));
      const plans = await planSearches(here, searches, { by });
      const left = buildIndex(list);
      wishes.forEach((wish, at) => {
        const plan = plans[at] ?? assert.fail("every search has a plan");
        const found = chooseBundle(left, wish);
        const confirmed = chooseCover(left, inOneTier(wish), { plan });
        assert.deepEqual(confirmed.offers, found.offers);
        assert.deepEqual(confirmed.proof, found.proof);
        for (const { scrip_no } of found.offers) left.remove(scrip_no);
      });
    }),
  );
});

test("a plan is dropped when one of its offers is gone", async () => {
  const index = buildFaces([30, 20, 7]);
  const wish = { requirement_paise: 50 };
  const [plan] = await planSearches(here, [new SearchNeeded(index, inOneTier(wish))], { by });
  assert.deepEqual(plan?.scripNos, ["S0", "S1"]);
  index.remove("S1");
  const { offers: found } = chooseCover(index, inOneTier(wish), { plan });
  assert.deepEqual(
    found.map(({ scrip_no }) => scrip_no),
    ["S0", "S2"],
  );
});

test("a search that runs out of steps says that it was cut short", () => {
  const index = buildFaces(Array.from({ length: 2_000 }, (_, at) => 1_000_003 + 7_919 * at));
  for (const steps of [1, 10_000, 100_000]) {
    const bundle = chooseCover(index, inOneTier({ requirement_paise: 300_000_017 }), { steps });
    assert.ok(bundle.steps <= steps, `${bundle.steps} of ${steps}`);
    assert.equal(bundle.canImprove, true);
    assert.ok(bundle.offers.length > 0);
    assert.equal(bundle.proof.residual, "bounded");
  }
});

test("a full quick search of a book that is too large for a thread is not made again", async () => {
  // Every face leaves 1 of 1,000 paise over, so few credits never leave the 517 of the requirement.
  const wish = { requirement_paise: 300_000_517 };
  const build = (count: number) =>
    buildFaces(Array.from({ length: count }, (_, at) => 1_000_001 + 1_000 * at));
  const sent = build(100_000);
  const large = build(100_001);
  const plans = await planSearches(here, [new SearchNeeded(large, inOneTier(wish))], { by });
  assert.deepEqual(plans, [null]);
  assert.equal(chooseBundle(large, { ...wish, steps: 100_000 }).isSettled, false);
  assert.equal(chooseCover(large, inOneTier(wish), {}).canImprove, false);
  assert.equal(chooseCover(large, inOneTier(wish), { steps: 50_000 }).canImprove, true);
  assert.equal(chooseCover(sent, inOneTier(wish), {}).canImprove, true);
});
