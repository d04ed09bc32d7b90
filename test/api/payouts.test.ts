import assert from "node:assert/strict";
import { test } from "node:test";

import { toOperatorRequester } from "../../src/firms/find-firms.ts";
import { resumeFirm, suspendFirm } from "../../src/firms/change-firm.ts";
import { attestSubjects } from "../../src/outside/attest.ts";
import { setOutage } from "../../src/outside/ask.ts";
import { operator, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { recordVerdict } from "../../src/ledger/check-ledger.ts";
import { recallPayout } from "../../src/payouts/recall-payouts.ts";
import { resendPayout, sendPayout } from "../../src/payouts/send-payout.ts";
import { sendDuePayouts } from "../../src/payouts/schedule-payouts.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { appliers } from "../../src/workers.ts";
import { giveConfirmedAccount } from "../support/accounts.ts";
import { bank, firmThatIs } from "../support/client-firms.ts";
import { mintChild } from "../support/keys.ts";
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
  sellerPaise,
  type TestDesk,
  type TestParty,
} from "../support/settlements.ts";
import { askJournal } from "../support/journal.ts";

async function sellToHouse(
  service: Service,
  seller: TestParty,
  {
    paise = sellerPaise,
    environment = "sandbox",
  }: { paise?: number; environment?: "sandbox" | "live" } = {},
): Promise<string> {
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo, sellerPaise: paise, buyerPaise: paise }];
  return await makeDeal(service, { environment, buyer: house(environment), legs });
}

/** A firm of the desk whose account ends as asked. */
async function firmPaidTo(service: Service, desk: TestDesk, accountNo: string): Promise<TestParty> {
  const name = `Paid to ${accountNo} Limited`;
  const firm = await firmThatIs(service, desk.key, "authorized", {
    legal_name: name,
    bank: bank(name, accountNo),
  });
  return { deskId: desk.deskId, firmId: firm.firm_id };
}

/** A live seller, delivered and waiting to be paid. */
async function liveSale(service: Service, paise: number, accountNo: string | null = "1234567890") {
  const seller = await openTestDesk(service, "live");
  if (accountNo !== null) {
    await giveConfirmedAccount(service.ctx, { firmId: seller.firmId, accountNo });
  }
  const settlementId = await sellToHouse(service, seller, { paise, environment: "live" });
  await service.work();
  const answer = { outcome: "transferred" } as const;
  const seen = [{ subjectId: settlementId, answer, reference: "ICEGATE-1" }];
  await attestSubjects(service.ctx, operator, { kind: "credit_transfer", seen, appliers });
  const [payout] = await listPayouts(service, seller);
  return { seller, payoutId: payout.payout_id as string };
}

const refusedFor = (reason: string) => (error: unknown) =>
  error instanceof Failure && error.detail?.["reason"] === reason;

test("each payout goes by the rail of its amount, under its own UTR", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  for (const paise of [4_000_000, 10_000_000, 24_000_000]) {
    await sellToHouse(service, seller, { paise });
    await letSettle(service);
  }
  const payouts = await listPayouts(service, seller);
  assert.deepEqual(
    payouts.map(({ rail, status, amount_paise }) => [rail, status, amount_paise]),
    [
      ["RTGS", "paid", 24_000_000],
      ["NEFT", "paid", 10_000_000],
      ["IMPS", "paid", 4_000_000],
    ],
  );
  assert.equal(new Set(payouts.map(({ utr }) => utr)).size, 3);
  for (const payout of payouts) {
    assert.equal(payout.bank.account_no_masked.slice(-4), "0001");
    assert.equal(payout.version, payout.history.length);
    assert.equal(
      payout.lines.reduce(
        (sum: number, line: { amount_paise: number }) => sum + line.amount_paise,
        0,
      ),
      payout.amount_paise,
    );
  }
  await assertLedgerSound(service);
});

/** Money for a firm whose account is closed: it was sent, and it came back. */
async function returnedPayout(service: Service) {
  const desk = await openTestDesk(service);
  const closed = await firmPaidTo(service, desk, "50200012340000");
  await sellToHouse(service, closed);
  await letSettle(service);
  const [returned] = await listPayouts(service, desk);
  assert.equal(returned.status, "returned");
  return { desk, closed, returned };
}

test("a returned payout is the firm's balance again, and can be sent as another payout", async (t) => {
  const service = await startService(t);
  const { desk, closed, returned } = await returnedPayout(service);
  assert.equal(returned.reason, "account_closed");
  assert.equal((await readBalance(service, closed)).available_paise, sellerPaise);

  const again = await resendPayout(service.ctx, operator, returned.payout_id);
  assert.equal((await readBalance(service, closed)).pending_out_paise, sellerPaise);
  await assert.rejects(
    resendPayout(service.ctx, operator, returned.payout_id),
    refusedFor("already_resent"),
  );
  await giveConfirmedAccount(service.ctx, { firmId: closed.firmId, accountNo: "50200012344321" });
  await letSettle(service, 2);
  const [paid] = await listPayouts(service, desk);
  assert.equal(paid.payout_id, again.payout_id);
  assert.equal(paid.resend_of, returned.payout_id);
  assert.equal(paid.status, "paid");
  assert.equal(paid.bank.account_no_masked.slice(-4), "4321", "to the account of now");
  assert.deepEqual(paid.lines, returned.lines);
  assert.equal((await readBalance(service, closed)).posted_paise, 0);
  await assert.rejects(
    resendPayout(service.ctx, operator, paid.payout_id),
    refusedFor("wrong_state"),
  );
  await assertLedgerSound(service);
});

test("a returned payout whose money was spent is refused with what is available", async (t) => {
  const service = await startService(t);
  const { desk, closed, returned } = await returnedPayout(service);
  const path = `/v1/firms/${closed.firmId}/withdrawals`;
  const body = { amount_paise: sellerPaise - 5 };
  await service.send("POST", path, { key: desk.key, body, expect: 201 });
  await assert.rejects(resendPayout(service.ctx, operator, returned.payout_id), {
    detail: { reason: "insufficient_funds", available_paise: 5 },
  });
});

test("a returned payout of a reversed deal is not sent again", async (t) => {
  const service = await startService(t);
  const { closed, returned } = await returnedPayout(service);
  for (const name of ["asha", "ravi"]) {
    const command = { settlementId: returned.settlement_id, reason: "forged mandate" };
    await reverseSettlement(service.ctx, namedOperator(name), command);
  }
  await payIn(service, closed.firmId, sellerPaise);
  await assert.rejects(
    resendPayout(service.ctx, operator, returned.payout_id),
    refusedFor("settlement_reversed"),
  );
  assert.equal((await readBalance(service, closed)).available_paise, sellerPaise);
  await assertLedgerSound(service);
});

test("a hold of the firm holds its payouts until it ends", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const firm = await firmPaidTo(service, desk, "50200012345678");
  await service.send("PATCH", `/v1/firms/${firm.firmId}`, {
    key: desk.key,
    body: { bank: bank("Paid to 50200012345678 Limited", "50200012349999") },
    expect: 200,
  });
  await sellToHouse(service, firm);
  await letSettle(service);
  const [held] = await listPayouts(service, desk);
  assert.equal(held.status, "held");
  assert.equal(held.reason, "beneficiary_change");
  assert.equal(held.utr, null);
  assert.ok(held.held_until);
  assert.equal((await readBalance(service, firm)).pending_out_paise, sellerPaise);
  service.clock.advance({ days: 1 });
  await letSettle(service, 2);
  const [paid] = await listPayouts(service, desk);
  assert.equal(paid.status, "paid");
  assert.deepEqual(
    paid.history.map(({ status }: { status: string }) => status),
    ["held", "scheduled", "sent", "paid"],
  );
  assert.equal(paid.held_until, null);
  const { body } = await service.send("GET", "/v1/events", { key: desk.key, expect: 200 });
  const told = body.events.filter(({ entity }: { entity: { id: string } }) => {
    return entity.id === paid.payout_id;
  });
  assert.deepEqual(
    told.map(({ event, from, to }: Record<string, string>) => [event, from, to]),
    [
      ["payout.held", null, "held"],
      ["payout.scheduled", "held", "scheduled"],
      ["payout.sent", "scheduled", "sent"],
      ["payout.paid", "sent", "paid"],
    ],
    "every state is told under its own name",
  );
  assert.equal(told[0].data.reason, "beneficiary_change");
});

test("no money leaves while the books are broken or the bank is out", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  await sellToHouse(service, seller);
  await service.work();
  const verdict = { entries: 1, tookMs: 1 };
  await recordVerdict(service.ctx.db, {
    ...verdict,
    sound: false,
    // By the minute: for as long as this test waits no other check is due.
    checkedAt: new Date(service.clock.now().getTime() + 60_000),
    firstBreak: { check: "balance_is_sum", place: "house_cash", found: "1", expected: "0" },
  });
  await letSettle(service, 2);
  const readFirstPayout = async () => (await listPayouts(service, seller))[0];
  assert.equal((await readFirstPayout()).status, "held");
  assert.equal((await readFirstPayout()).reason, "ledger_broken");
  await recordVerdict(service.ctx.db, {
    ...verdict,
    sound: true,
    firstBreak: null,
    checkedAt: service.clock.now(),
  });
  await setOutage(service.ctx, { environment: "sandbox", port: "bank" }, "no bank today");
  service.clock.advance({ seconds: 1 });
  await sendDuePayouts(service.ctx);
  assert.equal((await readFirstPayout()).status, "scheduled");
  await setOutage(service.ctx, { environment: "sandbox", port: "bank" }, undefined);
  await letSettle(service, 2);
  assert.equal((await readFirstPayout()).status, "paid");
});

test("an operator sends live money under one UTR, to a firm with an account", async (t) => {
  const service = await startService(t);
  const { seller, payoutId } = await liveSale(service, sellerPaise);
  await letSettle(service, 2);
  assert.equal((await listPayouts(service, seller))[0].status, "scheduled", "nothing by itself");
  const utr = "HDFCR52026111500011";
  const send = async (id: string, reference = utr) =>
    (await sendPayout(service.ctx, namedOperator("asha"), { payoutId: id, utr: reference }))
      .outcome;
  await assert.rejects(send(payoutId, "short"), Failure);
  await assert.rejects(send("pay_none"), (e) => e instanceof Failure && e.code === "not_found");
  assert.equal(await send(payoutId), "sent");
  assert.equal(await send(payoutId), "sent", "a command that was run again");
  await assert.rejects(send(payoutId, "HDFCR52026111500012"), refusedFor("wrong_state"));
  const other = await liveSale(service, sellerPaise);
  await assert.rejects(send(other.payoutId), refusedFor("utr_used"));
  const seen = [
    {
      subjectId: payoutId,
      answer: { outcome: "paid" as const, reason: null },
      reference: "STATEMENT-15",
    },
  ];
  await attestSubjects(service.ctx, operator, { kind: "payout", seen, appliers });
  const [paid] = await listPayouts(service, seller);
  assert.equal(paid.status, "paid");
  assert.equal(paid.utr, utr);

  const homeless = await liveSale(service, sellerPaise, null);
  const [held] = await listPayouts(service, homeless.seller);
  assert.equal(held.reason, "no_bank_account");
  assert.equal(held.bank, null);
  await assert.rejects(send(homeless.payoutId), refusedFor("no_bank_account"));
  await recallPayout(service.ctx, operator, { payoutId: homeless.payoutId, reason: "wrong firm" });
  assert.equal((await listPayouts(service, homeless.seller))[0].status, "returned");
  assert.equal((await readBalance(service, homeless.seller, "live")).available_paise, sellerPaise);
  await assert.rejects(
    recallPayout(service.ctx, operator, { payoutId: homeless.payoutId, reason: "again" }),
    refusedFor("wrong_state"),
  );
  await assertLedgerSound(service);
});

test("large live sums take two operators who give the same UTR", async (t) => {
  const service = await startService(t);
  const large = 1_000_000_000;
  const { seller, payoutId } = await liveSale(service, large);
  const send = async (by: string, utr: string) =>
    (await sendPayout(service.ctx, namedOperator(by), { payoutId, utr })).outcome;
  assert.equal(await send("asha", "HDFCR52026111500021"), "proposed");
  assert.equal(await send("asha", "HDFCR52026111500022"), "proposed", "a slip is mended");
  await assert.rejects(send("ravi", "HDFCR52026111500021"), refusedFor("terms_differ"));
  assert.equal((await listPayouts(service, seller))[0].status, "scheduled");
  assert.equal(await send("ravi", "HDFCR52026111500022"), "sent");
  const below = await liveSale(service, large - 1);
  const alone = { payoutId: below.payoutId, utr: "HDFCR52026111500023" };
  const { outcome } = await sendPayout(service.ctx, namedOperator("asha"), alone);
  assert.equal(outcome, "sent");
  const { rows } = await askJournal(
    service.ctx.db.pool,
    "select actor_id, action from audit_records where entity_id = $1 and actor_kind = 'operator' order by desk_id, seq",
    [payoutId],
  );
  assert.deepEqual(
    rows.map(({ actor_id, action }) => `${actor_id} ${action}`),
    [
      "cli payout.schedule",
      "asha payout.propose_send",
      "asha payout.propose_send",
      "ravi payout.send",
    ],
  );
});

test("a desk reads its own payouts, and a sub_account key those of its firm", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const stranger = await openTestDesk(service);
  await sellToHouse(service, seller);
  await letSettle(service);
  await sellToHouse(service, { deskId: seller.deskId, firmId: seller.deskId });
  await letSettle(service);
  const [ofDesk, ofFirm] = await listPayouts(service, seller);
  assert.equal(ofFirm.firm_id, seller.firmId);
  const get = async (key: string, path: string, expect: number) =>
    (await service.send("GET", `/v1/payouts${path}`, { key, expect })).body;
  await get(stranger.key, `/${ofDesk.payout_id}`, 404);
  assert.deepEqual((await get(stranger.key, "", 200)).payouts, []);
  const minted = { kind: "sub_account", firm_id: seller.firmId };
  const { api_key: bound } = await mintChild(service, seller.key, minted);
  await get(bound, `/${ofDesk.payout_id}`, 404);
  assert.deepEqual(await get(bound, `/${ofFirm.payout_id}`, 200), ofFirm);
  assert.equal((await get(bound, "", 200)).payouts.length, 1);
  assert.equal((await get(bound, `?firm_id=${seller.deskId}&limit=1`, 200)).total, 0);

  const listIds = async (query: string) =>
    (await get(seller.key, query, 200)).payouts.map((row: { payout_id: string }) => row.payout_id);
  const order = ofFirm.lines[0].order_id;
  assert.deepEqual(await listIds(`?order_id=${order}`), [ofFirm.payout_id]);
  assert.deepEqual(await listIds(`?settlement_id=${ofDesk.settlement_id}`), [ofDesk.payout_id]);
  assert.deepEqual(await listIds("?status=returned"), []);
  const first = await get(seller.key, "?limit=1", 200);
  assert.equal(first.total, 2);
  assert.deepEqual(await listIds(`?limit=1&cursor=${encodeURIComponent(first.next_cursor)}`), [
    ofFirm.payout_id,
  ]);
});

test("payouts of a suspended firm are held with an event, and leave when it is resumed", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const firm = await firmPaidTo(service, desk, "50200012345678");
  await sellToHouse(service, firm);
  const requester = await toOperatorRequester(service.ctx, firm.firmId);
  await suspendFirm(service.ctx, requester, { firmId: firm.firmId, reason: "fraud" });
  await letSettle(service);
  const [held] = await listPayouts(service, desk);
  assert.deepEqual([held.status, held.reason, held.utr], ["held", "firm_suspended", null]);
  const path = `/v1/firms/${firm.firmId}`;
  const { body: shown } = await service.send("GET", path, { key: desk.key, expect: 200 });
  assert.equal(shown.holds[0].reason, "firm_suspended");
  const { body: told } = await service.send("GET", "/v1/events", { key: desk.key, expect: 200 });
  assert.ok(told.events.some(({ event }: { event: string }) => event === "payout.held"));

  const drained = await service.send("POST", `${path}/offboard`, {
    key: desk.key,
    body: { mode: "drain" },
    expect: 403,
  });
  assert.equal(drained.body.detail.reason, "suspended_by_operator");
  await letSettle(service);
  assert.equal((await listPayouts(service, desk))[0].status, "held", "the desk cannot let it go");

  await resumeFirm(service.ctx, requester, firm.firmId);
  await letSettle(service);
  const [paid] = await listPayouts(service, desk);
  assert.equal(paid.status, "paid");
  await assertLedgerSound(service);
});

test("a scheduled payout is held when its firm is suspended", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await setOutage(service.ctx, { environment: "sandbox", port: "bank" }, "no bank today");
  await sellToHouse(service, desk);
  await letSettle(service);
  assert.equal((await listPayouts(service, desk))[0].status, "scheduled");
  await service.send("POST", `/v1/firms/${desk.firmId}/suspend`, {
    key: desk.key,
    body: { reason: "ours" },
    expect: 200,
  });
  await setOutage(service.ctx, { environment: "sandbox", port: "bank" }, undefined);
  await letSettle(service);
  const [held] = await listPayouts(service, desk);
  assert.deepEqual([held.status, held.reason], ["held", "firm_suspended"]);
  await service.send("POST", `/v1/firms/${desk.firmId}/resume`, {
    key: desk.key,
    body: {},
    expect: 200,
  });
  await letSettle(service);
  assert.equal((await listPayouts(service, desk))[0].status, "paid");
});
