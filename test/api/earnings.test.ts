import assert from "node:assert/strict";
import { test } from "node:test";

import { payOutCommission, setCommission } from "../../src/settlement/commissions.ts";
import { operator, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { checkLedgerWhenDue } from "../../src/ledger/check-ledger.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { addFirm } from "../support/holdings.ts";
import { checkDoors } from "../support/doors.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type Answer, readSlug, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  face,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  readBalance,
  type TestDeal,
  type TestDesk,
  type TestParty,
} from "../support/settlements.ts";
import { askJournal } from "../support/journal.ts";

/** 5 bps of the face of every credit in these tests. */
const commission = face / 2_000;

async function settleDeal(
  service: Service,
  { sellers, ...deal }: Omit<TestDeal, "legs"> & { readonly sellers: readonly TestParty[] },
): Promise<string> {
  const legs: { seller: TestParty; scripNo: string }[] = [];
  for (const seller of sellers) legs.push({ seller, scripNo: await addCredit(service, seller) });
  const settlementId = await makeDeal(service, { ...deal, legs });
  await letSettle(service, 5);
  return settlementId;
}

async function readEarnings(
  { send }: Service,
  { key }: Pick<TestDesk, "key">,
  query = "",
): Promise<Answer["body"]> {
  return (await send("GET", `/v1/earnings${query}`, { key, expect: 200 })).body;
}

async function reverse({ ctx }: Service, settlementId: string): Promise<void> {
  for (const name of ["asha", "ravi"]) {
    await reverseSettlement(ctx, namedOperator(name), { settlementId, reason: "mistake" });
  }
}

test("earnings check key, scope, rate and body", async (t) => {
  const service = await startService(t);
  await checkDoors(t, service, [{ method: "GET", path: "/v1/earnings", scope: "orders:read" }]);
  const { api_key: key, firm_id: deskId } = await service.issue();
  const refused = async (query: string, status: number, slug: string) =>
    assert.equal(
      readSlug(await service.send("GET", `/v1/earnings?${query}`, { key, expect: status })),
      slug,
    );
  await refused("by=week", 400, "bad_request");
  await refused("from=2026-02-30&to=2026-03-01", 422, "validation_error");
  await refused("from=2026-11-02&to=2026-11-01", 422, "validation_error");
  await refused("from=2025-11-01&to=2026-11-02", 422, "validation_error");
  const desk = await openTestDesk(service);
  const sub = await mintChild(service, desk.key, { kind: "sub_account", firm_id: desk.firmId });
  const answer = await service.send("GET", "/v1/earnings", { key: sub.api_key, expect: 403 });
  assert.equal(answer.body.detail.reason, "sub_account_key");
  assert.deepEqual((await readEarnings(service, { key })).earnings, []);
  assert.equal((await readBalance(service, { firmId: deskId })).commission_paise, 0);
});

test("a desk earns on each client's delivered credit, and the sums by day, firm and scheme agree", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  await settleDeal(service, { buyer: house(), sellers: [seller, seller] });
  service.clock.advance({ days: 1 });
  await settleDeal(service, { buyer, sellers: [seller] });

  const one = { credits: 1, face_paise: face, commission_paise: commission };
  const three = { credits: 3, face_paise: 3 * face, commission_paise: 3 * commission };
  const byDay = await readEarnings(service, seller, "?from=2026-11-01");
  assert.deepEqual(byDay.earnings, [
    { day: "2026-11-15", credits: 2, face_paise: 2 * face, commission_paise: 2 * commission },
    { day: "2026-11-16", ...one },
  ]);
  assert.equal(byDay.commission_paise, 3 * commission);
  assert.equal(byDay.balance_paise, 3 * commission);
  assert.equal(byDay.commission_bps, 5);
  const byFirm = await readEarnings(service, seller, "?by=firm");
  assert.deepEqual(byFirm.earnings, [{ firm_id: seller.firmId, ...three }]);
  const byScheme = await readEarnings(service, seller, "?by=scheme");
  assert.deepEqual(byScheme.earnings, [{ scheme: "RODTEP", ...three }]);
  const later = await readEarnings(service, seller, "?from=2026-11-16&to=2026-11-16");
  assert.deepEqual(later.earnings, [{ day: "2026-11-16", ...one }]);
  const bought = await readEarnings(service, buyer, "?by=firm");
  assert.deepEqual(bought.earnings, [{ firm_id: buyer.firmId, ...one }]);
  await assertLedgerSound(service);
});

test("a desk earns nothing on its own deals, on crosses and on undelivered credits", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const own = { deskId: desk.deskId, firmId: desk.deskId };
  const crossed = "crs_01jd2m7q4x8r5v6w9y0abcdefg";
  await settleDeal(service, { buyer: house(), sellers: [own] });
  await settleDeal(service, { buyer: house(), sellers: [desk], origin: crossed });
  const refused = await addCredit(service, desk, "0409");
  await makeDeal(service, { buyer: house(), legs: [{ seller: desk, scripNo: refused }] });
  await letSettle(service, 5);
  assert.equal((await readEarnings(service, desk)).commission_paise, 0);
  // The control: the same deal by an order of a client's, delivered.
  await settleDeal(service, { buyer: house(), sellers: [desk] });
  assert.equal((await readEarnings(service, desk)).commission_paise, commission);
  await assertLedgerSound(service);
});

test("a desk on both sides of a deal earns on both, and a reversal reverses both", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const other = await openTestDesk(service);
  const sibling = { deskId: desk.deskId, firmId: other.firmId };
  await service.ctx.db.pool.query("update firms set desk_id = $1 where firm_id = $2", [
    desk.deskId,
    other.firmId,
  ]);
  const settlementId = await settleDeal(service, { buyer: sibling, sellers: [desk] });
  const earned = await readEarnings(service, desk, "?by=firm");
  assert.equal(earned.commission_paise, 2 * commission);
  assert.deepEqual(
    earned.earnings.map(({ firm_id }: { firm_id: string }) => firm_id).toSorted(),
    [desk.firmId, other.firmId].toSorted(),
  );
  await setCommission(service.ctx, operator, { firmId: desk.deskId, bps: 50 });
  await reverse(service, settlementId);
  const after = await readEarnings(service, desk, "?by=firm");
  assert.equal(after.commission_paise, 0, "what was paid is taken back, whatever the rate is now");
  assert.equal(after.balance_paise, 0);
  assert.deepEqual(
    after.earnings.map(({ credits }: { credits: number }) => credits),
    [0, 0],
  );
  await assertLedgerSound(service);
});

test("a commission is at most what the house keeps of the credit, so a wash of a desk's firms gains nothing", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const sibling = { ...desk, firmId: await addFirm(service, { deskId: desk.deskId }) };
  const set = await setCommission(service.ctx, operator, { firmId: desk.deskId, bps: 100 });
  assert.match(set.warning ?? "", /at most what it keeps/);
  const wash = async (terms: { buyer: TestParty; sellerPaise: number; buyerPaise: number }) => {
    const { buyer, ...paise } = terms;
    const before = (await readEarnings(service, desk)).commission_paise;
    const scripNo = await addCredit(service, desk);
    await makeDeal(service, { buyer, legs: [{ seller: desk, scripNo, ...paise }] });
    await letSettle(service, 5);
    return (await readEarnings(service, desk)).commission_paise - before;
  };
  const between = { buyer: sibling, sellerPaise: 24_600_000, buyerPaise: 24_600_001 };
  assert.equal(await wash(between), 0, "a paisa for two sides is none for either");
  assert.equal(await wash({ ...between, buyerPaise: 24_700_000 }), 100_000, "all that it keeps");
  const mid = (face * 9_850) / 10_000;
  const toHouse = { buyer: house(), sellerPaise: mid - 700, buyerPaise: mid - 700 };
  assert.equal(await wash(toHouse), 700);
  const dear = { ...toHouse, sellerPaise: mid + 1, buyerPaise: mid + 1 };
  assert.equal(await wash(dear), 0, "a loss earns nothing");
  assert.equal(await wash({ ...toHouse, sellerPaise: mid - 1_000_000 }), face / 100, "in full");
  await assertLedgerSound(service);
});

test("a new commission rate applies to later settlements and is audited", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await settleDeal(service, { buyer: house(), sellers: [desk] });
  const set = await setCommission(service.ctx, operator, { firmId: desk.deskId, bps: 12 });
  assert.equal(set.was_bps, 5);
  await settleDeal(service, { buyer: house(), sellers: [desk] });
  const { commission_paise, commission_bps } = await readEarnings(service, desk);
  assert.equal(commission_bps, 12);
  assert.equal(commission_paise, commission + (face * 12) / 10_000);
  await setCommission(service.ctx, operator, { firmId: desk.deskId, bps: 0 });
  await settleDeal(service, { buyer: house(), sellers: [desk] });
  assert.equal((await readEarnings(service, desk)).commission_paise, commission_paise);
  const { rows } = await askJournal<{ entity_version: number }>(
    service.ctx.db.pool,
    `select entity_version from audit_records
    where desk_id = $1 and action = 'commission.set' and actor_kind = 'operator'
    order by entity_version`,
    [desk.deskId],
  );
  assert.deepEqual(
    rows.map((row) => row.entity_version),
    [1, 2],
  );

  const set101 = setCommission(service.ctx, operator, { firmId: desk.deskId, bps: 101 });
  await assert.rejects(set101, hasCode("unprocessable"));
  const ofClient = setCommission(service.ctx, operator, { firmId: desk.firmId, bps: 1 });
  await assert.rejects(ofClient, hasCode("conflict"));
  const ofHouse = setCommission(service.ctx, operator, { firmId: house().firmId, bps: 1 });
  await assert.rejects(ofHouse, hasCode("conflict"));
  const nobody = { firmId: "frm_01jd2m7q4x8r5v6w9y0abcdefg", bps: 1 };
  await assert.rejects(setCommission(service.ctx, operator, nobody), hasCode("not_found"));
});

test("paid commission leaves the balance, and is owed when its deal is reversed", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const settlementId = await settleDeal(service, { buyer: house(), sellers: [desk] });
  await checkLedgerWhenDue(service.ctx);
  const utr = "HDFCN52026120100012345";
  const pay = async (paise: number, named = operator) =>
    await payOutCommission(service.ctx, named, {
      firmId: desk.deskId,
      paise,
      utr,
      twoFromPaise: 1,
    });
  await assert.rejects(pay(commission + 1), hasReason("insufficient_funds"));
  assert.equal((await pay(commission - 100)).outcome, "paid");
  assert.equal(
    (await pay(commission - 100)).outcome,
    "paid",
    "the same reference is the same payment",
  );
  await assert.rejects(pay(1), hasReason("utr_used"));
  const earned = await readEarnings(service, desk);
  assert.equal(earned.commission_paise, commission, "it was earned all the same");
  assert.equal(earned.balance_paise, 100);

  await reverse(service, settlementId);
  const { dues_paise, commission_paise } = await readBalance(service, { firmId: desk.deskId });
  assert.equal(commission_paise, 0);
  assert.equal(dues_paise, commission - 100);
  assert.equal((await readEarnings(service, desk)).commission_paise, 0);
  await assertLedgerSound(service);
});

test("large live commission takes two operators, and none is paid while the books are broken", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service, "live");
  const payment = {
    firmId: desk.deskId,
    paise: 1_000,
    utr: "HDFCN52026120100099999",
    twoFromPaise: 1_000,
  };
  const pay = async (name: string) =>
    await payOutCommission(service.ctx, namedOperator(name), payment);
  await assert.rejects(pay("asha"), hasReason("ledger_broken"));
  await checkLedgerWhenDue(service.ctx);
  assert.equal((await pay("asha")).outcome, "proposed");
  assert.equal((await pay("asha")).outcome, "proposed");
  // The second operator's word is enough; what is missing here is the money.
  await assert.rejects(pay("ravi"), hasReason("insufficient_funds"));
  const badly = payOutCommission(service.ctx, operator, { ...payment, utr: "short" });
  await assert.rejects(badly, hasCode("unprocessable"));
});

function hasCode(code: string) {
  return (error: unknown) => error instanceof Failure && error.code === code;
}

function hasReason(reason: string) {
  return (error: unknown) => error instanceof Failure && error.detail?.["reason"] === reason;
}
