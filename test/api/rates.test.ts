import assert from "node:assert/strict";
import { test } from "node:test";

import { operator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { houseFirmId } from "../../src/kernel/ids.ts";
import { schemes } from "../../src/kernel/scheme.ts";
import type { Context } from "../../src/platform/context.ts";
import { findCurrentCards } from "../../src/rates/current-cards.ts";
import { type PublishCard, publishCard } from "../../src/rates/publish-card.ts";
import { type CardTerms, startingTerms } from "../../src/rates/rules.ts";
import { haltMarket, openMarket } from "../../src/rates/set-market.ts";
import { commandLine } from "../support/cli.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { startService } from "../support/service.ts";
import { askJournal } from "../support/journal.ts";

const live = { environment: "live", scheme: "RODTEP" } as const;
const sandbox = { environment: "sandbox", scheme: "RODTEP" } as const;

function publish(ctx: Context, market: Pick<PublishCard, "environment" | "scheme">) {
  return async (terms: Partial<CardTerms>) =>
    await publishCard(ctx, operator, { ...market, terms });
}

async function readVersion(
  { db }: Context,
  { environment, scheme }: Pick<PublishCard, "environment" | "scheme">,
): Promise<number> {
  return (await findCurrentCards(db, environment)).get(scheme)?.version ?? 0;
}

async function recorded({ db }: Context): Promise<string[]> {
  const { rows } = await askJournal<{ line: string }>(
    db.pool,
    `select concat_ws(' ', environment, desk_id, actor_id, action, entity_id, entity_version) as line
     from audit_records
     where entity_type = 'rate_card'
     order by at, entity_version`,
  );
  return rows.map(({ line }) => line);
}

test("the sandbox starts with an open market at the starting cards, live with none", async (t) => {
  const { ctx } = await startService(t);
  const cards = await findCurrentCards(ctx.db, "sandbox");
  for (const scheme of schemes) {
    const { environment, version, state, published_at, published_by, note, ...rest } =
      cards.get(scheme) ?? assert.fail(`${scheme} has no card`);
    assert.deepEqual(rest, { scheme, ...startingTerms[scheme] });
    assert.deepEqual([environment, version, state], ["sandbox", 1, "open"]);
    assert.ok(published_at instanceof Date && published_by && note);
  }
  assert.equal((await findCurrentCards(ctx.db, "live")).size, 0);
});

test("a first card takes starting values for omitted fields, and opens the market", async (t) => {
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
  assert.deepEqual((await findCurrentCards(ctx.db, "live")).get("RODTEP"), card);
  assert.equal((await findCurrentCards(ctx.db, "live")).get("ROSCTL"), undefined);
});

test("a card keeps the values of the last one, has its own version and is audited", async (t) => {
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

test("halting and opening make a version with another state, and repeating them makes none", async (t) => {
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
  assert.equal(await readVersion(ctx, { environment: "sandbox", scheme: "ROSCTL" }), 1);
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

test("an invalid card leaves the current one in force", async (t) => {
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
  assert.equal(await readVersion(ctx, sandbox), 1);
  assert.deepEqual(await recorded(ctx), []);
});

test("concurrent publishers get one version each, and no change is lost", async (t) => {
  const { ctx } = await startService(t);
  const changes: Partial<CardTerms>[] = [
    { mid_bps: 9_600 },
    { half_spread_bps: 61 },
    { floor_bps: 7_001 },
    { ceiling_bps: 9_970 },
    { ask_ceiling_bps: 9_985 },
    { face_max_paise: 77 },
    { house_limit_paise: 88 },
    { desk_share_bps: 999 },
    { rest_min_paise: 66 },
    { quote_window_s: 99 },
    { margin_bps: 21 },
    { fee_bps: 5 },
  ];
  for (const market of [live, sandbox]) {
    const first = await readVersion(ctx, market);
    const published = await Promise.all([
      ...changes.map(publish(ctx, market)),
      ...(market === sandbox ? [haltMarket(ctx, operator, market)] : []),
    ]);
    assert.deepEqual(
      published.map(({ version }) => version).toSorted((a, b) => a - b),
      published.map((_, index) => first + index + 1),
    );
    const last = (await findCurrentCards(ctx.db, market.environment)).get(market.scheme);
    assert.deepEqual({ ...last, ...Object.assign({}, ...changes) }, last);
    assert.equal(last?.state, market === sandbox ? "halted" : "open");
  }
});

const everyOption = [
  ["--mid", "9700"],
  ["--half-spread", "50"],
  ["--size-bands", "5000000:-150, 10000000:-90,*:+5"],
  ["--validity-bands", "365:0,30:-250"],
  ["--floor", "7000"],
  ["--ceiling", "9970"],
  ["--ask-ceiling", "9985"],
  ["--face-max-paise", "100"],
  ["--house-limit-paise", "200"],
  ["--desk-share", "2000"],
  ["--rest-min-paise", "50"],
  ["--quote-window-s", "60"],
  ["--margin", "0"],
  ["--fee", "1"],
  ["--note", "a new year"],
].flat();

test("an operator publishes, shows, halts and opens on the command line", async (t) => {
  const service = await startService(t);
  await addLiveHouse(service);
  const { run } = await commandLine(t, service);
  const market = ["--env", "live", "--scheme", "RODTEP"];
  const json = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words, "--json");
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };

  const { published_at, ...published } = await json("rates", "publish", ...market, ...everyOption);
  assert.match(published_at, /\+05:30$/);
  assert.deepEqual(published, {
    env: "live",
    scheme: "RODTEP",
    version: 1,
    state: "open",
    mid_bps: 9_700,
    half_spread_bps: 50,
    size_bands: [
      { below_paise: 5_000_000, bps: -150 },
      { below_paise: 10_000_000, bps: -90 },
      { below_paise: null, bps: 5 },
    ],
    validity_bands: [
      { from_days: 365, bps: 0 },
      { from_days: 30, bps: -250 },
    ],
    floor_bps: 7_000,
    ceiling_bps: 9_970,
    ask_ceiling_bps: 9_985,
    face_max_paise: 100,
    house_limit_paise: 200,
    desk_share_bps: 2_000,
    rest_min_paise: 50,
    quote_window_s: 60,
    margin_bps: 0,
    fee_bps: 1,
    default_bps: 50,
    published_by: "cli",
    approved_by: null,
    note: "a new year",
  });

  assert.equal((await json("market", "halt", ...market, "--note", "portal is down")).version, 2);
  assert.equal((await json("market", "halt", ...market)).version, 2);
  assert.equal((await json("market", "open", ...market)).state, "open");
  const [current, ...others] = await json("rates", "show", ...market);
  assert.deepEqual([current.version, current.mid_bps, others], [3, 9_700, []]);
  const history = await json("rates", "show", ...market, "--history");
  assert.deepEqual(
    history.map((card: { version: number; state: string }) => [card.version, card.state]),
    [
      [3, "open"],
      [2, "halted"],
      [1, "open"],
    ],
  );
  const everywhere = await json("rates", "show");
  assert.deepEqual(
    everywhere.map((card: { env: string; scheme: string }) => `${card.env} ${card.scheme}`),
    ["live RODTEP", "sandbox RODTEP", "sandbox ROSCTL"],
  );
  assert.match(
    (await run("rates", "show", ...market)).stdout,
    /^size_bands +5000000:-150,10000000:-90,\*:5\nvalidity_bands +365:0,30:-250$/m,
  );
  assert.match(
    (await run("rates", "show", ...market, "--history")).stdout,
    /^live +RODTEP +2 +halted +9700 +50 +\S+ +portal is down$/m,
  );
});

test("a refused card prints its reason in one line, and nothing is published", async (t) => {
  const { run } = await commandLine(t, await startService(t));
  const market = ["--env", "sandbox", "--scheme", "RODTEP"];
  const wrong = [
    [1, /half_spread_bps: must be a whole number from 1/, ["--half-spread", "0"]],
    [
      1,
      /validity_bands: the band from 30 days \(\+100\), with the band without a bound \(\+10\)/,
      ["--validity-bands", "30:100"],
    ],
    [
      1,
      /size_bands: the band below 5 paise \(\+41\) moves bid and ask/,
      ["--size-bands", "5:41,*:0"],
    ],
    [1, /size_bands: the last band must have no bound/, ["--size-bands", "5:1,6:2"]],
    [2, /--mid must be a whole number, not "98.5%"/, ["--mid", "98.5%"]],
    [2, /--size-bands: "5" is no band/, ["--size-bands", "5,*:0"]],
    [2, /--validity-bands: "\*:0" is no band/, ["--validity-bands", "*:0"]],
    [2, /--env must be live or sandbox/, ["--env", "test"]],
    [2, /--scheme must be RODTEP or ROSCTL/, ["--scheme", "MEIS"]],
  ] as const;
  for (const [code, line, words] of wrong) {
    const ran = await run("rates", "publish", ...market, ...words);
    assert.deepEqual([ran.code, ran.stdout], [code, ""], ran.stderr);
    assert.match(ran.stderr, line);
  }
  const halted = await run("market", "halt", "--env", "live", "--scheme", "ROSCTL");
  assert.equal(halted.code, 1);
  assert.match(halted.stderr, /ROSCTL has no rate card in live: publish one/);
  const shown = await run("rates", "show", ...market, "--json");
  assert.equal(JSON.parse(shown.stdout)[0].version, 1);
});
