import assert from "node:assert/strict";
import { test } from "node:test";

import { operator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { houseFirmId } from "../../src/kernel/house.ts";
import { schemes } from "../../src/kernel/scheme.ts";
import type { Context } from "../../src/platform/context.ts";
import { currentCards } from "../../src/rates/current-cards.ts";
import { type PublishCard, publishCard } from "../../src/rates/publish-card.ts";
import { type CardTerms, startingTerms } from "../../src/rates/rules.ts";
import { haltMarket, openMarket } from "../../src/rates/set-market.ts";
import { startService } from "../support/service.ts";

const live = { environment: "live", scheme: "RODTEP" } as const;
const sandbox = { environment: "sandbox", scheme: "RODTEP" } as const;

function publish(ctx: Context, market: Pick<PublishCard, "environment" | "scheme">) {
  return async (terms: Partial<CardTerms>) =>
    await publishCard(ctx, operator, { ...market, terms });
}

async function versionOf(
  { db }: Context,
  { environment, scheme }: Pick<PublishCard, "environment" | "scheme">,
): Promise<number> {
  return (await currentCards(db, environment)).get(scheme)?.version ?? 0;
}

async function recorded({ db }: Context): Promise<string[]> {
  const { rows } = await db.pool.query<{ line: string }>(
    `select concat_ws(' ', environment, desk_id, actor_id, action, entity_id, entity_version) as line
     from audit_records
     where entity_type = 'rate_card'
     order by at, entity_version`,
  );
  return rows.map(({ line }) => line);
}

test("the sandbox starts with an open market at the starting cards, live with none", async (t) => {
  const { ctx } = await startService(t);
  const cards = await currentCards(ctx.db, "sandbox");
  for (const scheme of schemes) {
    const { environment, version, state, published_at, published_by, note, ...rest } =
      cards.get(scheme) ?? assert.fail(`${scheme} has no card`);
    assert.deepEqual(rest, { scheme, ...startingTerms[scheme] });
    assert.deepEqual([environment, version, state], ["sandbox", 1, "open"]);
    assert.ok(published_at instanceof Date && published_by && note);
  }
  assert.equal((await currentCards(ctx.db, "live")).size, 0);
});

test("a first card has the starting values where nothing is said, and opens the market", async (t) => {
  const { ctx, clock } = await startService(t);
  const card = await publishCard(ctx, operator, {
    ...live,
    terms: { mid_bps: 9_700 },
    note: "first day",
  });
  assert.deepEqual(card, {
    ...startingTerms.RODTEP,
    ...live,
    mid_bps: 9_700,
    version: 1,
    state: "open",
    published_at: clock.now(),
    published_by: "cli",
    note: "first day",
  });
  assert.deepEqual((await currentCards(ctx.db, "live")).get("RODTEP"), card);
  assert.equal((await currentCards(ctx.db, "live")).get("ROSCTL"), undefined);
});

test("a card keeps what the last one had, is a version of its own and is in the audit trail", async (t) => {
  const { ctx } = await startService(t);
  await publish(ctx, sandbox)({ mid_bps: 9_700, fee_bps: 3 });
  const card = await publish(ctx, sandbox)({ half_spread_bps: 55, mid_bps: undefined });
  assert.deepEqual(
    [card.version, card.mid_bps, card.fee_bps, card.half_spread_bps],
    [3, 9_700, 3, 55],
  );
  assert.equal(card.note, null, "a note belongs to its own version");
  assert.deepEqual(await recorded(ctx), [
    `sandbox ${houseFirmId.sandbox} cli rate_card.publish RODTEP 2`,
    `sandbox ${houseFirmId.sandbox} cli rate_card.publish RODTEP 3`,
  ]);
  await assert.rejects(ctx.db.pool.query("update rate_cards set mid_bps = 1"), /permission denied/);
  await assert.rejects(ctx.db.pool.query("delete from rate_cards"), /permission denied/);
});

test("halting and opening are versions with another state, and doing so again is none", async (t) => {
  const { ctx } = await startService(t);
  const halted = await haltMarket(ctx, operator, { ...sandbox, note: "portal is down" });
  assert.deepEqual([halted.version, halted.state, halted.note], [2, "halted", "portal is down"]);
  assert.deepEqual(await haltMarket(ctx, operator, { ...sandbox, note: "again" }), halted);
  const repriced = await publish(ctx, sandbox)({ mid_bps: 9_000 });
  assert.deepEqual([repriced.version, repriced.state], [3, "halted"]);
  const open = await openMarket(ctx, operator, sandbox);
  assert.deepEqual([open.version, open.state, open.mid_bps], [4, "open", 9_000]);
  assert.deepEqual(await openMarket(ctx, operator, sandbox), open);
  assert.deepEqual(
    (await recorded(ctx)).map((line) => line.split(" ")[3]),
    ["rate_card.halt", "rate_card.publish", "rate_card.open"],
  );
  assert.equal(await versionOf(ctx, { environment: "sandbox", scheme: "ROSCTL" }), 1);
});

test("a market without a card can be neither halted nor opened", async (t) => {
  const { ctx } = await startService(t);
  for (const set of [haltMarket, openMarket]) {
    await assert.rejects(set(ctx, operator, live), (error) => {
      assert.ok(error instanceof Failure);
      assert.deepEqual([error.code, error.detail], ["conflict", { reason: "no_card" }]);
      return true;
    });
  }
});

test("a card that breaks a rule leaves the one in force", async (t) => {
  const { ctx } = await startService(t);
  await assert.rejects(publish(ctx, sandbox)({ half_spread_bps: 0, floor_bps: 9_985 }), (error) => {
    assert.ok(error instanceof Failure);
    const fields = error.detail?.["fields"] as { path: string }[];
    assert.deepEqual(
      fields.map(({ path }) => path),
      ["half_spread_bps", "ceiling_bps"],
    );
    return true;
  });
  for (const note of ["x".repeat(501), "nul \u0000"]) {
    await assert.rejects(publishCard(ctx, operator, { ...sandbox, terms: {}, note }), Failure);
    await assert.rejects(haltMarket(ctx, operator, { ...sandbox, note }), Failure);
  }
  assert.equal(await versionOf(ctx, sandbox), 1);
  assert.deepEqual(await recorded(ctx), []);
});

test("whoever publishes at once gets a version each, and no change is lost", async (t) => {
  const { ctx } = await startService(t);
  const changes: Partial<CardTerms>[] = [
    { mid_bps: 9_600 },
    { half_spread_bps: 61 },
    { floor_bps: 7_001 },
    { ceiling_bps: 9_970 },
    { ask_ceiling_bps: 9_985 },
    { face_max_paise: 77 },
    { house_limit_paise: 88 },
    { quote_window_s: 99 },
    { margin_bps: 21 },
    { fee_bps: 5 },
  ];
  for (const market of [live, sandbox]) {
    const first = await versionOf(ctx, market);
    const published = await Promise.all([
      ...changes.map(publish(ctx, market)),
      ...(market === sandbox ? [haltMarket(ctx, operator, market)] : []),
    ]);
    assert.deepEqual(
      published.map(({ version }) => version).toSorted((a, b) => a - b),
      published.map((_, index) => first + index + 1),
    );
    const last = (await currentCards(ctx.db, market.environment)).get(market.scheme);
    assert.deepEqual({ ...last, ...Object.assign({}, ...changes) }, last);
    assert.equal(last?.state, market === sandbox ? "halted" : "open");
  }
});
