// What a buy pays, over random cards, shelves and requirements, against a search that tries all
// bundles and knows nothing of tiers.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { OfferIndex } from "../cover/offer-index.ts";
import { type Offer, priceInTier, type Tier } from "../cover/rules.ts";
import { chooseCover } from "../cover/search-cover.ts";
import { coversSellerShare, priceCeil } from "../kernel/money.ts";
import { type CardToday, findTermProblems, priceAsk, startingTerms } from "../rates/rules.ts";
import { listRestingTiers, listTiers } from "./match-rules.ts";

const bps = fc.integer({ min: -60, max: 40 });
const anyBands = fc
  .tuple(fc.uniqueArray(fc.integer({ min: 2, max: 9_000 }), { maxLength: 4 }), fc.array(bps))
  .map(([bounds, steps]) =>
    [...bounds.toSorted((a, b) => a - b), null].map((below_paise, at) => ({
      below_paise,
      bps: steps[at] ?? 0,
    })),
  );
/** Larger sums are cheaper, as on the starting cards. */
const fallingBands = anyBands.map((bands) => {
  const steps = bands.map((band) => band.bps).toSorted((a, b) => a - b);
  return bands.map((band, at) => ({ ...band, bps: steps[at] ?? 0 }));
});

const cardWith = (bands: typeof anyBands) =>
  fc
    .record({
      size_bands: bands,
      mid_bps: fc.constantFrom(7_600, 9_000, 9_950),
      margin_bps: fc.constantFrom(0, 1, 20),
      half_spread_bps: fc.integer({ min: 40, max: 60 }),
    })
    .map((terms): CardToday => ({
      ...startingTerms.RODTEP,
      ...terms,
      environment: "live",
      scheme: "RODTEP",
      version: 1,
      state: "open",
      published_at: new Date(0),
      published_by: "test",
      note: null,
      taken_paise: 0,
      gst_bps: 1_800,
    }))
    .filter((card) => findTermProblems(card).length === 0);

/** Limits are told from the mid of the card, where they matter. */
const shelf = fc.array(
  fc.record({
    face: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 4_000 })),
    fromMid: fc.option(fc.integer({ min: -120, max: 120 })),
  }),
  { maxLength: 7 },
);
type Shelf = readonly { readonly face: number; readonly fromMid: number | null }[];
const requirement = fc.oneof(fc.integer({ min: 1, max: 12_000 }), fc.constant(10 ** 12));
const fromMid = fc.option(fc.integer({ min: -120, max: 120 }));

const toOffers = ({ mid_bps }: CardToday, held: Shelf): Offer[] =>
  held.map((credit, at) => ({
    scrip_no: `S${at}`,
    face_paise: credit.face,
    expires_on: 1,
    limit_bps: credit.fromMid === null ? 0 : mid_bps + credit.fromMid,
    seller: credit.fromMid === null ? "house" : "client",
    order_id: credit.fromMid === null ? null : `ord_${at}`,
  }));

const sumFaces = (offers: readonly Offer[]) => offers.reduce((sum, o) => sum + o.face_paise, 0);

function takeBest(offers: readonly Offer[], requirementPaise: number, tiers: readonly Tier[]) {
  const index = new OfferIndex();
  index.load(offers, offers.length);
  const wanted = { requirement_paise: requirementPaise, tiers };
  const { offers: bundle, tier, proof } = chooseCover(index, wanted, { steps: 10_000_000 });
  const priceBps = tier && priceInTier(tier, bundle);
  return { bundle, sum: sumFaces(bundle), priceBps, proof };
}

type Terms = { readonly limitBps: number | null; readonly restsAtBps?: number };

/** The price of a bundle by the words of the decision; undefined where it cannot be dealt. */
function findPrice(card: CardToday, bundle: readonly Offer[], terms: Terms): number | undefined {
  const sum = sumFaces(bundle);
  const ask = priceAsk(card, sum);
  const { limitBps, restsAtBps } = terms;
  const most = restsAtBps ?? limitBps ?? ask;
  const clients = bundle.filter(({ order_id }) => order_id !== null);
  const isBelow = ask > most;
  if (isBelow && clients.length < bundle.length) return undefined;
  const dearest = Math.max(...clients.map(({ limit_bps }) => limit_bps)) + card.margin_bps;
  const price = restsAtBps ?? (isBelow ? dearest : ask);
  if (price > most) return undefined;
  const isPaid = clients.every(({ face_paise, limit_bps }) => {
    const pays = isBelow && restsAtBps === undefined ? limit_bps + card.margin_bps : price;
    const leavesMargin = price - limit_bps >= card.margin_bps;
    return leavesMargin && coversSellerShare(face_paise, pays, limit_bps);
  });
  if (!isPaid) return undefined;
  // What we price saves at least a paisa, also at the most that the buyer pays.
  const saves = priceCeil(sum, isBelow ? most : price) < sum;
  return restsAtBps !== undefined || saves ? price : undefined;
}

function listSubsets(offers: readonly Offer[]): Offer[][] {
  return offers.reduce<Offer[][]>(
    (subsets, offer) => [...subsets, ...subsets.map((subset) => [...subset, offer])],
    [[]],
  );
}

test("a buy covers the most that the price of its own sum pays for, at that price", () => {
  fc.assert(
    fc.property(cardWith(anyBands), shelf, requirement, fromMid, (card, held, wanted, fromMid) => {
      const offers = toOffers(card, held);
      const limitBps = fromMid === null ? null : Math.min(9_999, card.mid_bps + fromMid);
      const resting = { orderId: "", pan: null, priceBps: limitBps ?? 0, remainingPaise: wanted };
      const ways = [
        { terms: { limitBps }, tiers: listTiers(card, { requirementPaise: wanted, limitBps }) },
        {
          terms: { limitBps, restsAtBps: resting.priceBps },
          tiers: listRestingTiers(card, resting),
        },
      ];
      for (const { terms, tiers } of ways) {
        const possible = listSubsets(offers).filter(
          (subset) =>
            subset.length > 0 &&
            sumFaces(subset) <= wanted &&
            findPrice(card, subset, terms) !== undefined,
        );
        const best = Math.max(0, ...possible.map(sumFaces));
        const { bundle, sum, priceBps, proof } = takeBest(offers, wanted, tiers);
        assert.equal(sum, best);
        assert.ok(proof.residual_bound_paise <= wanted - best);
        if (proof.residual === "optimal") assert.equal(proof.residual_bound_paise, wanted - best);
        assert.equal(priceBps, best === 0 ? undefined : findPrice(card, bundle, terms));
      }
    }),
    { numRuns: 1_000 },
  );
});

test("the house's result is at least what its card says for what was dealt", () => {
  fc.assert(
    fc.property(cardWith(anyBands), shelf, requirement, fromMid, (card, held, wanted, fromMid) => {
      const limitBps = fromMid === null ? null : Math.min(9_999, card.mid_bps + fromMid);
      const tiers = listTiers(card, { requirementPaise: wanted, limitBps });
      const { bundle, sum, priceBps = 0 } = takeBest(toOffers(card, held), wanted, tiers);
      const paid = BigInt(priceCeil(sum, priceBps)) * 10_000n;
      const least = bundle.reduce((bySum, { face_paise, limit_bps, order_id }) => {
        const atLeast = order_id === null ? priceAsk(card, sum) : limit_bps + card.margin_bps;
        return bySum + BigInt(face_paise) * BigInt(atLeast);
      }, 0n);
      assert.ok(paid >= least);
      assert.ok(limitBps === null || priceBps <= limitBps);
    }),
    { numRuns: 1_000 },
  );
});

test("a larger requirement never covers less, nor the same sum at another price", () => {
  fc.assert(
    fc.property(cardWith(anyBands), shelf, requirement, fc.nat(), (card, held, wanted, more) => {
      const offers = toOffers(card, held);
      const take = (requirementPaise: number) =>
        takeBest(offers, requirementPaise, listTiers(card, { requirementPaise, limitBps: null }));
      const [plain, inflated] = [take(wanted), take(wanted + more)];
      assert.ok(inflated.sum >= plain.sum);
      if (inflated.sum === plain.sum) assert.equal(inflated.priceBps, plain.priceBps);
    }),
    { numRuns: 1_000 },
  );
});

test("on a card whose larger sums are cheaper, several buys pay at least what one would", () => {
  fc.assert(
    fc.property(cardWith(fallingBands), shelf, fc.array(requirement), (card, held, parts) => {
      let left = toOffers(card, held);
      let paid = 0;
      let dealt = 0;
      for (const requirementPaise of parts) {
        const tiers = listTiers(card, { requirementPaise, limitBps: null });
        const { bundle, sum, priceBps = 0 } = takeBest(left, requirementPaise, tiers);
        const taken = new Set(bundle.map(({ scrip_no }) => scrip_no));
        left = left.filter(({ scrip_no }) => !taken.has(scrip_no));
        paid += priceCeil(sum, priceBps);
        dealt += sum;
      }
      assert.ok(paid >= priceCeil(dealt, priceAsk(card, dealt)));
    }),
    { numRuns: 1_000 },
  );
});
