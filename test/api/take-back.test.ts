// Customs shows a credit as transferred although its deal has ended and its buyer got the money back: two
// people take the money from the buyer, and the seller gets no more than came.

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedOperator, operator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { attestSubjects } from "../../src/outside/attest.ts";
import { takeBackRefund } from "../../src/settlement/reverse-settlement.ts";
import { appliers } from "../../src/workers.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  listHoldings,
  makeDeal,
  openTestDesk,
  readBalance,
  sellerPaise,
  type TestDesk,
  type TestParty,
} from "../support/settlements.ts";

const environment = "live";

type Refunded = {
  readonly seller: TestDesk;
  readonly scripNo: string;
  readonly settlementId: string;
};

async function dealFor(service: Service, buyer: TestParty): Promise<Refunded> {
  const seller = await openTestDesk(service, environment);
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo }];
  return { seller, scripNo, settlementId: await makeDeal(service, { environment, buyer, legs }) };
}

/** A deal of which an operator said that nothing was pending. */
async function refunded(service: Service, buyer: TestParty): Promise<Refunded> {
  const made = await dealFor(service, buyer);
  const answer = { outcome: "nothing_pending" } as const;
  const seen = [{ subjectId: made.settlementId, answer, reference: "ICEGATE-1" }];
  await attestSubjects(service.ctx, operator, { kind: "credit_transfer", seen, appliers });
  return made;
}

async function openBuyer(service: Service): Promise<TestDesk> {
  const buyer = await openTestDesk(service, environment);
  await payIn(service, buyer.firmId, buyerPaise, environment);
  return buyer;
}

function openTaking({ ctx }: Service, { settlementId, scripNo }: Refunded) {
  const alarms: object[] = [];
  const log = Object.assign(Object.create(ctx.log), { error: (told: object) => alarms.push(told) });
  const by = async (name: string) => {
    const seen = { settlementId, scrip_no: scripNo, reference: "ICEGATE-9" };
    return (await takeBackRefund({ ...ctx, log }, namedOperator(name), seen)).outcome;
  };
  const byTwo = async () => {
    assert.equal(await by("asha"), "proposed");
    assert.equal(await by("ravi"), "taken_back");
  };
  return { byTwo, by, alarms };
}

function refusedFor(reason: string) {
  return (error: unknown) => error instanceof Failure && error.detail?.["reason"] === reason;
}

const free = async (service: Service, { firmId }: TestParty) =>
  Number((await readBalance(service, { firmId }, environment)).available_paise);

test("a refund whose buyer still has it goes to the seller, and the credit to the buyer, once", async (t) => {
  const service = await startService(t);
  const buyer = await openBuyer(service);
  const made = await refunded(service, buyer);
  assert.equal(await free(service, buyer), buyerPaise);
  const { byTwo, by, alarms } = openTaking(service, made);
  await byTwo();
  assert.equal(await free(service, buyer), 0);
  assert.equal(await free(service, made.seller), sellerPaise);
  assert.deepEqual(await listHoldings(service, made.scripNo), [
    { firm_id: buyer.firmId, state: "listed" },
    { firm_id: made.seller.firmId, state: "transferred" },
  ]);
  assert.equal(alarms.length, 2);
  await assert.rejects(by("asha"), refusedFor("taken_back_before"));
  await assertLedgerSound(service);
});

test("a buyer that has spent its refund owes it, and the seller waits until that is paid", async (t) => {
  const service = await startService(t);
  const buyer = await openBuyer(service);
  const made = await refunded(service, buyer);
  await dealFor(service, buyer);
  assert.equal(await free(service, buyer), 0, "it is in another deal");
  const { byTwo, by } = openTaking(service, made);
  await byTwo();
  const { dues_paise } = await readBalance(service, buyer, environment);
  assert.equal(dues_paise, buyerPaise);
  assert.equal(await free(service, made.seller), 0, "the house fronts nothing");
  await assert.rejects(by("asha"), refusedFor("dues_outstanding"));

  await payIn(service, buyer.firmId, buyerPaise, environment);
  assert.equal((await readBalance(service, buyer, environment)).dues_paise, 0);
  await byTwo();
  assert.equal(await free(service, made.seller), sellerPaise);
  await assert.rejects(by("asha"), refusedFor("taken_back_before"));
  await assertLedgerSound(service);
});

test("a seller that withdraws its credit after the refund keeps nobody's money from being taken", async (t) => {
  const service = await startService(t);
  const buyer = await openBuyer(service);
  const made = await refunded(service, buyer);
  const { key } = made.seller;
  await service.send("POST", `/v1/credits/${made.scripNo}/withdraw`, {
    key,
    body: {},
    expect: 200,
  });
  await openTaking(service, made).byTwo();
  assert.equal(await free(service, buyer), 0);
  assert.equal(await free(service, made.seller), sellerPaise);
  await assertLedgerSound(service);
});

test("where the house bought, the seller is paid; and a credit in another deal waits for that", async (t) => {
  const service = await startService(t);
  const made = await refunded(service, house(environment));
  const other = await openBuyer(service);
  const { seller, scripNo } = made;
  const again = { environment, buyer: other, legs: [{ seller, scripNo }] } as const;
  const resold = { seller, scripNo, settlementId: await makeDeal(service, again) };
  const { by } = openTaking(service, made);
  await assert.rejects(async () => {
    await by("asha");
    await by("ravi");
  }, refusedFor("credit_not_held"));
  await assert.rejects(openTaking(service, resold).by("asha"), refusedFor("wrong_state"));
  const answer = { outcome: "refused" } as const;
  const seen = [{ subjectId: resold.settlementId, answer, reference: "ICEGATE-2" }];
  await attestSubjects(service.ctx, operator, { kind: "credit_transfer", seen, appliers });
  await by("ravi").then((outcome) => assert.equal(outcome, "taken_back"));
  assert.equal(await free(service, seller), sellerPaise);
  assert.equal((await listHoldings(service, scripNo))[0]?.firm_id, house(environment).firmId);
  await assertLedgerSound(service);
});
