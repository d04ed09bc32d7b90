import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { RateCard } from "../rates/rules.ts";
import {
  buildFigures,
  classifyChange,
  type PublishedUpdate,
  findReset,
  parseEventId,
  toEventId,
  writeBodies,
} from "./rules.ts";

const card: RateCard = {
  environment: "sandbox",
  scheme: "RODTEP",
  version: 1,
  state: "open",
  mid_bps: 9_850,
  half_spread_bps: 40,
  size_bands: [
    { below_paise: 50_000_000, bps: -45 },
    { below_paise: null, bps: 0 },
  ],
  validity_bands: [{ from_days: 30, bps: 0 }],
  floor_bps: 7_500,
  ceiling_bps: 9_980,
  ask_ceiling_bps: 9_990,
  face_max_paise: 15_000_000_000,
  house_limit_paise: 1_000_000_000_000,
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

const facts = {
  scheme: "RODTEP" as const,
  card,
  tape: { last: null, volume_paise: 0, count: 0 },
  depth: [{ below_paise: null, count: 2, face_paise: 31_000_000 }],
  indexBps: 9_790,
};

const showPrices = (changed: Partial<RateCard> | undefined) => {
  const figures = buildFigures({ ...facts, card: changed && { ...card, ...changed } });
  return [figures.state, figures.sell_price_bps, figures.buy_price_bps];
};

test("there are prices exactly while a market is open", () => {
  assert.deepEqual(showPrices({}), ["open", 9_810, 9_890]);
  assert.deepEqual(showPrices({ state: "halted" }), ["halted", null, null]);
  assert.deepEqual(showPrices(undefined), ["unavailable", null, null]);
});

test("a card that takes no typical credit is priced for the largest face it takes", () => {
  assert.deepEqual(showPrices({ face_max_paise: 40_000_000 }), ["open", 9_765, 9_935]);
});

test("a card without a price for the days of a typical credit shows none to sellers", () => {
  assert.deepEqual(showPrices({ validity_bands: [{ from_days: 400, bps: 0 }] }), [
    "open",
    null,
    9_890,
  ]);
});

const place = { epoch: "0123456789", seq: 7, asOf: new Date(0) };
const told = JSON.parse(writeBodies(buildFigures(facts), place).buyer_body) as PublishedUpdate;

test("an update is made when figures changed, and a status when the state did", () => {
  assert.equal(classifyChange(undefined, buildFigures(facts)), "update");
  assert.equal(classifyChange(told, buildFigures(facts)), undefined);
  assert.equal(classifyChange(told, buildFigures({ ...facts, indexBps: 9_791 })), "update");
  assert.equal(classifyChange(told, buildFigures({ ...facts, depth: [] })), "update");
  const halted = buildFigures({ ...facts, card: { ...card, state: "halted" } });
  assert.equal(classifyChange(told, halted), "status");
});

test("the two texts of an update differ in the buy price alone", () => {
  const { body, buyer_body } = writeBodies(buildFigures(facts), place);
  const { buy_price_bps, ...rest } = JSON.parse(buyer_body) as PublishedUpdate;
  assert.equal(buy_price_bps, 9_890);
  assert.equal(body, JSON.stringify(rest));
});

test("a stream resumes from an id exactly when the id is of this log and not past its end", () => {
  const end = { epoch: "0123456789", seq: 1_000 };
  const epoch = fc.constantFrom("0123456789", "abcdefabcd");
  fc.assert(
    fc.property(epoch, fc.nat({ max: 2_000 }), (of, seq) => {
      const place = parseEventId(toEventId({ epoch: of, seq }));
      assert.deepEqual(place, { epoch: of, seq });
      const reset = findReset(place ?? assert.fail(), end);
      if (of !== end.epoch) assert.equal(reset, "other_epoch");
      else assert.equal(reset, seq > end.seq ? "unknown_id" : undefined);
    }),
  );
});

test("any other text is a malformed id, and parsing never throws", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!/^[0-9a-f]{10}-\d{1,15}$/.test(text));
      assert.equal(parseEventId(text), undefined);
    }),
  );
});
