import assert from "node:assert/strict";
import { test } from "node:test";

import { houseFirmId } from "../../src/kernel/ids.ts";
import { istTimestamp } from "../../src/kernel/time.ts";
import { addCard } from "../support/cards.ts";
import { addDeals } from "../support/deals.ts";
import { checkDoors } from "../support/doors.ts";
import { addCredits } from "../support/holdings.ts";
import { readSlug, type Service, startService } from "../support/service.ts";

async function readMarket({ send }: Service, key: string, scheme = "RODTEP") {
  return (await send("GET", `/v1/market/${scheme}`, { key, expect: 200 })).body;
}

test("every market route checks key, scope, rate and body", async (t) => {
  await checkDoors(t, await startService(t), [
    { method: "GET", path: "/v1/market", scope: "market:read" },
    { method: "GET", path: "/v1/market/RODTEP", scope: "market:read" },
  ]);
});

test("a market shows the prices of a typical credit, and the buy price to the buy side only", async (t) => {
  const service = await startService(t);
  const buyer = await service.issue();
  const seller = await service.issue({ buySide: false });
  const seen = await readMarket(service, buyer.api_key);
  // ₹10 lakh and 365 days: 9850 − 15 − 40, and 9850 + 15 + 40.
  assert.equal(seen.sell_price_bps, 9_795);
  assert.equal(seen.buy_price_bps, 9_905);
  assert.equal(seen.state, "open");
  assert.equal(seen.index_bps, null);

  const { buy_price_bps: _hidden, ...shared } = seen;
  assert.deepEqual(await readMarket(service, seller.api_key), shared);
  const list = await service.send("GET", "/v1/market", { key: seller.api_key, expect: 200 });
  assert.doesNotMatch(list.text, /buy/);
});

test("the list has every scheme once and the position of the stream", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const { body } = await service.send("GET", "/v1/market", { key, expect: 200 });
  assert.deepEqual(
    body.markets.map(({ scheme }: { scheme: string }) => scheme),
    ["RODTEP", "ROSCTL"],
  );
  assert.match(body.epoch, /^[0-9a-f]{10}$/);
  assert.deepEqual(
    body.markets.map(({ epoch, seq }: { epoch: string; seq: number }) => [epoch, seq]),
    [
      [body.epoch, 1],
      [body.epoch, 2],
    ],
  );
  assert.equal(body.seq, 2);
  assert.equal(body.as_of, istTimestamp(service.clock.now()));
  assert.deepEqual(body.markets[1], await readMarket(service, key, "ROSCTL"));
});

test("a market follows its card: a new price, halted without prices, and open again", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const first = await readMarket(service, key);
  await addCard(service, { midBps: 9_800 });
  service.clock.advance({ seconds: 5 });
  await service.work();
  const second = await readMarket(service, key);
  assert.equal(second.sell_price_bps, 9_745);
  assert.ok(second.seq > first.seq);
  assert.equal(second.as_of, istTimestamp(service.clock.now()));

  await addCard(service, { state: "halted" });
  await service.work();
  const halted = await readMarket(service, key);
  assert.deepEqual(
    [halted.state, halted.sell_price_bps, halted.buy_price_bps],
    ["halted", null, null],
  );
  assert.equal((await readMarket(service, key, "ROSCTL")).state, "open");

  await addCard(service, {});
  await service.work();
  assert.equal((await readMarket(service, key)).state, "open");
});

test("an environment without a card has no market, and shows nothing of the other", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue({ environment: "live" });
  const none = {
    state: "unavailable",
    sell_price_bps: null,
    buy_price_bps: null,
    index_bps: null,
    last_deal: null,
    volume_24h_paise: 0,
    deals_24h: 0,
    depth: [],
  };
  await addDeals(service, [{ facePaise: 100_000_000, sellerBps: 9_700 }]);
  await service.work();
  const {
    scheme: _scheme,
    as_of: _asOf,
    epoch,
    seq: _seq,
    ...seen
  } = await readMarket(service, key);
  assert.deepEqual(seen, none);
  await addCard(service, { environment: "live" });
  await service.work();
  const opened = await readMarket(service, key);
  assert.equal(opened.state, "open");
  assert.equal(opened.epoch, epoch);

  const sandbox = await service.issue();
  assert.notEqual((await readMarket(service, sandbox.api_key)).epoch, epoch);
});

test("the last deal and the volume of 24 hours come from the deals, rounded so that a face identifies no credit", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const now = service.clock.now();
  const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000);
  await addDeals(service, [
    { facePaise: 12_345_678, sellerBps: 9_700, dealtAt: ago(2) },
    { facePaise: 98_765_432, sellerBps: 9_720, buyerBps: 9_800, dealtAt: ago(1) },
    { facePaise: 55_500_000, sellerBps: 9_600, dealtAt: ago(24) },
    { facePaise: 77_700_000, sellerBps: 9_500, scheme: "ROSCTL", dealtAt: ago(30) },
    { facePaise: 11_100_000, sellerBps: 9_400, environment: "live", dealtAt: ago(1) },
  ]);
  await service.work();
  const market = await readMarket(service, key);
  assert.deepEqual(market.last_deal, {
    price_bps: 9_720,
    face_paise: 99_000_000,
    at: istTimestamp(ago(1)),
  });
  assert.equal(market.volume_24h_paise, 12_000_000 + 99_000_000);
  assert.equal(market.deals_24h, 2);
  const quiet = await readMarket(service, key, "ROSCTL");
  assert.equal(quiet.last_deal.face_paise, 78_000_000);
  assert.equal(quiet.deals_24h, 0);

  service.clock.advance({ seconds: 22 * 3_600 });
  await service.work();
  const later = await readMarket(service, key);
  assert.equal(later.volume_24h_paise, 99_000_000, "what is older has left the window");
  assert.deepEqual(later.last_deal, market.last_deal);
});

test("a market names no firm and no credit", async (t) => {
  const service = await startService(t);
  const { api_key: key, firm_id } = await service.issue();
  const [scrip = ""] = await addHouseCredits(service, [12_345_678]);
  const deal = { facePaise: 98_765_432, sellerBps: 9_700, sellerFirmId: firm_id };
  await addDeals(service, [{ ...deal, scripNo: "SCRIP000777" }]);
  await service.work();
  const { text } = await service.send("GET", "/v1/market", { key, expect: 200 });
  assert.match(text, /"deals_24h":1/);
  for (const hidden of [firm_id, scrip, "SCRIP000777", "12345678", "98765432", "frm_"]) {
    assert.ok(!text.includes(hidden), `${hidden} is shown`);
  }
});

/** Credits of the sandbox's house, with 400 days left. */
async function addHouseCredits(
  service: Service,
  faces: readonly number[],
  { expiresOn = "2027-12-20", state = "listed" } = {},
): Promise<string[]> {
  const firmId = houseFirmId.sandbox;
  const credit = { firmId, scheme: "RODTEP" as const, expiresOn, state };
  return await addCredits(
    service,
    firmId,
    faces.map((facePaise) => ({ ...credit, facePaise })),
  );
}

test("a market is readable before the first run of its worker", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const markets = await Promise.all(Array.from({ length: 8 }, () => readMarket(service, key)));
  assert.equal(new Set(markets.map((market) => JSON.stringify(market))).size, 1);
  assert.deepEqual([markets[0].sell_price_bps, markets[0].seq], [9_795, 1]);
});

test("depth counts the house's sellable credits by the bands of its card", async (t) => {
  const service = await startService(t);
  const { api_key: key, firm_id } = await service.issue();
  await addHouseCredits(service, [4_999_999, 5_000_000, 5_010_000, 2_000_000_000]);
  await addHouseCredits(service, [6_000_000], { state: "reserved" });
  await addHouseCredits(service, [7_000_000], { expiresOn: "2026-12-14" });
  await addHouseCredits(service, [8_000_000], { expiresOn: "2026-12-15" });
  const expiresOn = "2027-12-20";
  const client = { firmId: firm_id, scheme: "RODTEP" as const, state: "listed", expiresOn };
  await addCredits(service, firm_id, [{ ...client, facePaise: 9_000_000 }]);
  await service.work();
  assert.deepEqual((await readMarket(service, key)).depth, [
    { below_paise: 5_000_000, count: 1, face_paise: 5_000_000 },
    { below_paise: 10_000_000, count: 3, face_paise: 18_000_000 },
    { below_paise: 50_000_000, count: 0, face_paise: 0 },
    { below_paise: 250_000_000, count: 0, face_paise: 0 },
    { below_paise: 1_000_000_000, count: 0, face_paise: 0 },
    { below_paise: null, count: 1, face_paise: 2_000_000_000 },
  ]);
  const other = (await readMarket(service, key, "ROSCTL")).depth;
  assert.ok(other.every(({ count }: { count: number }) => count === 0));
});

test("depth follows every change of the house's credits, late commits and the calendar included", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const { pool } = service.ctx.db;
  const countAfterLook = async () => {
    await service.work();
    const { depth } = await readMarket(service, key);
    return depth.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  };
  assert.equal(await countAfterLook(), 0);
  const [first] = await addHouseCredits(service, [20_000_000, 30_000_000]);
  assert.equal(await countAfterLook(), 2);

  // A transaction that began before a count and ends after it.
  const late = await pool.connect();
  await late.query("begin");
  await late.query(
    "update credits set state = 'cancelled', changed_in = pg_current_xact_id() where scrip_no = $1",
    [first],
  );
  await addHouseCredits(service, [40_000_000], { expiresOn: "2026-12-16" });
  assert.equal(await countAfterLook(), 3);
  await late.query("commit");
  late.release();
  assert.equal(await countAfterLook(), 2);

  service.clock.advance({ days: 1 });
  assert.equal(await countAfterLook(), 2, "thirty days left");
  service.clock.advance({ days: 1 });
  assert.equal(await countAfterLook(), 1, "too few");
});

test("a run without changes writes nothing, and concurrent nodes write once", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  const { api_key: key } = await service.issue();
  await service.work();
  const first = await readMarket(service, key);
  service.clock.advance({ seconds: 60 });
  await service.work();
  assert.deepEqual(await readMarket(service, key), first);

  await addCard(service, { midBps: 9_801 });
  await Promise.all(Array.from({ length: 8 }, (_, at) => (at % 2 ? service : beside).work()));
  const second = await readMarket(service, key);
  assert.deepEqual(await readMarket(beside, key), second);
  const { body } = await service.send("GET", "/v1/market", { key, expect: 200 });
  assert.equal(second.seq, 3);
  assert.equal(body.seq, 3);
});

test("an unknown scheme is not found, in any spelling", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  for (const scheme of ["rodtep", "RODTEP%20", "MEIS", "%00"]) {
    const answer = await service.send("GET", `/v1/market/${scheme}`, { key, expect: 404 });
    assert.equal(readSlug(answer), "not_found");
  }
});
