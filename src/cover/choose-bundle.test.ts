import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  drawFrom,
  marketOffers,
  marketRequirement,
  plantedRequirement,
} from "../../test/support/market.ts";
import { chooseBundle, chooseOwnCredits, type OwnCredit } from "./choose-bundle.ts";
import { OfferIndex, type Usable } from "./offer-index.ts";
import type { Bundle, Offer } from "./rules.ts";

const seed = 20_261_115;

/** Few faces and few days make many bundles equal in one wish or two. */
const credit = fc.record({
  face_paise: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 5_000 })),
  expires_on: fc.integer({ min: 1, max: 4 }),
});

const credits = fc
  .array(credit, { maxLength: 11 })
  .map((list) => list.map((item, at) => ({ ...item, scrip_no: `S${(at * 7) % 11}` })));

function sumFaces(list: readonly OwnCredit[]): number {
  return list.reduce((sum, { face_paise }) => sum + face_paise, 0);
}

function byQueue(a: OwnCredit, b: OwnCredit): number {
  return a.expires_on - b.expires_on || (a.scrip_no < b.scrip_no ? -1 : 1);
}

/** Every subset in turn, by the three wishes as they are written. */
function bestByBruteForce(list: readonly OwnCredit[], requirement: number): readonly OwnCredit[] {
  const queue = list.toSorted(byQueue);
  let best: { members: readonly OwnCredit[]; places: readonly number[] } = {
    members: [],
    places: [],
  };
  for (let mask = 1; mask < 2 ** queue.length; mask++) {
    const places = queue.map((_, place) => place).filter((place) => (mask >> place) & 1);
    const members = places.map((place) => queue[place]!);
    const sum = sumFaces(members);
    if (sum > requirement) continue;
    const order =
      sumFaces(best.members) - sum ||
      members.length - best.members.length ||
      (places.find((place, at) => place !== best.places[at]) ?? 0) -
        (best.places.find((place, at) => place !== places[at]) ?? 0);
    if (order < 0) best = { members, places };
  }
  return best.members;
}

function listScripNos(list: readonly { readonly scrip_no: string }[]): string[] {
  return list.map(({ scrip_no }) => scrip_no);
}

function greedySum(list: readonly OwnCredit[], requirement: number): number {
  let sum = 0;
  for (const { face_paise } of list.toSorted((a, b) => b.face_paise - a.face_paise)) {
    if (sum + face_paise <= requirement) sum += face_paise;
  }
  return sum;
}

function checkSound(bundle: Bundle, requirement: number): void {
  const { offers, covered_paise, residual_paise, proof } = bundle;
  assert.equal(new Set(listScripNos(offers)).size, offers.length);
  assert.equal(sumFaces(offers), covered_paise);
  assert.equal(covered_paise + residual_paise, requirement);
  assert.ok(residual_paise >= proof.residual_bound_paise);
  assert.equal(proof.residual === "optimal", residual_paise === proof.residual_bound_paise);
  assert.deepEqual(listScripNos(offers), listScripNos(offers.toSorted(byQueue)));
}

test("a small set is covered as by brute force over all subsets: sum, count and expiry", () => {
  fc.assert(
    fc.property(credits, fc.nat({ max: 8_000 }), (list, requirement) => {
      const bundle = chooseOwnCredits(list, requirement);
      checkSound(bundle, requirement);
      assert.deepEqual(
        listScripNos(bundle.offers),
        listScripNos(bestByBruteForce(list, requirement)),
      );
      const { residual, fewest, earliest } = bundle.proof;
      assert.deepEqual({ residual, fewest, earliest }, allProven);
    }),
    { numRuns: 1_500, seed },
  );
});

const allProven = { residual: "optimal", fewest: "proven", earliest: "proven" };

test("faces up to the largest safe integer are added exactly", () => {
  const large = fc.integer({ min: 2 ** 51, max: Number.MAX_SAFE_INTEGER });
  const list = fc.array(large, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(list, large, (faces, requirement) => {
      const own = faces.map((face_paise, at) => ({
        scrip_no: `S${at}`,
        face_paise,
        expires_on: 1,
      }));
      const bundle = chooseOwnCredits(own, requirement);
      checkSound(bundle, requirement);
      assert.deepEqual(
        listScripNos(bundle.offers),
        listScripNos(bestByBruteForce(own, requirement)),
      );
    }),
    { numRuns: 300, seed },
  );
});

test("only offers with enough days left, of another PAN and within the price are used", () => {
  const offer = fc.record({
    face_paise: fc.integer({ min: 1, max: 40 }),
    expires_on: fc.integer({ min: 1, max: 4 }),
    limit_bps: fc.constantFrom(0, 9_700, 9_800),
    seller: fc.constantFrom("AAAAA0000A", "BBBBB0000B"),
    order_id: fc.constant(null),
  });
  const usable: Usable = { min_day: 2, buyer: "AAAAA0000A", price_max_bps: 9_700 };
  const limitMin = fc.constantFrom(0, 1);
  const lists = fc.array(offer, { maxLength: 16 });
  fc.assert(
    fc.property(lists, fc.nat({ max: 200 }), limitMin, (list, wanted, price_min_bps) => {
      const offers = list.map((item, at) => ({ ...item, scrip_no: `S${at}` }));
      const index = new OfferIndex();
      index.load(offers);
      const bundle = chooseBundle(index, { ...usable, price_min_bps, requirement_paise: wanted });
      const left = offers.filter(
        ({ expires_on, seller, limit_bps }) =>
          expires_on >= 2 &&
          seller !== "AAAAA0000A" &&
          limit_bps <= 9_700 &&
          limit_bps >= price_min_bps,
      );
      assert.deepEqual(listScripNos(bundle.offers), listScripNos(bestByBruteForce(left, wanted)));
    }),
    { numRuns: 500, seed },
  );
});

test("1,000 requirements with a known optimum leave exactly that residual", () => {
  const draw = drawFrom(seed);
  const sizes = [30, 100, 300, 1_000, 3_000, 10_000];
  const books = sizes.map((size) => [...marketOffers(draw, size)]);
  const indexes = books.map((offers) => buildIndex(offers));
  for (let number = 0; number < 1_000; number++) {
    const at = number % sizes.length;
    const { requirement_paise, residual_paise, planted } = plantedRequirement(draw, books[at]!);
    const bundle = chooseBundle(indexes[at]!, { requirement_paise });
    checkSound(bundle, requirement_paise);
    assert.equal(bundle.residual_paise, residual_paise, `case ${number} of ${sizes[at]} offers`);
    assert.equal(bundle.proof.residual, "optimal");
    if (bundle.proof.fewest === "proven") assert.ok(bundle.offers.length <= planted);
  }
});

test("a book with some odd faces is covered as closely as the last digits of its faces allow", () => {
  const draw = drawFrom(seed);
  const whole = [...marketOffers(draw, 2_000)];
  const odd = whole.slice(0, 2).map((offer, at) => ({ ...offer, face_paise: 50_000 + 10 ** at }));
  const index = buildIndex([...odd, ...whole.slice(2)]);
  // One face ends in 1 paisa and one in 10, so that sums end in 0, 1, 10 or 11.
  for (const [paise, residual] of [
    [0, 0],
    [9, 8],
    [10, 0],
    [11, 0],
    [57, 46],
  ] as const) {
    const requirement_paise = 200_000_000 + paise;
    const bundle = chooseBundle(index, { requirement_paise });
    checkSound(bundle, requirement_paise);
    assert.equal(bundle.residual_paise, residual);
    assert.equal(bundle.proof.residual, "optimal");
  }
});

test("round faces are covered to their common unit", () => {
  const draw = drawFrom(seed);
  for (const size of [60, 3_000, 8_000]) {
    const offers = [...marketOffers(draw, size)].map((offer) => ({
      ...offer,
      face_paise: Math.ceil(offer.face_paise / 10_000_000) * 10_000_000,
    }));
    const index = buildIndex(offers);
    for (let number = 0; number < 30; number++) {
      const requirement_paise = marketRequirement(draw);
      const bundle = chooseBundle(index, { requirement_paise });
      checkSound(bundle, requirement_paise);
      assert.equal(bundle.proof.residual, "optimal");
      if (size > 60) assert.equal(bundle.residual_paise, requirement_paise % 10_000_000);
    }
  }
});

/** How many of each face: every count that fits, and of each face the first in the queue. */
function bestByCounts(list: readonly OwnCredit[], requirement: number): readonly OwnCredit[] {
  const queue = list.toSorted(byQueue);
  const place = new Map(queue.map((one, at) => [one.scrip_no, at]));
  const listPlaces = (members: readonly OwnCredit[]) =>
    members.map(({ scrip_no }) => place.get(scrip_no) ?? 0).toSorted((a, b) => a - b);
  const isEarlier = (one: readonly OwnCredit[], other: readonly OwnCredit[]) => {
    const places = listPlaces(other);
    const [a, b] = listPlaces(one)
      .map((own, at) => [own, places[at] ?? 0] as const)
      .find(([own, its]) => own !== its) ?? [0, 0];
    return a < b;
  };
  let best: readonly OwnCredit[] = [];
  const kinds = [...Map.groupBy(queue, ({ face_paise }) => face_paise).values()];
  const visit = (at: number, taken: readonly OwnCredit[]) => {
    const kind = kinds[at];
    const left = requirement - sumFaces(taken);
    if (kind) {
      const most = Math.min(kind.length, Math.floor(left / kind[0]!.face_paise));
      for (let count = 0; count <= most; count++)
        visit(at + 1, [...taken, ...kind.slice(0, count)]);
      return;
    }
    const order = sumFaces(best) - sumFaces(taken) || taken.length - best.length;
    if (order < 0 || (order === 0 && isEarlier(taken, best))) best = taken;
  };
  visit(0, []);
  return best.toSorted(byQueue);
}

for (const [size, shift] of [
  [60, 0],
  [2_000, 0],
  [2_000, 3],
  [20_000, 3],
] as const) {
  test(`${size} credits that share four faces, ${shift} paise odd, are covered and proven with few steps`, () => {
    const draw = drawFrom(seed);
    const faces = [2_500_000, 7_300_000, 10_000_000, 33_300_000];
    const offers = [...marketOffers(draw, size)].map((offer, at) => ({
      ...offer,
      face_paise: faces[at % faces.length]! + shift * ((at % faces.length) + 1),
    }));
    const index = buildIndex(offers);
    for (let number = 0; number < 12; number++) {
      const requirement_paise = 1_000_000 + Math.floor(draw() * 100_000_000);
      const bundle = chooseBundle(index, { requirement_paise });
      checkSound(bundle, requirement_paise);
      const best = bestByCounts(offers, requirement_paise);
      assert.deepEqual(listScripNos(bundle.offers), listScripNos(best));
      const { residual, fewest, earliest } = bundle.proof;
      assert.deepEqual({ residual, fewest, earliest }, allProven);
      assert.ok(bundle.steps < 200_000, `${bundle.steps} steps`);
    }
  });
}

test("the same offers give the same bundle, whatever was added and removed before", () => {
  const draw = drawFrom(seed);
  const offers = [...marketOffers(draw, 2_000)].map((offer) => ({
    ...offer,
    face_paise: offer.face_paise + (draw() < 0.02 ? 37 : 0),
  }));
  const gone = [...marketOffers(draw, 6_000)].map((offer) => ({
    ...offer,
    scrip_no: `G${offer.scrip_no}`,
  }));
  const shuffled = offers
    .map((offer) => ({ offer, key: draw() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ offer }) => offer);
  const loaded = buildIndex(offers);
  const put = new OfferIndex();
  for (const offer of [...gone, ...shuffled]) put.put(offer);
  for (const { scrip_no } of gone) put.remove(scrip_no);
  for (let number = 0; number < 50; number++) {
    const steps = [3_000, 60_000, 2_000_000][number % 3];
    const requirement = { requirement_paise: marketRequirement(draw), ...(steps && { steps }) };
    const bundle = chooseBundle(loaded, requirement);
    assert.deepEqual(chooseBundle(put, requirement), bundle);
    assert.deepEqual(chooseBundle(loaded, requirement), bundle);
  }
});

test("with hardly any steps a bundle is no worse than the greedy one", () => {
  const draw = drawFrom(seed);
  for (const size of [5, 40, 400, 6_000]) {
    const offers = [...marketOffers(draw, size)];
    const index = buildIndex(offers);
    for (const steps of [0, 1, 50, 3_000]) {
      for (let number = 0; number < 20; number++) {
        const requirement_paise = marketRequirement(draw);
        const bundle = chooseBundle(index, { requirement_paise, steps });
        checkSound(bundle, requirement_paise);
        assert.ok(bundle.covered_paise >= greedySum(offers, requirement_paise));
      }
    }
  }
});

test("a larger budget never contradicts what a smaller one proved", () => {
  const draw = drawFrom(seed);
  const index = buildIndex([...marketOffers(draw, 1_500)]);
  for (let number = 0; number < 40; number++) {
    const requirement_paise = marketRequirement(draw);
    const best = chooseBundle(index, { requirement_paise, steps: 40_000_000 });
    for (const steps of [0, 5_000, 50_000, 500_000]) {
      const { proof, ...bundle } = chooseBundle(index, { requirement_paise, steps });
      if (proof.residual === "optimal") assert.equal(bundle.residual_paise, best.residual_paise);
      if (proof.fewest === "proven") assert.equal(bundle.offers.length, best.offers.length);
      if (proof.earliest === "proven" && best.proof.earliest === "proven") {
        assert.deepEqual(bundle.offers, best.offers);
      }
    }
  }
});

test("without usable offers the bundle is empty", () => {
  for (const offers of [[], [...marketOffers(drawFrom(seed), 50)]]) {
    const index = buildIndex(offers);
    const bundle = chooseBundle(index, { requirement_paise: 10 ** 9, buyer: "AAAAA0000A" });
    assert.deepEqual(bundle.offers, []);
    assert.equal(bundle.residual_paise, 10 ** 9);
    assert.equal(bundle.proof.residual, "optimal");
  }
});

test("a requirement that is not a whole number of paise is refused", () => {
  for (const requirement_paise of [-1, 0.5, Number.NaN, 2 ** 53]) {
    assert.throws(() => chooseBundle(new OfferIndex(), { requirement_paise }), /whole paise/);
  }
});

test("a requirement above all credits takes all of them, one below the smallest takes none", () => {
  const offers = [...marketOffers(drawFrom(seed), 3_000)];
  const all = chooseBundle(buildIndex(offers), { requirement_paise: sumFaces(offers) + 7 });
  assert.equal(all.offers.length, 3_000);
  assert.deepEqual(all.proof, {
    residual: "optimal",
    residual_bound_paise: 7,
    fewest: "proven",
    fewest_bound: 3_000,
    earliest: "proven",
  });
  const nothing = chooseBundle(buildIndex(offers), { requirement_paise: 9_999 });
  assert.deepEqual(nothing.offers, []);
  assert.equal(nothing.proof.residual, "optimal");
  assert.equal(nothing.residual_paise, 9_999);
});

function buildIndex(offers: readonly Offer[]): OfferIndex {
  const index = new OfferIndex();
  index.load(offers, offers.length);
  return index;
}
