// What is due to one payee in one run reaches its account as one amount.

import assert from "node:assert/strict";
import { test } from "node:test";

import { setOutage } from "../../src/outside/ask.ts";
import { operator } from "../../src/kernel/actor.ts";
import { everything } from "../../src/kernel/desk-search.ts";
import { countWaiting } from "../../src/overview/store.ts";
import { listAllPayouts } from "../../src/payouts/read-payouts.ts";
import type { PayoutState } from "../../src/payouts/rules.ts";
import { resendPayout } from "../../src/payouts/send-payout.ts";
import { listUnfinished } from "../../src/payouts/store.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  house,
  letSettle,
  listPayouts,
  makeDeal,
  openTestDesk,
  readBalance,
  type TestParty,
} from "../support/settlements.ts";

const port = { environment: "sandbox", port: "bank" } as const;

/** Sales that are all due when the bank is there again. */
async function sellWhileBankIsAway(service: Service, seller: TestParty, paises: readonly number[]) {
  await setOutage(service.ctx, port, "no bank today");
  for (const paise of paises) {
    const scripNo = await addCredit(service, seller);
    const legs = [{ seller, scripNo, sellerPaise: paise, buyerPaise: paise }];
    await makeDeal(service, { buyer: house(), legs });
  }
  await letSettle(service);
}

test("payouts due to a payee in one run are one remittance with one UTR and the rail of the sum", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const other = { deskId: seller.deskId, firmId: seller.deskId };
  await sellWhileBankIsAway(service, seller, [4_000_000, 9_000_000, 8_000_000]);
  await sellWhileBankIsAway(service, other, [4_000_000]);
  for (const { status, remittance } of await listPayouts(service, seller)) {
    assert.deepEqual([status, remittance], ["scheduled", null]);
  }
  await setOutage(service.ctx, port, undefined);
  await letSettle(service, 1);
  const { rows: asked } = await service.ctx.db.pool.query(
    "select subject_id, facts ->> 'paise' as paise from questions where kind = 'payout' order by (facts ->> 'paise')::bigint desc",
  );
  await letSettle(service, 1);
  const payouts = await listPayouts(service, seller);
  const together = payouts.filter(({ firm_id }) => firm_id === seller.firmId);
  const [alone] = payouts.filter(({ firm_id }) => firm_id === other.firmId);
  const [first] = together.map(({ payout_id }) => payout_id as string).toSorted();
  assert.deepEqual(
    together.map(({ amount_paise }) => amount_paise).toSorted((a, b) => a - b),
    [4_000_000, 8_000_000, 9_000_000],
  );
  assert.equal(new Set(together.map(({ utr }) => utr)).size, 1);
  for (const { status, rail, remittance } of together) {
    const expected = { payout_id: first, amount_paise: 21_000_000 };
    assert.deepEqual([status, rail, remittance], ["paid", "RTGS", expected]);
  }
  assert.deepEqual([alone.status, alone.rail], ["paid", "IMPS"]);
  assert.deepEqual(alone.remittance, { payout_id: alone.payout_id, amount_paise: 4_000_000 });
  assert.notEqual(alone.utr, together[0].utr);
  assert.deepEqual(
    asked,
    [
      { subject_id: first, paise: "21000000" },
      { subject_id: alone.payout_id, paise: "4000000" },
    ],
    "the bank is asked once for each",
  );
  for (const party of [seller, other]) {
    assert.equal((await readBalance(service, party)).posted_paise, 0);
  }
  await assertLedgerSound(service);
});

test("payouts of a remittance are found while the bank has them, each by the state that it is in", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const { db } = ctx;
  const seller = await openTestDesk(service);
  await sellWhileBankIsAway(service, seller, [4_000_000, 9_000_000, 8_000_000]);
  const find = async (status: PayoutState) => {
    const search = { ...everything, limit: 10, cursor: undefined, status };
    const { rows } = await listAllPayouts(ctx, search);
    return rows.map(({ paise, state }) => `${paise} ${state}`).toSorted();
  };
  const all = (state: PayoutState) =>
    [4_000_000, 8_000_000, 9_000_000].map((paise) => `${paise} ${state}`);
  const now = ctx.now();
  const count = async () => {
    const span = { now, dayEnd: now, most: 1_000 };
    const waiting = await countWaiting(db, { environment: "sandbox", ...span });
    return [waiting.payouts_scheduled, waiting.payouts_sent, waiting.payouts_returned];
  };
  const unfinished = async () =>
    (await listUnfinished(db, seller.deskId, seller.firmId)).map(({ paise }) => paise);
  assert.deepEqual([await find("scheduled"), await count()], [all("scheduled"), [3, 0, 0]]);
  assert.equal((await unfinished()).length, 3);
  await setOutage(ctx, port, undefined);
  await letSettle(service, 1);
  assert.deepEqual([await find("sent"), await find("scheduled")], [all("sent"), []]);
  assert.deepEqual([await count(), (await unfinished()).length], [[0, 3, 0], 3]);
  await letSettle(service, 1);
  assert.deepEqual([await find("paid"), await find("sent")], [all("paid"), []]);
  assert.deepEqual([await count(), await unfinished()], [[0, 0, 0], []]);
});

test("a remittance is returned whole, and its payouts are sent again once", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  await service.send("POST", "/v1/sandbox/scenarios", {
    key: seller.key,
    body: { scenario: "payout_returned" },
    expect: 200,
  });
  await sellWhileBankIsAway(service, seller, [4_000_000, 9_000_000]);
  await payIn(service, seller.firmId, 1_000_000);
  await service.send("POST", `/v1/firms/${seller.firmId}/withdrawals`, {
    key: seller.key,
    body: { amount_paise: 1_000_000 },
    expect: 201,
  });
  await setOutage(service.ctx, port, undefined);
  await letSettle(service, 2);
  const returned = await listPayouts(service, seller);
  assert.equal(returned.length, 3);
  for (const { status, remittance } of returned) {
    assert.deepEqual([status, remittance.amount_paise], ["returned", 14_000_000]);
  }
  assert.equal((await readBalance(service, seller)).available_paise, 14_000_000);
  const ofSales = returned.filter(({ kind }) => kind === "settlement");
  for (const { payout_id } of ofSales) await resendPayout(service.ctx, operator, payout_id);
  await letSettle(service, 2);
  const again = (await listPayouts(service, seller)).filter(({ resend_of }) => resend_of !== null);
  assert.deepEqual(
    again.map(({ status, remittance }) => [status, remittance.amount_paise]),
    [
      ["paid", 13_000_000],
      ["paid", 13_000_000],
    ],
  );
  assert.equal((await readBalance(service, seller)).posted_paise, 1_000_000);
  await assertLedgerSound(service);
});
