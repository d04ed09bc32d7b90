// One amount is at most 2^53 - 1 paise; sums of many are more, and are exact to the last digit. What
// one desk moves, however much, stops nobody else.

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedOperator } from "../../src/kernel/actor.ts";
import { checkLedger } from "../../src/ledger/check-ledger.ts";
import { makeFiles, previewFiles } from "../../src/payouts/make-files.ts";
import { createStatementFreezer } from "../../src/reports/freeze-statements.ts";
import { act, propose } from "../support/crosses.ts";
import { addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";

const largest = Number.MAX_SAFE_INTEGER;

/** The integer of a name as it stands in a text of JSON, to its last digit. */
function integerIn(text: string, name: string): string | undefined {
  return new RegExp(`"${name}":(-?\\d+)`).exec(text)?.[1];
}

/** A desk with two firms in one group, the first of which holds so many credits of a face. */
async function openGroup(service: Service, count: number, facePaise: number) {
  const credits = Array.from({ length: count }, () => ({ facePaise }));
  const desk = await dealer(service, credits);
  const sister = await addFirm(service, { deskId: desk.deskId });
  const { group_id: groupId } = (await desk.post("/v1/groups", { name: "Group" }, 201)).body;
  for (const firm of [desk.firmId, sister]) {
    const path = `/v1/groups/${groupId}/members/${firm}`;
    await service.send("PUT", path, { key: desk.key, expect: 200 });
  }
  return { desk, sister, groupId };
}

test("a desk that moves the largest faces within its group blocks no other desk's deals", async (t) => {
  const service = await startService(t);
  const count = 40;
  const { desk, sister, groupId } = await openGroup(service, count, largest);
  for (const scripNo of desk.scripNos) {
    const cross = await propose(desk, {
      kind: "intra_group",
      side: "sell",
      firm_id: desk.firmId,
      counterparty_firm_id: sister,
      scrip_nos: [scripNo],
      price_bps: 10_000,
    });
    await act(desk, cross, "fund", { body: { payment_ref: `PAY-${cross.cross_id}` } });
  }
  const sum = String(BigInt(count) * BigInt(largest));
  const ofSister = `/v1/positions?firm_id=${sister}`;
  const escrow = await service.send("GET", ofSister, { key: desk.key, expect: 200 });
  assert.equal(integerIn(escrow.text, "escrow_paise"), sum);
  const group = await service.send("GET", `/v1/groups/${groupId}/positions`, { key: desk.key });
  assert.equal(integerIn(group.text, "face_paise"), sum);

  const { pool } = service.ctx.db;
  const stripes = await pool.query(
    `select count(*)::int as full from ledger_balances
    where kind = 'external_bank' and environment = 'sandbox' and posted_paise < -$1::numeric`,
    [largest],
  );
  assert.ok(stripes.rows[0].full > 0, "a stripe is past what a double holds");

  for (const cross of (await desk.get("/v1/cross")).crosses) await act(desk, cross, "release");
  const other = await dealer(service, []);
  await stockHouse(service.ctx, [{ face_paise: 25_000_000 }]);
  const bought = await other.post(
    "/v1/orders",
    { side: "buy", scheme: "RODTEP", requirement_paise: 25_000_000 },
    201,
  );
  await letSettle(service);
  assert.equal(bought.body.status, "matched");
  const { settlements } = await other.get("/v1/settlements");
  assert.equal(settlements[0].status, "settled");
  const left = (await desk.get("/v1/cross")).crosses.map(
    ({ status }: { status: string }) => status,
  );
  assert.deepEqual([...new Set(left)], ["settled"]);
  await assertLedgerSound(service);
});

/** Two credits of the largest face are sold within the group, and both proceeds leave in one run. */
async function sellTwice(service: Service) {
  const { desk, sister } = await openGroup(service, 2, largest);
  for (const scripNo of desk.scripNos) {
    const cross = await propose(desk, {
      kind: "intra_group",
      side: "sell",
      firm_id: desk.firmId,
      counterparty_firm_id: sister,
      scrip_nos: [scripNo],
      price_bps: 10_000,
    });
    await act(desk, cross, "fund", { body: { payment_ref: `PAY-${cross.cross_id}` } });
    await act(desk, cross, "release");
  }
  return desk;
}

type ShownPayout = {
  readonly status: string;
  readonly remittance: { readonly amount_paise: number } | null;
};

test("payouts of one payee that come to more than one amount leave as several, and are paid", async (t) => {
  const service = await startService(t);
  const desk = await sellTwice(service);
  await letSettle(service);
  const payouts: ShownPayout[] = (await desk.get("/v1/payouts")).payouts;
  assert.deepEqual(
    payouts.map(({ status, remittance }) => [status, remittance?.amount_paise]),
    [
      ["paid", largest],
      ["paid", largest],
    ],
  );
  await assertLedgerSound(service);
});

test("in live, payouts of one payee that come to more than one amount leave in several files", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, largest, largest);
  const { files } = await previewFiles(service.ctx, "live");
  assert.deepEqual(
    files.map(({ rail, paise }) => [rail, paise]),
    [["RTGS", largest]],
  );
  const asked = { environment: "live", twoFromPaise: Infinity } as const;
  for (const which of ["first", "second"]) {
    const made = await makeFiles(service.ctx, namedOperator("asha"), asked);
    assert.deepEqual(
      made.map(({ paise }) => paise),
      [largest],
      which,
    );
  }
  await assertLedgerSound(service);
});

test("payouts that left as more than one amount are paid, and no longer stay sent", async (t) => {
  const service = await startService(t);
  const desk = await sellTwice(service);
  const { pool } = service.ctx.db;
  const sent = async () => {
    const { rows } = await pool.query("select from payouts where state = 'sent'");
    return rows.length;
  };
  for (let second = 0; second < 10 && (await sent()) < 2; second++) await letSettle(service, 1);
  const joined = await pool.query(
    `update payouts
    set remitted_with = (select min(payout_id) from payouts), remitted_paise = 2 * paise
    where state = 'sent'`,
  );
  assert.equal(joined.rowCount, 2);
  await letSettle(service);
  const { payouts } = await desk.get("/v1/payouts");
  assert.deepEqual(
    payouts.map(({ status }: ShownPayout) => status),
    ["paid", "paid"],
  );
  const { text } = await service.send("GET", "/v1/events?limit=500", { key: desk.key });
  assert.match(text, new RegExp(`"event":"payout.paid".*${2n * BigInt(largest)}`));
  await assertLedgerSound(service);
});

test("a cross of credits that come to more than one amount is refused", async (t) => {
  const service = await startService(t);
  const { desk, sister } = await openGroup(service, 2, largest);
  const refused = await desk.post(
    "/v1/cross/quote",
    {
      kind: "intra_group",
      side: "sell",
      firm_id: desk.firmId,
      counterparty_firm_id: sister,
      scrip_nos: desk.scripNos,
      price_bps: 1,
    },
    422,
  );
  assert.equal(refused.body.detail.fields[0].path, "scrip_nos");
});

test("shared accounts are exact beyond the range of bigint", async (t) => {
  const service = await startService(t);
  const { desk } = await openGroup(service, 0, 1);
  const { ctx } = service;
  for (let at = 0; at < 16; at++) {
    await ctx.db.pool.query(
      `update ledger_balances set posted_paise = posted_paise - 9223372036854775807
      where balance = $1`,
      [`external_bank:sandbox:${at}`],
    );
  }
  await payIn(service, desk.firmId, largest);
  const { rows } = await ctx.db.pool.query(
    `select sum(posted_paise) as sum from ledger_balances
    where kind = 'external_bank' and environment = 'sandbox'`,
  );
  assert.equal(BigInt(rows[0].sum), -(9_223_372_036_854_775_807n * 16n) - BigInt(largest));
});

test("positions, the volume of held credits and statements are exact to the last digit", async (t) => {
  const service = await startService(t);
  const desk = await dealer(
    service,
    Array.from({ length: 1_100 }, () => ({ facePaise: largest })),
  );
  for (const paise of [largest, largest, 3]) await payIn(service, desk.firmId, paise);
  const { text } = await service.send("GET", `/v1/positions?firm_id=${desk.firmId}`, {
    key: desk.key,
    expect: 200,
  });
  assert.equal(integerIn(text, "held_paise"), String(1_100n * BigInt(largest)));
  const cash = 2n * BigInt(largest) + 3n;
  assert.equal(/"cash":\{"available_paise":(\d+)/.exec(text)?.[1], String(cash));

  const path = `/v1/statements/2026-11?firm_id=${desk.firmId}`;
  const read = async () => await service.send("GET", path, { key: desk.key, expect: 200 });
  const running = await read();
  assert.equal(integerIn(running.text, "closing_paise"), String(cash));
  service.clock.advance({ seconds: 20 * 86_400 });
  const freeze = createStatementFreezer(service.ctx, { name: "House", address: [], gstin: null });
  while ((await freeze()) === "more");
  for (let look = 0; look < 2; look++) {
    const final = await read();
    assert.equal(final.body.status, "final");
    assert.equal(integerIn(final.text, "closing_paise"), String(cash));
    assert.equal(
      /"totals":\[\{"kind":"deposit","lines":3,"amount_paise":(\d+)/.exec(final.text)?.[1],
      String(cash),
    );
  }
  const csv = await service.send("GET", `${path}&format=csv`, { key: desk.key, expect: 200 });
  assert.match(csv.text, /180143985094819\.85\r?\n$/);
  const next = await service.send("GET", path.replace("-11", "-12"), {
    key: desk.key,
    expect: 200,
  });
  assert.equal(integerIn(next.text, "opening_paise"), String(cash));
  await assertLedgerSound(service);
});

test("the check finds a balance beyond 2^53 that is off by one paisa", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service, []);
  for (let at = 0; at < 3; at++) await payIn(service, desk.firmId, largest);
  await assertLedgerSound(service);
  await service.ctx.db.pool.query(
    "update ledger_balances set posted_paise = posted_paise + 1 where firm_id = $1",
    [desk.firmId],
  );
  const { firstBreak } = await checkLedger(service.ctx);
  assert.match(JSON.stringify(firstBreak), /27021597764222974/);
});
