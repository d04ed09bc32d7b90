// Money leaves when its owner says so, and a firm that leaves takes its money along.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addDeposit } from "../../src/payouts/deposits.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { postEntries } from "../../src/ledger/write-books.ts";
import { resendPayout } from "../../src/payouts/send-payout.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { giveConfirmedAccount } from "../support/accounts.ts";
import { bank, firmThatIs } from "../support/client-firms.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { holdRow } from "../support/locks.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
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
} from "../support/settlements.ts";

const lakhs = 250_000_000;

type Asking = {
  readonly key?: string;
  readonly firmId?: string;
  readonly paise?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

function withdrawerFor(service: Service, desk: TestDesk) {
  return async (expect: number, asking: Asking = {}): Promise<Answer> =>
    await service.send("POST", `/v1/firms/${asking.firmId ?? desk.firmId}/withdrawals`, {
      key: asking.key ?? desk.key,
      body: { amount_paise: asking.paise ?? lakhs },
      ...(asking.headers && { headers: asking.headers }),
      ...(expect > 0 && { expect }),
    });
}

async function withMoney(service: Service, paise = lakhs) {
  const desk = await openTestDesk(service);
  await payIn(service, desk.firmId, paise);
  const offboard = async (expect: number, body: object = {}) =>
    (
      await service.send("POST", `/v1/firms/${desk.firmId}/offboard`, {
        key: desk.key,
        body,
        expect,
      })
    ).body;
  const stateOfFirm = async () =>
    (await service.send("GET", `/v1/firms/${desk.firmId}`, { key: desk.key, expect: 200 })).body
      .connection_state;
  return { desk, withdraw: withdrawerFor(service, desk), offboard, stateOfFirm };
}

test("a withdrawal pays available money to the firm's account, and balance, payouts, statement and events show it", async (t) => {
  const service = await startService(t);
  const { desk, withdraw } = await withMoney(service);
  const dry = await withdraw(200, { headers: { "x-dry-run": "1" } });
  assert.equal(dry.body.kind, "withdrawal");
  assert.equal(
    (await readBalance(service, desk)).available_paise,
    lakhs,
    "a dry run moves nothing",
  );

  const key = { "idempotency-key": "out-1" };
  const { body: asked } = await withdraw(201, { paise: 200_000_000, headers: key });
  assert.deepEqual(
    [asked.kind, asked.settlement_id, asked.amount_paise, asked.status, asked.lines],
    ["withdrawal", null, 200_000_000, "scheduled", []],
  );
  const { body: again } = await withdraw(200, { paise: 200_000_000, headers: key });
  assert.equal(again.payout_id, asked.payout_id);
  const { body: reused } = await withdraw(409, { paise: 1, headers: key });
  assert.equal(reused.detail.reason, "idempotency_key_reused");
  const held = await readBalance(service, desk);
  assert.deepEqual([held.available_paise, held.pending_out_paise], [50_000_000, 200_000_000]);
  const { body: short } = await withdraw(409, { paise: 50_000_001 });
  assert.deepEqual(short.detail, { reason: "insufficient_funds", available_paise: 50_000_000 });

  await letSettle(service);
  const { body: listed } = await service.send("GET", "/v1/payouts?kind=withdrawal", {
    key: desk.key,
    expect: 200,
  });
  assert.deepEqual(
    listed.payouts.map(({ payout_id, status }: Answer["body"]) => [payout_id, status]),
    [[asked.payout_id, "paid"]],
  );
  const others = await service.send("GET", "/v1/payouts?kind=settlement", { key: desk.key });
  assert.equal(others.body.payouts.length, 0);
  const { body: statement } = await service.send(
    "GET",
    `/v1/statements/2026-11?firm_id=${desk.firmId}`,
    { key: desk.key, expect: 200 },
  );
  const line = statement.lines.at(-1);
  assert.deepEqual(
    [line.kind, line.description, line.amount_paise, line.reference],
    ["payout", "Withdrawal by RTGS", -200_000_000, asked.payout_id],
  );
  assert.equal(statement.closing_paise, 50_000_000);
  const { body: told } = await service.send("GET", "/v1/events", { key: desk.key, expect: 200 });
  assert.deepEqual(
    told.events
      .filter(({ event }: Answer["body"]) => event.startsWith("payout."))
      .map(({ event, data }: Answer["body"]) => [event, data.kind]),
    [
      ["payout.scheduled", "withdrawal"],
      ["payout.sent", "withdrawal"],
      ["payout.paid", "withdrawal"],
    ],
  );
  await assertLedgerSound(service);
});

test("a withdrawal of another's money or of more than is available is refused", async (t) => {
  const service = await startService(t);
  const { desk, withdraw } = await withMoney(service);
  const stranger = await openTestDesk(service);
  await withdraw(404, { key: stranger.key });
  const bound = await mintChild(service, desk.key, { kind: "sub_account", firm_id: desk.firmId });
  await withdraw(404, { key: bound.api_key, firmId: desk.deskId });
  await withdraw(201, { key: bound.api_key, paise: 1_000 });
  const reader = await mintChild(service, desk.key, { scopes: ["orders:read"] });
  await withdraw(403, { key: reader.api_key });
  for (const paise of [0, -1, 1.5]) {
    assert.ok([400, 422].includes((await withdraw(0, { paise })).status));
  }
  const registered = await firmThatIs(service, desk.key, "registered");
  const { body } = await withdraw(409, { firmId: registered.firm_id });
  assert.equal(body.detail.reason, "firm_not_authorized");

  const live = await openTestDesk(service, "live");
  const unbanked = await withdrawerFor(service, live)(409, { paise: 1 });
  assert.equal(unbanked.body.detail.reason, "no_bank_account");
});

test("concurrent withdrawals pay no more than is available", async (t) => {
  const service = await startService(t);
  const { desk, withdraw } = await withMoney(service);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => withdraw(0, { paise: lakhs / 2 })),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [201, 201, 409, 409, 409, 409, 409, 409]);
  assert.equal((await readBalance(service, desk)).available_paise, 0);
  await letSettle(service);
  await assertLedgerSound(service);
});

test("a withdrawal is held as any payout is, and returned money is available again", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const name = "Held Limited";
  const firm = await firmThatIs(service, desk.key, "authorized", {
    legal_name: name,
    bank: bank(name),
  });
  const owner = { ...desk, firmId: firm.firm_id as string };
  await payIn(service, owner.firmId, lakhs);
  await service.send("PATCH", `/v1/firms/${owner.firmId}`, {
    key: desk.key,
    body: { bank: bank(name, "50200012349999") },
    expect: 200,
  });
  const { body: held } = await withdrawerFor(service, owner)(201);
  assert.deepEqual([held.status, held.reason], ["held", "beneficiary_change"]);
  await letSettle(service);
  assert.equal((await listPayouts(service, desk))[0].status, "held");
  await service.send("POST", "/v1/sandbox/scenarios", {
    key: desk.key,
    body: { scenario: "payout_returned" },
    expect: 200,
  });
  service.clock.advance({ days: 1 });
  await letSettle(service);
  const [returned] = await listPayouts(service, desk);
  assert.equal(returned.status, "returned");
  assert.equal((await readBalance(service, owner)).available_paise, lakhs);
  await letSettle(service);
  assert.equal((await listPayouts(service, desk)).length, 1, "nothing is sent anew by itself");
  await resendPayout(service.ctx, namedOperator("asha"), returned.payout_id);
  await letSettle(service);
  const [resent] = await listPayouts(service, desk);
  assert.deepEqual(
    [resent.kind, resent.status, resent.resend_of],
    ["withdrawal", "paid", returned.payout_id],
  );
  assert.equal((await readBalance(service, owner)).posted_paise, 0);
  await assertLedgerSound(service);
});

test("a firm with money cannot be offboarded, and is paid its balance while it drains", async (t) => {
  const service = await startService(t);
  const { desk, offboard, stateOfFirm } = await withMoney(service);
  const { detail } = await offboard(409);
  assert.deepEqual(detail.blockers, [
    {
      type: "balance",
      id: desk.firmId,
      href: `/v1/positions?firm_id=${desk.firmId}`,
      amount_paise: lakhs,
    },
  ]);
  assert.equal((await offboard(200, { mode: "drain" })).connection_state, "offboarding");
  await letSettle(service, 6);
  const [payout] = await listPayouts(service, desk);
  assert.deepEqual(
    [payout.kind, payout.status, payout.amount_paise],
    ["withdrawal", "paid", lakhs],
  );
  assert.equal(await stateOfFirm(), "offboarded");
  assert.equal((await readBalance(service, desk)).posted_paise, 0);
  await assertLedgerSound(service);
});

test("money returned while a firm drains waits for another account", async (t) => {
  const service = await startService(t);
  const { desk, offboard, stateOfFirm } = await withMoney(service);
  await service.send("POST", "/v1/sandbox/scenarios", {
    key: desk.key,
    body: { scenario: "payout_returned" },
    expect: 200,
  });
  await offboard(200, { mode: "drain" });
  await letSettle(service, 8);
  assert.deepEqual(
    (await listPayouts(service, desk)).map(({ status }) => status),
    ["returned"],
  );
  assert.equal(await stateOfFirm(), "offboarding");
  await giveConfirmedAccount(service.ctx, { firmId: desk.firmId, accountNo: "50200012344321" });
  await letSettle(service, 6);
  assert.equal((await listPayouts(service, desk))[0].status, "paid");
  assert.equal(await stateOfFirm(), "offboarded");
});

test("dues block offboarding and withdrawal until they are settled", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const scripNo = await addCredit(service, desk);
  const legs = [{ seller: desk, scripNo, buyerPaise: sellerPaise }];
  const settlementId = await makeDeal(service, { buyer: house(), legs });
  await letSettle(service);
  for (const name of ["asha", "ravi"]) {
    const command = { settlementId, reason: "forged mandate" };
    await reverseSettlement(service.ctx, namedOperator(name), command);
  }
  assert.equal((await readBalance(service, desk)).dues_paise, sellerPaise);
  await payIn(service, desk.firmId, sellerPaise - 1_000);
  const withdraw = withdrawerFor(service, desk);
  const { body: owing } = await withdraw(409, { paise: 1 });
  assert.deepEqual(owing.detail, {
    reason: "dues_outstanding",
    available_paise: 0,
    dues_paise: 1_000,
  });

  const path = `/v1/firms/${desk.firmId}/offboard`;
  const { body } = await service.send("POST", path, { key: desk.key, body: {}, expect: 409 });
  assert.deepEqual(
    body.detail.blockers.map(({ type, amount_paise }: Answer["body"]) => [type, amount_paise]),
    [["dues", 1_000]],
  );
  await payIn(service, desk.firmId, 2_000);
  await withdraw(201, { paise: 400 });
  await letSettle(service);
  await service.send("POST", path, { key: desk.key, body: { mode: "drain" }, expect: 200 });
  await letSettle(service, 6);
  const [payout] = await listPayouts(service, desk);
  assert.deepEqual([payout.kind, payout.amount_paise, payout.status], ["withdrawal", 600, "paid"]);
  const { posted_paise, dues_paise } = await readBalance(service, desk);
  assert.deepEqual([posted_paise, dues_paise], [0, 0]);
  const { body: statement } = await service.send(
    "GET",
    `/v1/statements/2026-11?firm_id=${desk.firmId}`,
    { key: desk.key, expect: 200 },
  );
  assert.deepEqual([statement.closing_paise, statement.dues_paise], [0, 0]);
  assert.ok(
    statement.lines.some(
      ({ kind, description }: Answer["body"]) => kind === "dues" && description === "Dues settled",
    ),
  );
  await assertLedgerSound(service);
});

test("concurrent withdrawals of a firm that owed do not count the same money twice", async (t) => {
  const service = await startService(t);
  const { desk, withdraw } = await withMoney(service, 3_000);
  await service.ctx.db.transaction(async (tx) => {
    const firmId = desk.firmId;
    await postEntries(
      tx,
      [
        {
          environment: "sandbox",
          kind: "fee",
          subject: "a_test_fee",
          phase: "posted",
          movements: [
            { from: { kind: "firm_dues", firmId }, to: { kind: "house_cash" }, paise: 1_000 },
          ],
        },
      ],
      service.ctx.now(),
    );
  });
  const firm = await holdRow(t, service, {
    table: "ledger_balances",
    where: `balance = 'firm_cash:${desk.firmId}'`,
  });
  const both = [withdraw(0, { paise: 1_500 }), withdraw(0, { paise: 1_500 })];
  await firm.whenWaiting(2);
  await firm.release();
  const statuses = (await Promise.all(both)).map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [201, 409]);
});

test("an offboarded firm takes no deposit", async (t) => {
  const service = await startService(t);
  const { firmId, key } = await openTestDesk(service);
  await service.send("POST", `/v1/firms/${firmId}/offboard`, { key, body: {}, expect: 200 });
  const deposit = { firmId, paise: lakhs, reference: "HDFCR52026111500009" };
  await assert.rejects(
    addDeposit(service.ctx, namedOperator("asha"), { environment: "sandbox", ...deposit }),
    (error: { detail?: { reason?: string } }) => error.detail?.reason === "firm_offboarded",
  );
  assert.equal((await readBalance(service, { firmId })).posted_paise, 0);
});
