import assert from "node:assert/strict";
import { test } from "node:test";

import { houseFirmId } from "../../src/kernel/ids.ts";
import { findLatestIndex } from "../../src/market/daily-index.ts";
import { addDeals } from "../support/deals.ts";
import { daysAgo, dealOn, openLiveMarket, threeSellers } from "../support/public.ts";
import { readSlug, startService } from "../support/service.ts";

const nothing = {
  index_bps: null,
  basis: "none",
  stale: true,
  deals_on: null,
  final: false,
  deal_count: null,
  seller_count: null,
  face_paise: null,
};

test("without deals and cards the rates say that there is no figure", async (t) => {
  const service = await startService(t);
  const { body } = await service.send("GET", "/public/rates", { expect: 200 });
  const today = daysAgo(service, 0);
  const empty = {
    ...nothing,
    date: today,
    previous_date: null,
    change_bps: null,
    market_state: null,
    mid_bps: null,
  };
  assert.deepEqual(body, {
    rates: [
      { ...empty, scheme: "RODTEP" },
      { ...empty, scheme: "ROSCTL" },
    ],
  });
  const one = await service.send("GET", "/public/rates/ROSCTL", { expect: 200 });
  assert.deepEqual(one.body, body.rates[1]);
  const history = await service.send("GET", "/public/rates/RODTEP/history", { expect: 200 });
  assert.deepEqual(history.body.days, []);
});

test("sandbox deals and cards do not change public figures", async (t) => {
  const service = await startService(t);
  const { api_key } = await service.issue();
  await service.send("GET", "/v1/whoami", { key: api_key, expect: 200 });
  await addDeals(
    service,
    threeSellers.map((sellerFirmId) => ({ facePaise: 1_000, sellerBps: 9_000, sellerFirmId })),
  );
  const { body } = await service.send("GET", "/public/rates/RODTEP", { expect: 200 });
  assert.equal(body.basis, "none");
  assert.equal(body.mid_bps, null);
});

test("today's rate shows its index without counts, and the mid of the live card", async (t) => {
  const service = await startService(t);
  await openLiveMarket(service);
  await dealOn(service, daysAgo(service, 1), 9_800);
  service.clock.set(new Date("2026-11-15T14:45:00+05:30"));
  await service.work();
  await dealOn(service, daysAgo(service, 0), 9_812);
  const { body } = await service.send("GET", "/public/rates/RODTEP", { expect: 200 });
  assert.deepEqual(body, {
    ...nothing,
    scheme: "RODTEP",
    date: daysAgo(service, 0),
    index_bps: 9_812,
    basis: "deals",
    stale: false,
    deals_on: daysAgo(service, 0),
    previous_date: daysAgo(service, 1),
    change_bps: 12,
    market_state: "open",
    mid_bps: 9_850,
  });
  const today = await service.send("GET", `/public/rates/RODTEP/${daysAgo(service, 0)}`, {
    expect: 200,
  });
  assert.equal(today.body.final, false);
  assert.equal(today.body.deal_count, null);
  const other = await service.send("GET", "/public/rates/ROSCTL", { expect: 200 });
  assert.equal(other.body.basis, "none");
});

test("today's figure is computed every few seconds, not for every reader", async (t) => {
  const service = await startService(t);
  const { clock, send } = service;
  await send("GET", "/public/rates", { expect: 200 });
  await dealOn(service, daysAgo(service, 0), 9_800);
  assert.equal((await send("GET", "/public/rates/RODTEP")).body.basis, "none");
  clock.advance({ seconds: 10 });
  assert.equal((await send("GET", "/public/rates/RODTEP")).body.index_bps, 9_800);
});

test("a past day is fixed once, by one of two processes, and never changes", async (t) => {
  const service = await startService(t);
  const { clock, send } = service;
  const day = daysAgo(service, 0);
  await dealOn(service, day, 9_800);
  await addDeals(service, [
    { environment: "live", facePaise: 1, sellerBps: 1, sellerFirmId: houseFirmId.live },
  ]);
  const path = `/public/rates/RODTEP/${day}`;
  clock.set(new Date("2026-11-16T00:14:59+05:30"));
  await service.work();
  const early = await send("GET", path, { expect: 200 });
  assert.equal(early.body.final, false, "not before a quarter past midnight");
  assert.equal(early.body.index_bps, 9_800);
  assert.doesNotMatch(early.headers.get("cache-control") ?? "", /immutable/);

  clock.set(new Date("2026-11-16T00:15:00+05:30"));
  const other = await startService(t, { beside: service });
  await Promise.all([service.work(), other.work(), service.work(), other.work()]);
  const { rows } = await service.ctx.db.pool.query("select scheme, day from rate_index_days");
  assert.deepEqual(rows.length, 1, "a scheme without deals has no days");
  const fixed = await send("GET", path, { expect: 200 });
  assert.deepEqual(fixed.body, {
    scheme: "RODTEP",
    date: day,
    index_bps: 9_800,
    basis: "deals",
    stale: false,
    deals_on: day,
    final: true,
    deal_count: 3,
    seller_count: 3,
    face_paise: 300_000_000,
  });
  assert.match(fixed.headers.get("cache-control") ?? "", /public, max-age=31536000, immutable/);

  await dealOn(service, day, 5_000);
  await service.work();
  assert.equal((await send("GET", path, { expect: 200 })).text, fixed.text);
  await assert.rejects(
    service.ctx.db.pool.query("update rate_index_days set index_bps = 1"),
    /permission denied/,
  );
});

test("missed days are fixed in order, and a day with too few sellers carries the last figure", async (t) => {
  const service = await startService(t);
  const { clock, send } = service;
  const first = daysAgo(service, 0);
  await dealOn(service, first, 9_700, { sellers: threeSellers.slice(1) });
  clock.advance({ days: 1 });
  await dealOn(service, daysAgo(service, 0), 9_800);
  clock.advance({ days: 1 });
  await dealOn(service, daysAgo(service, 0), 5_000, { sellers: threeSellers.slice(1) });
  clock.advance({ days: 2 });
  await service.work();
  const { body } = await send("GET", `/public/rates/RODTEP/history?from=${first}`, { expect: 200 });
  assert.deepEqual(
    body.days.map((day: Record<string, unknown>) => [
      day["date"],
      day["index_bps"],
      day["basis"],
      day["stale"],
      day["deals_on"],
    ]),
    [
      [daysAgo(service, 4), null, "none", true, null],
      [daysAgo(service, 3), 9_800, "deals", false, daysAgo(service, 3)],
      [daysAgo(service, 2), 9_800, "carried", true, daysAgo(service, 3)],
      [daysAgo(service, 1), 9_800, "carried", true, daysAgo(service, 3)],
    ],
  );
  assert.deepEqual(
    body.days.map((day: Record<string, unknown>) => day["deal_count"]),
    [null, 3, null, null],
    "what two sellers did is not told",
  );
  const now = await send("GET", "/public/rates/RODTEP", { expect: 200 });
  assert.equal(now.body.basis, "carried");
  assert.equal(now.body.change_bps, 0);
  assert.equal((await findLatestIndex(service.ctx.db, "RODTEP"))?.index_bps, 9_800);
  assert.equal(await findLatestIndex(service.ctx.db, "ROSCTL"), undefined);
});

test("a day before the first has no figure, and a future or invalid day is not found", async (t) => {
  const service = await startService(t);
  const { clock, send } = service;
  const old = await send("GET", "/public/rates/RODTEP/2020-01-01", { expect: 200 });
  assert.equal(old.body.final, false, "deals of that day may still be imported");
  await dealOn(service, daysAgo(service, 0), 9_800);
  clock.advance({ days: 1 });
  await service.work();
  const before = await send("GET", "/public/rates/RODTEP/2020-01-01", { expect: 200 });
  assert.deepEqual(before.body, { ...nothing, scheme: "RODTEP", date: "2020-01-01", final: true });
  for (const path of [
    `/public/rates/RODTEP/${daysAgo(service, -1)}`,
    "/public/rates/RODTEP/2026-02-30",
    "/public/rates/RODTEP/0000-01-01",
    "/public/rates/RODTEP/yesterday",
    "/public/rates/GOLD",
    "/public/rates/rodtep",
    "/public/rates/GOLD/history",
    "/public/rates/GOLD/2026-11-14",
    "/public/rates/RODTEP/2026-11-14/more",
    "/public/nothing",
  ]) {
    const answer = await send("GET", path, { expect: 404 });
    assert.equal(readSlug(answer), "not_found", path);
    assert.equal(answer.headers.get("cache-control"), "no-store", path);
  }
});

test("a refusal has no tag and is never answered 304", async (t) => {
  const { send } = await startService(t, {
    publicBudgets: { rates: { perMinute: 2 }, enquiry: { perMinute: 2 } },
  });
  const headers = { "if-none-match": "*" };
  const history = "/public/rates/RODTEP/history?from=soon";
  for (const [path, expect] of [
    ["/public/rates/GOLD", 404],
    [history, 422],
    [history, 429],
  ] as const) {
    const answer = await send("GET", path, { headers, expect });
    assert.equal(answer.headers.has("etag"), false, path);
    assert.ok(readSlug(answer), path);
  }
});

test("history is a span of fixed days, as JSON and as the same lines of CSV", async (t) => {
  const service = await startService(t);
  const { clock, send } = service;
  for (const bps of [9_800, 9_801, 9_802]) {
    await dealOn(service, daysAgo(service, 0), bps);
    clock.advance({ days: 1 });
  }
  await service.work();
  const span = `from=${daysAgo(service, 2)}&to=${daysAgo(service, 1)}`;
  const json = await send("GET", `/public/rates/RODTEP/history?${span}`, { expect: 200 });
  assert.equal(json.body.from, daysAgo(service, 2));
  assert.equal(json.body.to, daysAgo(service, 1));
  assert.deepEqual(
    json.body.days.map((day: { index_bps: number }) => day.index_bps),
    [9_801, 9_802],
  );
  assert.match(json.headers.get("cache-control") ?? "", /immutable/, "nothing can be added to it");
  const whole = await send("GET", "/public/rates/RODTEP/history", { expect: 200 });
  assert.equal(whole.body.days.length, 3);
  assert.match(whole.headers.get("cache-control") ?? "", /s-maxage=300, stale-while-revalidate/);

  const csv = await send("GET", `/public/rates/RODTEP/history.csv?${span}`, { expect: 200 });
  assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8; header=present");
  assert.equal(
    csv.text,
    [
      "date,scheme,index_bps,basis,stale,deals_on,deal_count,seller_count,face_paise",
      `${daysAgo(service, 2)},RODTEP,9801,deals,false,${daysAgo(service, 2)},3,3,300000000`,
      `${daysAgo(service, 1)},RODTEP,9802,deals,false,${daysAgo(service, 1)},3,3,300000000`,
      "",
    ].join("\r\n"),
  );
});

test("an invalid span is refused as a query", async (t) => {
  const { send } = await startService(t);
  const refused = {
    "from=2026-11-15&to=2026-11-14": "from",
    "from=2000-01-01&to=2026-11-14": "from",
    "from=0001-01-01": "from",
    "to=2026-02-30": "to",
    "to=1000-01-01": "from",
    "from=x": "from",
  };
  for (const [query, field] of Object.entries(refused)) {
    const answer = await send("GET", `/public/rates/RODTEP/history?${query}`, { expect: 422 });
    assert.equal(answer.body.error, "validation_error", query);
    assert.equal(answer.body.detail.fields[0].path, field, query);
  }
  await send("GET", "/public/rates/RODTEP/history?from=2016-11-10&to=2026-11-14", { expect: 200 });
});

test("the methodology shows the parameters of the figures", async (t) => {
  const { send } = await startService(t);
  const { body, headers } = await send("GET", "/public/rates/methodology", { expect: 200 });
  assert.equal(body.sellers_min, 3);
  assert.equal(body.trim_bps, 1_000);
  assert.equal(body.fixed_after_s, 900);
  assert.ok(body.steps.length > 4);
  assert.match(headers.get("cache-control") ?? "", /public, max-age=3600/);
});

test("every rate carries an ETag, and a matching If-None-Match is 304", async (t) => {
  const service = await startService(t);
  const { clock, send } = service;
  await dealOn(service, daysAgo(service, 0), 9_800);
  clock.advance({ days: 1 });
  await service.work();
  const paths = [
    "/public/rates",
    "/public/rates/RODTEP",
    `/public/rates/RODTEP/${daysAgo(service, 1)}`,
    "/public/rates/RODTEP/history",
    "/public/rates/RODTEP/history.csv",
    "/public/rates/methodology",
  ];
  for (const path of paths) {
    const fresh = await send("GET", path, { expect: 200 });
    const etag = fresh.headers.get("etag") ?? "";
    assert.match(etag, /^"[^"]+"$/, path);
    const again = await send("GET", path, { headers: { "if-none-match": etag }, expect: 304 });
    assert.equal(again.text, "", path);
    assert.equal(again.headers.get("etag"), etag, path);
    assert.equal(again.headers.get("cache-control"), fresh.headers.get("cache-control"), path);
    assert.match(fresh.headers.get("cache-control") ?? "", /^public, max-age=/, path);
    await send("GET", path, { headers: { "if-none-match": '"other"' }, expect: 200 });
    for (const held of [`W/${etag}`, `"other", W/${etag}`, "*"]) {
      await send("GET", path, { headers: { "if-none-match": held }, expect: 304 });
    }
    const head = await send("HEAD", path, { expect: 200 });
    assert.equal(head.headers.get("etag"), etag, path);
  }
  const held = (await send("GET", "/public/rates")).headers.get("etag") ?? "";
  await dealOn(service, daysAgo(service, 0), 9_900);
  clock.advance({ seconds: 10 });
  const moved = await send("GET", "/public/rates", { headers: { "if-none-match": held } });
  assert.equal(moved.status, 200, "another figure has another tag");
});
