import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { drawFrom, marketOffers } from "../../test/support/market.ts";
import { OfferIndex } from "./offer-index.ts";
import { StepBudget, type Offer } from "./rules.ts";
import type { Shelf } from "./shelf.ts";

const seed = 20_261_115;

const offer: fc.Arbitrary<Offer> = fc.record(
  {
    scrip_no: fc
      .integer({ min: 0, max: 60 })
      .map((number) => `S${number}`.padEnd(number % 25, "X").slice(0, 25)),
    face_paise: fc.integer({ min: 1, max: 9 }).map((face) => face * 100),
    expires_on: fc.integer({ min: -3, max: 3 }),
    limit_bps: fc.constantFrom(0, 9_700),
    seller: fc.constantFrom("AAAAA0000A", "BBBBB0000B"),
    order_id: fc.constantFrom(null, "ord_1"),
  },
  { noNullPrototype: true },
);

function byQueue(a: Offer, b: Offer): number {
  return a.expires_on - b.expires_on || (a.scrip_no < b.scrip_no ? -1 : 1);
}

function byFace(a: Offer, b: Offer): number {
  return a.face_paise - b.face_paise || byQueue(a, b);
}

function openShelf(index: OfferIndex): Shelf {
  return index.shelf({}, new StepBudget(1e9));
}

function facesInOrder(index: OfferIndex): Offer[] {
  const shelf = openShelf(index);
  const offers: Offer[] = [];
  for (let at = 0; at < shelf.facesEnd; at = shelf.next(at)) {
    offers.push(shelf.offer(shelf.rowAt(at)));
  }
  return offers;
}

function queueInOrder(index: OfferIndex): Offer[] {
  const shelf = openShelf(index);
  const offers: Offer[] = [];
  for (let at = shelf.queueStart; at < shelf.queueEnd; at = shelf.nextQueued(at)) {
    offers.push(shelf.offer(shelf.queuedAt(at)));
  }
  return offers;
}

/** The same by plain objects. */
function checkLike(index: OfferIndex, model: ReadonlyMap<string, Offer>): void {
  const offers = [...model.values()];
  assert.equal(index.size, model.size);
  assert.deepEqual(facesInOrder(index), offers.toSorted(byFace));
  assert.deepEqual(queueInOrder(index), offers.toSorted(byQueue));
}

test("after any puts and removes the index equals a plain map, in both orders", () => {
  const change = fc.oneof(
    offer.map((put) => ({ put, remove: undefined })),
    offer.map(({ scrip_no }) => ({ put: undefined, remove: scrip_no })),
  );
  const loaded = fc.array(offer, { maxLength: 40 });
  fc.assert(
    fc.property(loaded, fc.array(change, { maxLength: 120 }), (offers, changes) => {
      const index = new OfferIndex();
      index.load(offers);
      const model = new Map(offers.map((item) => [item.scrip_no, item]));
      checkLike(index, model);
      for (const { put, remove } of changes) {
        if (put) index.put(put);
        if (put) model.set(put.scrip_no, put);
        if (remove) assert.equal(index.remove(remove), model.delete(remove));
      }
      checkLike(index, model);
      for (const scripNo of ["S1", "S60XXXXXXX", "é", ""]) {
        assert.deepEqual(index.find(scripNo), model.get(scripNo));
      }
    }),
    { numRuns: 300, seed },
  );
});

test("blocks split and merge without losing an offer", () => {
  const draw = drawFrom(seed);
  const index = new OfferIndex();
  const model = new Map<string, Offer>();
  const offers = [...marketOffers(draw, 6_000)];
  index.load(offers.slice(0, 2_000));
  for (const item of offers.slice(0, 2_000)) model.set(item.scrip_no, item);
  for (const item of offers.slice(2_000)) {
    index.put(item);
    model.set(item.scrip_no, item);
  }
  checkLike(index, model);
  for (const { scrip_no } of offers) {
    if (draw() < 0.03) continue;
    assert.ok(index.remove(scrip_no));
    model.delete(scrip_no);
  }
  checkLike(index, model);
  for (const scripNo of model.keys()) index.remove(scripNo);
  checkLike(index, new Map());
  index.put(offers[0]!);
  checkLike(index, new Map([[offers[0]!.scrip_no, offers[0]!]]));
});

test("the depth between two faces is the count and exact sum of its offers", () => {
  const draw = drawFrom(seed);
  const large = { face_paise: Number.MAX_SAFE_INTEGER };
  const offers = [...marketOffers(draw, 3_000)].map((item, at) =>
    at % 100 === 0 ? { ...item, ...large } : item,
  );
  const index = new OfferIndex();
  index.load(offers, offers.length);
  const bounds = [0, 1, 1_000_000, 14_000_000, 14_000_100, 10 ** 9, Number.MAX_SAFE_INTEGER];
  for (const round of [1, 2]) {
    for (const from of bounds) {
      for (const to of bounds) {
        const inside = offers
          .slice(round - 1)
          .filter(({ face_paise }) => face_paise >= from && face_paise < to);
        assert.deepEqual(index.depth(from, to), {
          count: inside.length,
          face_paise: inside.reduce((sum, { face_paise }) => sum + BigInt(face_paise), 0n),
        });
      }
    }
    index.remove(offers[0]!.scrip_no);
  }
});

test("an invalid offer is refused and leaves the index unchanged", () => {
  const index = new OfferIndex();
  const [good] = marketOffers(drawFrom(seed), 1);
  assert.ok(good);
  index.put(good);
  const wrong: Partial<Offer>[] = [
    { face_paise: 0 },
    { face_paise: 1.5 },
    { face_paise: 2 ** 53 },
    { expires_on: Number.NaN },
    { limit_bps: -1 },
    { limit_bps: 70_000 },
    { scrip_no: "" },
    { scrip_no: "É" },
    { scrip_no: "X".repeat(26) },
  ];
  for (const part of wrong) {
    assert.throws(() => index.put({ ...good, ...part }), /no offer/);
  }
  checkLike(index, new Map([[good.scrip_no, good]]));
});

test("an empty price range is detected without reading the offers", () => {
  fc.assert(
    fc.property(fc.array(offer, { maxLength: 30 }), fc.array(fc.nat()), (offers, removed) => {
      const index = new OfferIndex();
      index.load(offers.slice(0, 15));
      for (const one of offers.slice(15)) index.put(one);
      for (const at of removed) index.remove(offers[at % offers.length]?.scrip_no ?? "");
      const left = offers.flatMap(({ scrip_no }) => index.find(scrip_no) ?? []);
      for (const [min, max] of [
        [1, 9_600],
        [1, 9_700],
        [9_701, 9_900],
        [0, 0],
      ] as const) {
        const budget = new StepBudget(0);
        const shelf = index.shelf({ price_min_bps: min, price_max_bps: max }, budget);
        const isPayable = left.some(({ limit_bps }) => limit_bps >= min && limit_bps <= max);
        assert.equal(shelf.isBare, min > 0 && !isPayable);
      }
    }),
    { seed },
  );
});
