import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { OpenQuotes } from "./open-quotes.ts";
import { type CardToday, startingTerms } from "./rules.ts";

const market = { environment: "sandbox", scheme: "RODTEP" } as const;
const limit = 1_000;
const card: CardToday = {
  ...startingTerms.RODTEP,
  ...market,
  house_limit_paise: limit,
  desk_share_bps: 5_000,
  version: 1,
  state: "open",
  published_at: new Date(0),
  published_by: "test",
  note: null,
  taken_paise: 0,
  gst_bps: 1_800,
};

const step = fc.oneof(
  fc.record({
    does: fc.constant("quote" as const),
    deskId: fc.constantFrom("a", "b", "c"),
    credit: fc.nat(9),
    paise: fc.integer({ min: 1, max: 400 }),
    takesBack: fc.boolean(),
  }),
  fc.record({ does: fc.constant("take" as const), credit: fc.nat(9) }),
  fc.record({ does: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 90 }) }),
);

test("open quotes hold the face of each credit once, within the limits", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const quotes = new OpenQuotes();
      let now = new Date(0);
      /** By credit: whose it is, its face and when its last quote ends. */
      const model = new Map<string, { deskId: string; paise: number; until: Date }>();
      const open = () => [...model.values()].filter(({ until }) => until >= now);
      const sum = (some: readonly { paise: number }[]) =>
        some.reduce((total, { paise }) => total + paise, 0);
      for (const one of steps) {
        if (one.does === "wait") {
          now = new Date(now.getTime() + one.seconds * 1_000);
          for (const [id, { until }] of model) if (until < now) model.delete(id);
          continue;
        }
        if (one.does === "take") {
          quotes.release([`credit ${one.credit}`], now);
          model.delete(`credit ${one.credit}`);
        } else {
          const id = `credit ${one.credit}`;
          const before = model.get(id);
          const { deskId, paise } = before ?? one;
          const until = new Date(now.getTime() + 120_000);
          const ms = { untilMs: until.getTime(), heldAtMs: now.getTime() };
          const holding = { ...market, id, deskId, paise, ...ms };
          const others = open().filter((held) => held !== before);
          const fits =
            sum(others) + paise <= limit &&
            sum(others.filter((held) => held.deskId === deskId)) + paise <= limit / 2;
          assert.equal(quotes.hasRoom(card, holding, now), fits);
          if (!fits) continue;
          const heldBefore = quotes.hold(holding);
          if (one.takesBack) quotes.takeBack(holding, heldBefore);
          else model.set(id, { deskId, paise, until });
        }
        assert.equal(quotes.total(market, now), sum(open()));
      }
    }),
    { numRuns: 500 },
  );
});
