import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { houseFirmId } from "../kernel/ids.ts";
import { istDayStart } from "../kernel/time.ts";
import { priceAsk, priceBid, type RateCard } from "../rates/rules.ts";
import {
  computeFigure,
  computeRetentionEnd,
  estimatePrice,
  estimateSlackBps,
  previewDays,
  simulateIndex,
  findDayToFix,
  isIndexDay,
  secondsToMidnight,
  selectArmsLengthDeals,
  sellersMin,
  trimDivisor,
  trimmedMeanBps,
} from "./public-rules.ts";

const day = { scheme: "RODTEP", day: "2026-11-14" } as const;

const deal = fc.record({
  face_paise: fc.oneof(
    fc.integer({ min: 1, max: 1_000 }),
    fc.maxSafeInteger().map((face) => Math.max(1, Math.abs(face))),
  ),
  seller_bps: fc.integer({ min: 1, max: 10_000 }),
});
const tape = fc.array(deal, { minLength: 1, maxLength: 30 });

/** The same by the paisa, one by one: what the arithmetic stands for. */
function meanByHand(deals: readonly { face_paise: number; seller_bps: number }[]): number {
  const prices = deals
    .flatMap(({ face_paise, seller_bps }) => Array<number>(face_paise).fill(seller_bps))
    .toSorted((a, b) => a - b);
  const cut = Math.floor(prices.length / trimDivisor);
  const kept = prices.slice(cut, prices.length - cut);
  return Math.floor(kept.reduce((sum, price) => sum + price, 0) / kept.length + 0.5);
}

test("the trimmed mean is the mean of every paisa's price without a tenth at each end", () => {
  const small = fc.array(
    fc.record({
      face_paise: fc.integer({ min: 1, max: 40 }),
      seller_bps: deal.map((d) => d.seller_bps),
    }),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(fc.property(small, (deals) => assert.equal(trimmedMeanBps(deals), meanByHand(deals))));
});

test("the trimmed mean of fixed examples is exact, with halves rounded up", () => {
  const at = (seller_bps: number, face_paise: number) => ({ seller_bps, face_paise });
  assert.equal(trimmedMeanBps([at(9_800, 1)]), 9_800);
  assert.equal(trimmedMeanBps([at(9_800, 1), at(9_801, 1)]), 9_801, "halves go up");
  // A hundred paise, ten cut at each end: 30 × 9000, 40 × 9800 and 10 × 9900 are left, 9512.5.
  assert.equal(trimmedMeanBps([at(9_900, 20), at(9_000, 40), at(9_800, 40)]), 9_513);
  const max = Number.MAX_SAFE_INTEGER;
  assert.equal(trimmedMeanBps([at(9_999, max), at(9_998, max), at(9_999, max)]), 9_999);
});

test("the figure does not depend on the order of deals or on how a face was split", () => {
  fc.assert(
    fc.property(tape, fc.infiniteStream(fc.nat()), (deals, numbers) => {
      const shuffled = deals
        .map((each) => ({ each, at: numbers.next().value }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ each }) => each);
      const pieces = shuffled.flatMap(({ face_paise, seller_bps }) => {
        const first = Math.floor(face_paise / 2);
        const parts = first > 0 ? [first, face_paise - first] : [face_paise];
        return parts.map((part) => ({ face_paise: part, seller_bps }));
      });
      assert.equal(trimmedMeanBps(pieces), trimmedMeanBps(deals));
    }),
  );
});

test("the figure lies within the prices, and a higher price never lowers it", () => {
  fc.assert(
    fc.property(tape, fc.nat(), fc.integer({ min: 0, max: 500 }), (deals, pick, rise) => {
      const prices = deals.map(({ seller_bps }) => seller_bps);
      const index = trimmedMeanBps(deals);
      assert.ok(index >= Math.min(...prices) && index <= Math.max(...prices));
      const dearer = deals.map((each, at) =>
        at === pick % deals.length
          ? { ...each, seller_bps: Math.min(10_000, each.seller_bps + rise) }
          : each,
      );
      assert.ok(trimmedMeanBps(dearer) >= index);
    }),
  );
});

test("deals of less than a tenth of the face cannot move the figure beyond the other prices", () => {
  fc.assert(
    fc.property(tape, fc.integer({ min: 1, max: 10_000 }), (deals, seller_bps) => {
      const total = deals.reduce((sum, { face_paise }) => sum + face_paise, 0);
      // What is added is itself part of the day: a tenth of the whole is a ninth of the rest.
      const face_paise = Math.floor(total / (trimDivisor - 1));
      fc.pre(face_paise >= 1 && Number.isSafeInteger(total));
      const prices = deals.map((each) => each.seller_bps);
      const index = trimmedMeanBps([...deals, { face_paise, seller_bps }]);
      assert.ok(index >= Math.min(...prices) && index <= Math.max(...prices));
    }),
  );
  const others = [9_800, 9_810, 9_820].map((seller_bps) => ({ seller_bps, face_paise: 1_000 }));
  const more = { face_paise: 3_000, seller_bps: 1 };
  assert.ok(trimmedMeanBps([...others, more]) < 9_800, "a bigger share does move it");
});

test("a day with three sellers has its own figure; with fewer the last one is carried", () => {
  const previous = computeFigure({ ...day, day: "2026-11-13" }, sold(["a", "b", "c"]), undefined);
  assert.deepEqual(previous, {
    scheme: "RODTEP",
    day: "2026-11-13",
    basis: "deals",
    index_bps: 9_800,
    deals_on: "2026-11-13",
    deal_count: 3,
    seller_count: 3,
    face_paise: 300,
  });
  const few = sold(["a", "b", "a", "b"]);
  assert.equal(sellersMin, 3);
  const carried = computeFigure(day, few, previous);
  assert.deepEqual(carried, {
    ...previous,
    day: "2026-11-14",
    basis: "carried",
    deal_count: null,
    seller_count: null,
    face_paise: null,
  });
  assert.equal(computeFigure({ ...day, day: "2026-11-15" }, [], carried).deals_on, "2026-11-13");
  const none = computeFigure(day, few, undefined);
  assert.equal(none.basis, "none");
  assert.equal(none.index_bps, null);
  assert.equal(computeFigure(day, [], none).basis, "none");
});

function sold(sellers: readonly string[]) {
  return sellers.map((seller) => ({ seller, face_paise: 100, seller_bps: 9_800 }));
}

test("deals that are not at arm's length do not count, and one company is one seller", () => {
  const relations = new Map([
    ["frm_a", { pan: "PAN-A", groupId: "grp_1" }],
    ["frm_b", { pan: "PAN-B", groupId: "grp_1" }],
    ["frm_a_elsewhere", { pan: "PAN-A", groupId: null }],
    ["frm_c", { pan: null, groupId: null }],
    ["frm_d", { pan: null, groupId: null }],
    [houseFirmId.live, { pan: null, groupId: null }],
  ]);
  const traded = (seller_firm_id: string, buyer_firm_id: string, state = "delivered") => ({
    seller_firm_id,
    buyer_firm_id,
    state,
    face_paise: 1,
    seller_bps: 9_800,
  });
  const counted = (deal: ReturnType<typeof traded>) =>
    selectArmsLengthDeals([deal], relations).length === 1;
  assert.ok(counted(traded("frm_a", houseFirmId.live)));
  assert.ok(counted(traded("frm_a", "frm_c", "pending")));
  assert.ok(counted(traded("frm_c", "frm_d")), "two firms of no group are no group");
  assert.ok(counted(traded("frm_unknown", "frm_c")));
  assert.equal(counted(traded(houseFirmId.live, "frm_c")), false, "the house sells");
  assert.equal(counted(traded("frm_a", "frm_b")), false, "inside a group");
  assert.equal(counted(traded("frm_a", "frm_a_elsewhere")), false, "one company on two desks");
  assert.equal(counted(traded("frm_c", "frm_c")), false, "with itself");
  assert.equal(counted(traded("frm_a", "frm_c", "failed")), false, "failed");
  for (const deal of [traded("frm_a", "frm_c"), traded("frm_c", "frm_a_elsewhere")]) {
    assert.deepEqual(selectArmsLengthDeals([deal], relations, "PAN-A"), [], "with the house");
  }
  assert.equal(selectArmsLengthDeals([traded("frm_c", "frm_d")], relations, "PAN-A").length, 1);
  const sellers = selectArmsLengthDeals(
    [traded("frm_a", "frm_c"), traded("frm_a_elsewhere", "frm_d"), traded("frm_c", "frm_d")],
    relations,
  ).map(({ seller }) => seller);
  assert.deepEqual(sellers, ["PAN-A", "PAN-A", "frm_c"]);
});

test("days are fixed in order, 15 minutes after their end, from the first deal on", () => {
  const firstDealAt = new Date("2026-11-10T23:59:59.999+05:30");
  const at = (text: string) => new Date(`${text}+05:30`);
  const first = (now: Date) => findDayToFix({ lastFixed: undefined, firstDealAt, now });
  assert.equal(first(at("2026-11-11T00:14:59.999")), undefined);
  assert.equal(first(at("2026-11-11T00:15:00")), "2026-11-10");
  assert.equal(first(at("2026-11-20T12:00:00")), "2026-11-10", "missed days follow in order");
  const none = { lastFixed: undefined, firstDealAt: undefined, now: at("2026-11-20T12:00:00") };
  assert.equal(findDayToFix(none), undefined);
  const after = (lastFixed: string, now: Date) =>
    findDayToFix({ lastFixed, firstDealAt: undefined, now });
  assert.equal(after("2026-11-10", at("2026-11-20T12:00:00")), "2026-11-11");
  assert.equal(after("2026-11-19", at("2026-11-20T23:59:59")), undefined);
  assert.equal(after("2028-02-28", at("2028-03-01T00:15:00")), "2028-02-29");
});

test("a day of the index is a valid date of the database", () => {
  assert.equal(istDayStart("2026-11-15").toISOString(), "2026-11-14T18:30:00.000Z");
  for (const text of ["2026-11-15", "2028-02-29", "1000-01-01"]) assert.ok(isIndexDay(text), text);
  for (const text of ["0000-01-01", "2026-02-29", "2026-1-1", "today", ""]) {
    assert.equal(isIndexDay(text), false, text);
  }
});

const card = fc
  .record({
    mid_bps: fc.integer({ min: 1, max: 10_000 }),
    half_spread_bps: fc.integer({ min: 1, max: 500 }),
    size_bps: fc.integer({ min: -300, max: 300 }),
    bounds: fc.uniqueArray(fc.integer({ min: 1, max: 9_999 }), { minLength: 3, maxLength: 3 }),
    validity_bps: fc.integer({ min: -500, max: 0 }),
  })
  .map(({ bounds, size_bps, validity_bps, ...prices }): RateCard => {
    const [floor_bps = 1, ceiling_bps = 2, ask_ceiling_bps = 3] = bounds.toSorted((a, b) => a - b);
    return {
      ...prices,
      environment: "live",
      scheme: "RODTEP",
      version: 1,
      state: "open",
      size_bands: [
        { below_paise: 1_000_000, bps: size_bps },
        { below_paise: null, bps: 0 },
      ],
      validity_bands: [
        { from_days: 365, bps: 0 },
        { from_days: 30, bps: validity_bps },
      ],
      floor_bps,
      ceiling_bps,
      ask_ceiling_bps,
      face_max_paise: Number.MAX_SAFE_INTEGER,
      house_limit_paise: Number.MAX_SAFE_INTEGER,
      desk_share_bps: 1_000,
      rest_min_paise: 100_000,
      quote_window_s: 120,
      margin_bps: 20,
      fee_bps: 0,
      default_bps: 50,
      published_at: new Date(0),
      published_by: "test",
      note: null,
    };
  });

test("an estimate includes every price that the card gives now, and stays within its bounds", () => {
  const amount = fc.maxSafeInteger().map((paise) => Math.max(1, Math.abs(paise)));
  fc.assert(
    fc.property(card, amount, (rateCard, amountPaise) => {
      const selling = estimatePrice(rateCard, { side: "sell", amountPaise, daysLeft: undefined });
      const buying = estimatePrice(rateCard, { side: "buy", amountPaise, daysLeft: undefined });
      assert.ok(selling.kind === "range" && buying.kind === "range");
      for (const days of [30, 364, 365, 730]) {
        const bid = priceBid(rateCard, amountPaise, days) ?? 0;
        assert.ok(selling.lowBps <= bid && bid <= selling.highBps);
      }
      const ask = priceAsk(rateCard, amountPaise);
      assert.ok(buying.lowBps <= ask && ask <= buying.highBps);
      for (const { lowPaise, highPaise } of [selling, buying]) {
        assert.ok(lowPaise >= 0 && lowPaise <= highPaise && highPaise <= amountPaise);
      }
      assert.ok(selling.lowBps >= rateCard.floor_bps && selling.highBps <= rateCard.ceiling_bps);
      assert.ok(buying.lowBps >= rateCard.floor_bps);
      assert.ok(buying.highBps <= rateCard.ask_ceiling_bps);
    }),
  );
});

test("the expiry of a credit narrows its estimate to the prices of that validity", () => {
  const amount = fc.maxSafeInteger().map((paise) => Math.max(1, Math.abs(paise)));
  const days = fc.integer({ min: -10, max: 800 });
  fc.assert(
    fc.property(card, amount, days, (rateCard, amountPaise, daysLeft) => {
      const wide = estimatePrice(rateCard, { side: "sell", amountPaise, daysLeft: undefined });
      const narrow = estimatePrice(rateCard, { side: "sell", amountPaise, daysLeft });
      const bid = priceBid(rateCard, amountPaise, daysLeft);
      assert.equal(narrow.kind, bid === undefined ? "none" : "range");
      if (narrow.kind === "none") return assert.equal(narrow.reason, "validity_unavailable");
      assert.ok(wide.kind === "range" && bid !== undefined);
      assert.ok(wide.lowBps <= narrow.lowBps && narrow.highBps <= wide.highBps);
      assert.ok(narrow.lowBps <= bid && bid <= narrow.highBps);
      assert.ok(narrow.highBps - narrow.lowBps <= 2 * estimateSlackBps);
    }),
  );
});

test("simulated figures are the same for everybody, end today and stay between floor and mid", () => {
  fc.assert(
    fc.property(card, (rateCard) => {
      const figures = simulateIndex(rateCard, "2026-11-15");
      assert.equal(figures.length, previewDays);
      assert.equal(figures.at(-1)?.day, "2026-11-15");
      const later = simulateIndex(rateCard, "2026-11-16");
      assert.deepEqual(later.slice(0, -1), figures.slice(1));
      const top = Math.max(rateCard.mid_bps, rateCard.floor_bps);
      for (const { index_bps } of figures) assert.ok(index_bps <= top && index_bps > 0);
    }),
  );
});

test("an enquiry is kept for 180 days, or for 30 after it was closed if that is earlier", () => {
  const received = new Date("2026-11-15T10:00:00Z");
  assert.equal(computeRetentionEnd(received, null).toISOString(), "2027-05-14T10:00:00.000Z");
  const closedAt = (text: string) => computeRetentionEnd(received, new Date(text)).toISOString();
  assert.equal(closedAt("2026-11-16T10:00:00Z"), "2026-12-16T10:00:00.000Z");
  assert.equal(closedAt("2027-05-01T10:00:00Z"), "2027-05-14T10:00:00.000Z");
});

test("a day's budget is restored at midnight IST, and Retry-After is at least one second", () => {
  const wait = (text: string) => secondsToMidnight(new Date(text));
  assert.equal(wait("2026-11-15T23:59:59.999+05:30"), 1);
  assert.equal(wait("2026-11-15T23:59:00+05:30"), 60);
  assert.equal(wait("2026-11-16T00:00:00+05:30"), 86_400);
});
