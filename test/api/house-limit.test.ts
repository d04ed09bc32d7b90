import assert from "node:assert/strict";
import { test } from "node:test";

import { operator } from "../../src/kernel/actor.ts";
import type { Scheme } from "../../src/kernel/scheme.ts";
import type { Context } from "../../src/platform/context.ts";
import { houseLeftToday, takeHouseLimit } from "../../src/rates/house-limit.ts";
import { publishCard } from "../../src/rates/publish-card.ts";
import type { RateCard } from "../../src/rates/rules.ts";
import { startService } from "../support/service.ts";

const day = "2026-11-15";

async function limitedTo(ctx: Context, paise: number, scheme: Scheme = "RODTEP") {
  const terms = { house_limit_paise: paise };
  return await publishCard(ctx, operator, { environment: "sandbox", scheme, terms });
}

async function take(ctx: Context, card: RateCard, ...amounts: number[]): Promise<boolean[]> {
  const takings = amounts.map((paise) => ({ card, paise }));
  return await ctx.db.transaction(async (tx) => await takeHouseLimit(tx, day, takings));
}

test("the house takes on up to its limit and not a paisa more, each taking by itself", async (t) => {
  const { ctx } = await startService(t);
  const card = await limitedTo(ctx, 100);
  assert.equal(await houseLeftToday(ctx.db, card, day), 100);
  assert.deepEqual(await take(ctx, card), []);
  assert.deepEqual(await take(ctx, card, 101), [false]);
  assert.equal(await houseLeftToday(ctx.db, card, day), 100, "what does not fit takes nothing");
  assert.deepEqual(await take(ctx, card, 60, 50, 30, 11, 10, 1), [
    true,
    false,
    true,
    false,
    true,
    false,
  ]);
  assert.equal(await houseLeftToday(ctx.db, card, day), 0);
});

test("days, schemes and environments have limits of their own", async (t) => {
  const { ctx } = await startService(t);
  const rodtep = await limitedTo(ctx, 100);
  const rosctl = await limitedTo(ctx, 50, "ROSCTL");
  const live = await publishCard(ctx, operator, {
    environment: "live",
    scheme: "RODTEP",
    terms: { house_limit_paise: Number.MAX_SAFE_INTEGER },
  });
  const takings = [
    { card: rosctl, paise: 50 },
    { card: rodtep, paise: 100 },
    { card: live, paise: Number.MAX_SAFE_INTEGER },
    { card: rosctl, paise: 1 },
    { card: live, paise: 1 },
  ];
  const fits = await ctx.db.transaction(async (tx) => await takeHouseLimit(tx, day, takings));
  assert.deepEqual(fits, [true, true, true, false, false]);
  for (const card of [rodtep, rosctl, live]) {
    assert.equal(await houseLeftToday(ctx.db, card, day), 0);
    assert.equal(await houseLeftToday(ctx.db, card, "2026-11-16"), card.house_limit_paise);
  }
});

test("a lower limit counts what was taken under the higher one, and a transaction undone took nothing", async (t) => {
  const { ctx } = await startService(t);
  const high = await limitedTo(ctx, 100);
  assert.deepEqual(await take(ctx, high, 80), [true]);
  const low = await limitedTo(ctx, 70);
  assert.equal(await houseLeftToday(ctx.db, low, day), 0);
  assert.deepEqual(await take(ctx, low, 1), [false]);
  const again = await limitedTo(ctx, 90);
  await ctx.db.transaction(
    async (tx) => await takeHouseLimit(tx, day, [{ card: again, paise: 10 }]),
    { rollBack: true },
  );
  assert.equal(await houseLeftToday(ctx.db, again, day), 10);
});

const takers = 40;
const amount = 30;
const limit = 1_000;
const fitting = Math.floor(limit / amount);

test("takers at the same time stay within the limit to the last one that fits", async (t) => {
  const { ctx } = await startService(t);
  const card = await limitedTo(ctx, limit);
  const taken = await Promise.all(
    Array.from({ length: takers / 2 }, async () => await take(ctx, card, amount, amount)),
  );
  assert.equal(taken.flat().filter(Boolean).length, fitting);
  assert.equal(await houseLeftToday(ctx.db, card, day), limit - fitting * amount);
});

test("the same takers exceed the limit when they look first and take afterwards", async (t) => {
  const { ctx } = await startService(t);
  const card = await limitedTo(ctx, limit);
  const looks = await Promise.all(
    Array.from({ length: takers }, async () => await houseLeftToday(ctx.db, card, day)),
  );
  const blind = { ...card, house_limit_paise: Number.MAX_SAFE_INTEGER };
  await Promise.all(
    looks.filter((left) => left >= amount).map(async () => await take(ctx, blind, amount)),
  );
  const left = await houseLeftToday(ctx.db, blind, day);
  assert.ok(Number.MAX_SAFE_INTEGER - left > limit);
});
