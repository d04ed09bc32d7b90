import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { priceFloor } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { type RateCard, startingTerms } from "../rates/rules.ts";
import { marketGroup } from "../../test/support/market-group.ts";
import { drawFrom } from "../../test/support/market.ts";
import { assignCredits } from "./assign-credits.ts";
import {
  sumEntities,
  hasPrice,
  groupLots,
  listMoves,
  type OpenCards,
  listPairings,
  toProposal,
  sumSchemes,
  priceLot,
} from "./figures.ts";
import { buildBoard, type Holdings } from "./rules.ts";

const today = "2026-11-15";

function newCard(scheme: Scheme, terms: Partial<RateCard> = {}): RateCard {
  return {
    ...startingTerms[scheme],
    environment: "sandbox",
    scheme,
    version: 1,
    state: "open",
    published_at: new Date(0),
    published_by: "test",
    note: null,
    ...terms,
  };
}

const cards: OpenCards = new Map(schemes.map((scheme) => [scheme, newCard(scheme)]));

function netted(holdings: Holdings, open = cards) {
  const board = buildBoard(holdings);
  const slices = assignCredits(board);
  let slice = slices.next();
  while (!slice.done) slice = slices.next();
  const pairings = listPairings(board, slice.value);
  const proposals = listMoves(pairings).map((move) => toProposal(move, open));
  const lots = groupLots(proposals);
  return {
    proposals,
    lots,
    entities: sumEntities(holdings, pairings, lots),
    lines: sumSchemes(holdings, pairings, { cards: open, today }),
  };
}

function sumBy<Item>(items: readonly Item[], pick: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + pick(item), 0);
}

test("the figures of any group add up to the paisa", () => {
  let moved = 0;
  const size = fc.record({
    seed: fc.integer({ min: 1, max: 1_000_000 }),
    firms: fc.integer({ min: 1, max: 6 }),
    credits: fc.integer({ min: 0, max: 12 }),
    requirements: fc.integer({ min: 0, max: 5 }),
  });
  fc.assert(
    fc.property(size, ({ seed, ...group }) => {
      const holdings = marketGroup(drawFrom(seed), group);
      const { proposals, lots, entities, lines } = netted(holdings);
      moved += proposals.length;
      assert.equal(
        sumBy(entities, ({ net_cash_paise }) => net_cash_paise),
        0,
      );
      const face = sumBy(proposals, ({ face_paise }) => face_paise);
      assert.equal(
        sumBy(entities, ({ give_paise }) => give_paise),
        face,
      );
      assert.equal(
        sumBy(entities, ({ take_paise }) => take_paise),
        face,
      );
      assert.equal(
        sumBy(lots, ({ scrip_nos }) => scrip_nos.length),
        proposals.length,
      );
      for (const line of lines) {
        assert.equal(line.gross_credit_paise, line.internal_match_paise + line.net_sell_paise);
        assert.equal(line.gross_requirement_paise, line.internal_match_paise + line.net_buy_paise);
        const moves = proposals.filter(({ scheme }) => scheme === line.scheme);
        assert.equal(line.spread_saved_paise > 0, moves.length > 0);
      }
      const owed = sumBy(holdings.requirements, ({ amount_paise }) => amount_paise);
      assert.equal(
        sumBy(lines, ({ gross_requirement_paise }) => gross_requirement_paise),
        owed,
      );
      assert.equal(
        sumBy(entities, ({ uncovered_paise }) => uncovered_paise),
        sumBy(lines, ({ net_buy_paise }) => net_buy_paise),
      );
    }),
    { numRuns: 200 },
  );
  assert.ok(moved > 100, "groups move something");
});

const giver = { firm_id: "frm_a", pan: "A", may_trade: true };
const taker = { firm_id: "frm_b", pan: "B", may_trade: true };
const credit = {
  scrip_no: "SCRIP1",
  firm_id: "frm_a",
  scheme: "RODTEP",
  face_paise: 10_000_001,
  expires_on: "2027-01-10",
  is_movable: true,
} as const;
const requirement = {
  requirement_id: "rqm_1",
  firm_id: "frm_b",
  scheme: null,
  amount_paise: 20_000_000,
  due_on: "2026-12-31",
  version: 1,
};
const one: Holdings = { firms: [giver, taker], credits: [credit], requirements: [requirement] };

test("a cross is worth its face at the mid, rounded down once", () => {
  const { lots } = netted(one);
  assert.deepEqual(lots.map(priceLot), [priceFloor(10_000_001, 9_850)]);
});

test("a saving is claimed only on a side that has a price", () => {
  const [withBid] = netted(one).lines;
  // An ask of 99.35 %, rounded up, less a bid of 95.15 % with 56 days left, rounded down.
  assert.equal(withBid?.spread_saved_paise, 9_935_001 - 9_515_000);
  const bands = [{ from_days: 90, bps: 0 }];
  const short: OpenCards = new Map([["RODTEP", newCard("RODTEP", { validity_bands: bands })]]);
  const [withoutBid] = netted(one, short).lines;
  assert.equal(withoutBid?.spread_saved_paise, 9_935_001 - priceFloor(10_000_001, 9_850));
});

test("uncovered duty of either scheme is bought where cover is cheapest", () => {
  const dear = newCard("ROSCTL", { mid_bps: 9_900 });
  const bought = (open: OpenCards) =>
    netted({ ...one, credits: [] }, open).lines.map(({ net_buy_paise }) => net_buy_paise);
  assert.deepEqual(bought(cards), [0, 20_000_000]);
  assert.deepEqual(bought(new Map([...cards, ["ROSCTL", dear]])), [20_000_000, 0]);
  assert.deepEqual(bought(new Map()), [20_000_000, 0]);
});

test("a credit has no price when it is worth less than a paisa at the mid or has no market", () => {
  const tiny = { scheme: "RODTEP", face_paise: 1 } as const;
  assert.equal(hasPrice(cards, tiny), false);
  assert.equal(hasPrice(cards, { ...tiny, face_paise: 2 }), true);
  assert.equal(hasPrice(new Map(), { ...tiny, face_paise: 2 }), false);
});
