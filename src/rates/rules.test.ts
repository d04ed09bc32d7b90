import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { bpsOfPar, priceCeil, priceFloor } from "../kernel/money.ts";
import { schemes } from "../kernel/scheme.ts";
import {
  type CardTerms,
  findTermProblems,
  priceAsk,
  priceBid,
  type RateCard,
  type SizeBand,
  startingTerms,
  type ValidityBand,
} from "./rules.ts";

const paiseMax = Number.MAX_SAFE_INTEGER;

function newCard(terms: Partial<CardTerms> = {}): RateCard {
  return {
    ...startingTerms.RODTEP,
    ...terms,
    environment: "sandbox",
    scheme: "RODTEP",
    version: 1,
    state: "open",
    published_at: new Date(0),
    published_by: "test",
    note: null,
  };
}

const start = newCard();
const face = fc.integer({ min: 1, max: paiseMax });
const days = fc.integer({ min: 0, max: 1_000 });
const bandBps = fc.integer({ min: -400, max: 120 });

const sizeBands: fc.Arbitrary<SizeBand[]> = fc
  .tuple(fc.uniqueArray(face, { maxLength: 6 }), fc.array(bandBps, { minLength: 7, maxLength: 7 }))
  .map(([bounds, bps]) => [
    ...bounds
      .toSorted((a, b) => a - b)
      .map((below_paise, index) => ({ below_paise, bps: bps[index] ?? 0 })),
    { below_paise: null, bps: bps[6] ?? 0 },
  ]);

const validityBands: fc.Arbitrary<ValidityBand[]> = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 31, max: 900 }), { maxLength: 5 }),
    fc.array(bandBps, { minLength: 6, maxLength: 6 }),
  )
  .map(([from, bps]) =>
    [...from.toSorted((a, b) => b - a), 30].map((from_days, index) => ({
      from_days,
      bps: bps[index] ?? 0,
    })),
  );

const clamps = fc
  .uniqueArray(fc.integer({ min: 1, max: bpsOfPar - 1 }), { minLength: 3, maxLength: 3 })
  .map((three) => three.toSorted((a, b) => a - b))
  .map(([floor_bps = 0, ceiling_bps = 0, ask_ceiling_bps = 0]) => ({
    floor_bps,
    ceiling_bps,
    ask_ceiling_bps,
  }));

/** Terms of every kind, most of which may be published. */
const anyTerms: fc.Arbitrary<RateCard> = fc
  .tuple(
    fc.record({
      mid_bps: fc.integer({ min: 1, max: bpsOfPar }),
      half_spread_bps: fc.integer({ min: 1, max: 600 }),
      size_bands: sizeBands,
      validity_bands: validityBands,
    }),
    clamps,
  )
  .map(([terms, clamped]) => newCard({ ...terms, ...clamped }));

const publishable = anyTerms.filter((card) => findTermProblems(card).length === 0);

/** Larger faces and longer validities never get less. */
const monotone = publishable
  .map((card) => ({
    ...card,
    size_bands: withBps(card.size_bands, (a, b) => a - b),
    validity_bands: withBps(card.validity_bands, (a, b) => b - a),
  }))
  .filter((card) => findTermProblems(card).length === 0);

function withBps<Band extends { readonly bps: number }>(
  bands: readonly Band[],
  order: (a: number, b: number) => number,
): Band[] {
  const sorted = bands.map(({ bps }) => bps).toSorted(order);
  return bands.map((band, index) => ({ ...band, bps: sorted[index] ?? 0 }));
}

test("the starting cards may be published", () => {
  for (const scheme of schemes) assert.deepEqual(findTermProblems(startingTerms[scheme]), []);
});

test("a face at a bound is in the upper band, one paisa less in the lower", () => {
  const base = 9_850 - 40;
  const edges = [
    [1, -150],
    [4_999_999, -150],
    [5_000_000, -90],
    [9_999_999, -90],
    [10_000_000, -45],
    [49_999_999, -45],
    [50_000_000, -15],
    [249_999_999, -15],
    [250_000_000, 0],
    [999_999_999, 0],
    [1_000_000_000, 10],
    [paiseMax, 10],
  ] as const;
  for (const [paise, bps] of edges) {
    assert.equal(priceBid(start, paise, 365), base + bps, `bid of ${paise}`);
    assert.equal(priceAsk(start, paise), Math.min(9_850 + 40 - bps, 9_990), `ask of ${paise}`);
  }
});

test("a band begins with its own day, and a day before the last band has no price", () => {
  const base = 9_850 - 40;
  const edges = [
    [730, 0],
    [365, 0],
    [364, -15],
    [180, -15],
    [179, -50],
    [90, -50],
    [89, -110],
    [60, -110],
    [59, -250],
    [30, -250],
  ] as const;
  for (const [left, bps] of edges) {
    assert.equal(priceBid(start, 500_000_000, left), base + bps, `${left} days`);
  }
  for (const left of [29, 1, 0, -1]) assert.equal(priceBid(start, 500_000_000, left), undefined);
});

test("a bid is within floor and ceiling, an ask above the floor and at most its own ceiling", () => {
  fc.assert(
    fc.property(publishable, face, days, (card, paise, left) => {
      const bid = priceBid(card, paise, left);
      assert.ok(bid === undefined || (bid >= card.floor_bps && bid <= card.ceiling_bps));
      const ask = priceAsk(card, paise);
      assert.ok(ask > card.floor_bps && ask <= card.ask_ceiling_bps && ask < bpsOfPar);
    }),
  );
  assert.equal(priceBid(newCard({ mid_bps: 7_500 }), 1, 365), 7_500);
  assert.equal(priceAsk(newCard({ mid_bps: 9_990 }), 1), 9_990);
});

test("a bid never falls with size or validity when the bands do not", () => {
  fc.assert(
    fc.property(monotone, face, face, days, days, (card, one, other, short, long) => {
      const [small, large] = one < other ? [one, other] : [other, one];
      const [less, more] = short < long ? [short, long] : [long, short];
      const low = priceBid(card, small, less);
      const bids = [priceBid(card, large, less), priceBid(card, small, more)];
      if (low !== undefined) assert.ok(bids.every((bid) => bid !== undefined && bid >= low));
    }),
  );
});

/** Terms as they may stand in a card of before this rule: any bands, any mid. */
const everPublished = anyTerms;

test("no bid is above the mid and no ask below it, for any size, validity and card", () => {
  fc.assert(
    fc.property(everPublished, face, face, days, (card, paise, requirement, left) => {
      const bid = priceBid(card, paise, left) ?? 0;
      const ask = priceAsk(card, requirement);
      assert.ok(bid <= ask, `${bid} ${ask}`);
      if (findTermProblems(card).length > 0) return;
      assert.ok(bid <= card.mid_bps && card.mid_bps <= ask, `${bid} ${card.mid_bps} ${ask}`);
    }),
    { numRuns: 2_000 },
  );
});

test("buying from the house and selling back never gains, credit by credit or by amount", () => {
  const few = fc.array(fc.tuple(fc.integer({ min: 1, max: 20_000_000_000 }), days), {
    minLength: 1,
    maxLength: 15,
  });
  fc.assert(
    fc.property(everPublished, few, fc.nat(1_000_000), (card, credits, beyond) => {
      const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
      const faces = credits.map(([paise]) => paise);
      const whole = sum(faces);
      const costs = [
        sum(faces.map((paise) => priceCeil(paise, priceAsk(card, paise + beyond)))),
        priceCeil(whole, priceAsk(card, whole + beyond)),
      ];
      const proceeds = [
        sum(credits.map(([paise, left]) => priceFloor(paise, priceBid(card, paise, left) ?? 0))),
        priceFloor(whole, priceBid(card, whole, 365) ?? 0),
      ];
      assert.ok(
        Math.max(...proceeds) <= Math.min(...costs),
        `${proceeds.join()} for ${costs.join()}`,
      );
    }),
    { numRuns: 2_000 },
  );
});

test("a card is refused exactly when its bands would cross the mid", () => {
  const crosses = (card: RateCard) => {
    const { mid_bps, half_spread_bps, size_bands, validity_bands } = card;
    return (
      mid_bps < card.floor_bps ||
      mid_bps > card.ask_ceiling_bps ||
      size_bands.some((size) => {
        const bids = validity_bands.map(({ bps }) => mid_bps + size.bps + bps - half_spread_bps);
        return Math.max(...bids) > mid_bps || mid_bps - size.bps + half_spread_bps < mid_bps;
      })
    );
  };
  fc.assert(
    fc.property(anyTerms, (card) => {
      assert.equal(findTermProblems(card).length > 0, crosses(card));
    }),
    { numRuns: 1_000 },
  );
  assert.ok(fc.sample(anyTerms, 200).some(crosses), "some of them do");
});

test("payments of the house are rounded down and payments to it up, by less than a paisa", () => {
  const par = BigInt(bpsOfPar);
  fc.assert(
    fc.property(publishable, face, (card, paise) => {
      const bid = priceBid(card, paise, 365) ?? assert.fail("365 days have a price");
      const ask = priceAsk(card, paise);
      const paid = BigInt(priceFloor(paise, bid)) * par;
      const charged = BigInt(priceCeil(paise, ask)) * par;
      const worth = (bps: number) => BigInt(paise) * BigInt(bps);
      assert.ok(paid <= worth(bid) && worth(bid) < paid + par);
      assert.ok(charged - par < worth(ask) && worth(ask) <= charged);
      assert.ok(paid <= charged);
    }),
  );
});

const refusals: Readonly<Record<string, [path: string, Partial<CardTerms>]>> = {
  "a fraction": ["mid_bps", { mid_bps: 9_850.5 }],
  "no number": ["mid_bps", { mid_bps: Number.NaN }],
  "a mid above par": ["mid_bps", { mid_bps: 10_001 }],
  "a mid of nothing": ["mid_bps", { mid_bps: 0 }],
  "no spread": ["half_spread_bps", { half_spread_bps: 0 }],
  "a face that a double cannot hold": ["face_max_paise", { face_max_paise: paiseMax + 1 }],
  "a house that may take nothing": ["house_limit_paise", { house_limit_paise: 0 }],
  "a window of nothing": ["quote_window_s", { quote_window_s: 0 }],
  "a window of more than a day": ["quote_window_s", { quote_window_s: 86_401 }],
  "a negative margin": ["margin_bps", { margin_bps: -1 }],
  "a fee of more than a tenth": ["fee_bps", { fee_bps: 1_001 }],
  "a floor at the ceiling": ["ceiling_bps", { floor_bps: 9_980 }],
  "a ceiling at the ask ceiling": ["ask_ceiling_bps", { ask_ceiling_bps: 9_980 }],
  "an ask at par": ["ask_ceiling_bps", { ask_ceiling_bps: 10_000 }],
  "no size band": ["size_bands", { size_bands: [] }],
  "a bound on the last size band": ["size_bands", { size_bands: [{ below_paise: 5, bps: 0 }] }],
  "two size bands without a bound": [
    "size_bands",
    {
      size_bands: [
        { below_paise: null, bps: 0 },
        { below_paise: null, bps: 0 },
      ],
    },
  ],
  "size bands that fall": [
    "size_bands",
    {
      size_bands: [
        { below_paise: 5, bps: 0 },
        { below_paise: 5, bps: 0 },
        { below_paise: null, bps: 0 },
      ],
    },
  ],
  "a bound of nothing": [
    "size_bands",
    {
      size_bands: [
        { below_paise: 0, bps: 0 },
        { below_paise: null, bps: 0 },
      ],
    },
  ],
  "a size band with a fraction": ["size_bands", { size_bands: [{ below_paise: null, bps: 0.5 }] }],
  "too many size bands": [
    "size_bands",
    { size_bands: Array.from({ length: 51 }, () => ({ below_paise: null, bps: 0 })) },
  ],
  "no validity band": ["validity_bands", { validity_bands: [] }],
  "validity bands that rise": [
    "validity_bands",
    {
      validity_bands: [
        { from_days: 30, bps: 0 },
        { from_days: 60, bps: 0 },
      ],
    },
  ],
  "a price for days that cannot be sold": [
    "validity_bands",
    { validity_bands: [{ from_days: 29, bps: 0 }] },
  ],
  "no price for an amount": ["validity_bands", { validity_bands: [{ from_days: 366, bps: 0 }] }],
  "a validity band beyond par": [
    "validity_bands",
    { validity_bands: [{ from_days: 30, bps: 10_001 }] },
  ],
  "a mid below the floor": ["floor_bps", { mid_bps: 7_499 }],
  "a mid above the ask ceiling": ["ask_ceiling_bps", { mid_bps: 9_991 }],
  "a validity band that crosses the mid": [
    "validity_bands",
    { validity_bands: [{ from_days: 30, bps: 31 }] },
  ],
  "a size band that crosses the mid": [
    "size_bands",
    {
      size_bands: [
        { below_paise: 5, bps: 41 },
        { below_paise: null, bps: 0 },
      ],
    },
  ],
};

for (const [what, [path, terms]] of Object.entries(refusals)) {
  test(`a card is refused for ${what}`, () => {
    assert.deepEqual(
      findTermProblems({ ...startingTerms.RODTEP, ...terms }).map((problem) => problem.path),
      [path],
    );
  });
}

test("bands that reach the mid and do not cross it may be published", () => {
  const validity_bands = [{ from_days: 30, bps: 30 }];
  assert.deepEqual(findTermProblems({ ...startingTerms.RODTEP, validity_bands }), []);
  const size_bands = [
    { below_paise: 5, bps: 40 },
    { below_paise: null, bps: 0 },
  ];
  assert.deepEqual(findTermProblems({ ...startingTerms.RODTEP, size_bands }), []);
});
