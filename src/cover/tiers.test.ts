import assert from "node:assert/strict";
import { test } from "node:test";

import { OfferIndex } from "./offer-index.ts";
import type { Tier } from "./rules.ts";
import { chooseInTiers } from "./search-cover.ts";

const requirement = 300_000_017;

const tier = (least_paise: number, most_paise: number): Tier => ({
  least_paise,
  most_paise,
  price_max_bps: 0,
  price_min_bps: 0,
  dealt_at: { price_bps: 9_900 },
});

/** No two faces are alike, and few steps do not prove what they add up to. */
function buildIndex(): OfferIndex {
  const index = new OfferIndex();
  const common = { expires_on: 1, limit_bps: 0, seller: "house", order_id: null };
  const offers = Array.from({ length: 2_000 }, (_, at) => ({
    scrip_no: `S${at}`,
    face_paise: 1_000_003 + 7_919 * at,
    ...common,
  }));
  index.load(offers, offers.length);
  return index;
}

test("a tier whose search was cut short may hold a larger sum, and the proof says so", () => {
  const tiers = [tier(requirement, requirement), tier(1, requirement - 1)];
  const found = chooseInTiers(buildIndex(), { requirement_paise: requirement, tiers }, 100);
  assert.equal(found.tier, tiers[1]);
  assert.ok(found.covered_paise > 0);
  assert.deepEqual(
    [found.proof.residual, found.proof.residual_bound_paise],
    ["bounded", 0],
    "the first tier was not searched to its end",
  );
  assert.equal(found.isSettled, false);
});

test("a tier above all that is there is passed without a search", () => {
  const index = buildIndex();
  const all = Number(index.depth(1, 10 ** 12).face_paise);
  const tiers = [tier(all + 1, 10 ** 13), tier(1, all)];
  const found = chooseInTiers(index, { requirement_paise: 10 ** 13, tiers });
  assert.equal(found.covered_paise, all);
  assert.deepEqual(
    [found.proof.residual, found.proof.residual_bound_paise],
    ["optimal", 10 ** 13 - all],
  );
});
