import assert from "node:assert/strict";
import { test } from "node:test";

import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { attestSubjects } from "../../src/outside/attest.ts";
import { setOutage } from "../../src/outside/ask.ts";
import { operator, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { istDay } from "../../src/kernel/time.ts";
import type { EndedSide } from "../../src/settlement/transfer-legs.ts";
import { failSettlement } from "../../src/settlement/fail-settlements.ts";
import { initiateTransfers } from "../../src/settlement/advance-settlements.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { onLost, settlementHooks } from "../../src/hooks.ts";
import { attesting } from "../../src/approval-kinds.ts";
import { appliers } from "../../src/workers.ts";
import { asOwner } from "../support/database.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  face,
  house,
  letSettle,
  listHoldings,
  listPayouts,
  makeDeal,
  openTestDesk,
  readBalance,
  readSettlement,
  sellerPaise,
  type TestDesk,
  type TestParty,
} from "../support/settlements.ts";
import { askJournal } from "../support/journal.ts";

async function dealers(service: Service) {
  return { seller: await openTestDesk(service), buyer: await openTestDesk(service) };
}

/** A credit of the seller's, dealt; its number and its settlement. */
async function sell(
  service: Service,
  { seller, buyer, ending }: { seller: TestParty; buyer: TestParty; ending?: string },
) {
  const scripNo = await addCredit(service, seller, ending);
  const settlementId = await makeDeal(service, { buyer, legs: [{ seller, scripNo }] });
  return { scripNo, settlementId };
}

const givingUp = { reference: undefined, settlementHooks, attesting: { kind: attesting } };

async function listSettlementEvents({ send }: Service, { key }: TestDesk): Promise<string[]> {
  const { body } = await send("GET", "/v1/events", { key, expect: 200 });
  return body.events
    .map(({ event }: { event: string }) => event)
    .filter((event: string) => /^(settlement|payout)\./.test(event));
}

test("a history that a version of before began is shown whole and goes on", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const { settlementId } = await sell(service, { seller, buyer: house() });
  const { history } = await readSettlement(service, seller, settlementId);
  await service.ctx.db.pool.query("update settlements set history = $1 where settlement_id = $2", [
    JSON.stringify(history),
    settlementId,
  ]);
  await letSettle(service, 1);
  const [scheduled] = await listPayouts(service, seller);
  await service.ctx.db.pool.query("update payouts set history = $1 where payout_id = $2", [
    JSON.stringify(scheduled.history),
    scheduled.payout_id,
  ]);
  await letSettle(service);
  const settled = await readSettlement(service, seller, settlementId);
  assert.deepEqual(settled.history.slice(0, 2), history);
  assert.deepEqual(
    settled.history.map(({ status }: { status: string }) => status),
    ["funded", "transfer_initiated", "transfer_confirmed", "settled"],
  );
  const [paid] = await listPayouts(service, seller);
  assert.deepEqual(paid.history.slice(0, scheduled.history.length), scheduled.history);
  assert.deepEqual([paid.status, paid.version], ["paid", paid.history.length]);
});

test("a sale to the house settles by itself: money, credit, payout and an event for every milestone", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const { scripNo, settlementId } = await sell(service, { seller, buyer: house() });

  const opened = await readSettlement(service, seller, settlementId);
  assert.equal(opened.status, "transfer_initiated", "customs is asked with the deal");
  assert.equal(opened.waiting_on, "customs");
  assert.equal(opened.due_at, "2026-11-15T14:45:30.000+05:30");
  assert.equal(opened.version, 2);
  await letSettle(service);

  const settled = await readSettlement(service, seller, settlementId);
  assert.equal(settled.status, "settled");
  assert.equal(settled.waiting_on, "none");
  assert.equal(settled.due_at, null);
  assert.deepEqual(settled.allowed_actions, []);
  assert.deepEqual(
    settled.history.map(({ status }: { status: string }) => status),
    ["funded", "transfer_initiated", "transfer_confirmed", "settled"],
  );
  assert.equal(settled.version, settled.history.length);
  const [side] = settled.sides;
  assert.equal(settled.sides.length, 1);
  assert.equal(side.side, "sell");
  assert.equal(side.all_in_paise, sellerPaise);
  assert.equal(side.settled_paise, sellerPaise);
  assert.equal(side.legs[0].status, "delivered");
  assert.deepEqual(await listHoldings(service, scripNo), [
    { firm_id: house().firmId, state: "listed" },
    { firm_id: seller.firmId, state: "transferred" },
  ]);
  const [payout] = await listPayouts(service, seller);
  assert.equal(payout.status, "paid");
  assert.deepEqual(payout.lines, [
    { order_id: side.order_ids[0], cross_id: null, scrip_no: scripNo, amount_paise: sellerPaise },
  ]);
  assert.deepEqual(await listSettlementEvents(service, seller), [
    "settlement.created",
    "settlement.transfer_initiated",
    "settlement.transfer_confirmed",
    "settlement.settled",
    "payout.scheduled",
    "payout.sent",
    "payout.paid",
  ]);
  assert.equal((await readBalance(service, seller)).posted_paise, 0);
  await assertLedgerSound(service);
});

test("between two clients each pays and gets its own price, and the house keeps the difference", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  const { scripNo, settlementId } = await sell(service, { seller, buyer });
  assert.equal((await readSettlement(service, buyer, settlementId)).status, "pending");
  assert.equal((await readSettlement(service, buyer, settlementId)).waiting_on, "buyer");
  await letSettle(service, 5);

  const bought = await readSettlement(service, buyer, settlementId);
  const sold = await readSettlement(service, seller, settlementId);
  assert.equal(bought.status, "settled");
  assert.equal(bought.sides[0].all_in_paise, buyerPaise);
  assert.equal(sold.sides[0].all_in_paise, sellerPaise);
  assert.ok(!JSON.stringify(bought).includes(seller.firmId), "the seller is nobody's business");
  assert.ok(!JSON.stringify(bought).includes(String(sellerPaise)));
  assert.ok(!JSON.stringify(sold).includes(buyer.firmId));
  assert.ok(!JSON.stringify(sold).includes(String(buyerPaise)));
  assert.deepEqual(await listSettlementEvents(service, buyer), [
    "settlement.created",
    "settlement.funded",
    "settlement.transfer_initiated",
    "settlement.transfer_confirmed",
    "settlement.settled",
  ]);
  assert.deepEqual((await listHoldings(service, scripNo))[0], {
    firm_id: buyer.firmId,
    state: "listed",
  });
  assert.equal((await readBalance(service, buyer)).posted_paise, 0);
  await assertLedgerSound(service);
});

test("the delivered part of a bundle settles and the rest is refunded", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  const good = await addCredit(service, seller);
  const refused = await addCredit(service, seller, "0409");
  const ofHouse = await addCredit(service, house());
  const settlementId = await makeDeal(service, {
    buyer,
    legs: [
      { seller, scripNo: good },
      { seller, scripNo: refused },
      { seller: house(), scripNo: ofHouse },
    ],
  });
  await letSettle(service, 5);

  const [bought] = (await readSettlement(service, buyer, settlementId)).sides;
  assert.equal(bought.settled_paise, 2 * buyerPaise);
  assert.equal(bought.undelivered_paise, buyerPaise);
  assert.equal(bought.settled_paise + bought.undelivered_paise, bought.all_in_paise);
  const [sold] = (await readSettlement(service, seller, settlementId)).sides;
  assert.equal(sold.legs.length, 2, "the house's credit is not the seller's business");
  assert.equal(sold.settled_paise, sellerPaise);
  assert.equal(sold.legs[1].reason, "refused");
  assert.equal((await readBalance(service, buyer)).available_paise, buyerPaise);
  assert.deepEqual(await listHoldings(service, refused), [
    { firm_id: seller.firmId, state: "listed" },
  ]);
  assert.equal((await listPayouts(service, seller))[0].amount_paise, sellerPaise);
  await assertLedgerSound(service);
});

test("a seller's delivered money waits for its payout while others of its credits are open", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const good = await addCredit(service, seller);
  const unanswered = await addCredit(service, seller, "0408");
  const sale = await makeDeal(service, {
    buyer: house(),
    legs: [good, unanswered].map((scripNo) => ({ seller, scripNo })),
  });
  await letSettle(service, 3);
  const { available_paise, pending_out_paise } = await readBalance(service, seller);
  assert.deepEqual(
    { available_paise, pending_out_paise },
    { available_paise: 0, pending_out_paise: sellerPaise },
  );
  assert.deepEqual(await listPayouts(service, seller), []);

  const scripNo = await addCredit(service, house());
  const legs = [{ seller: house(), scripNo, sellerPaise: 1_000_000, buyerPaise: 1_000_000 }];
  const purchase = await makeDeal(service, { buyer: seller, legs });
  assert.equal((await readSettlement(service, seller, purchase)).status, "pending");
  service.clock.advance({ seconds: 40 });
  await letSettle(service, 4);
  assert.equal((await readSettlement(service, seller, sale)).status, "settled");
  assert.equal((await listPayouts(service, seller))[0].amount_paise, sellerPaise);
  await assertLedgerSound(service);
});

test("a settlement without a delivered leg fails, for any reason", async (t) => {
  const service = await startService(t);
  const failing = async (ending: string, seconds: number) => {
    const { seller, buyer } = await dealers(service);
    const { scripNo, settlementId } = await sell(service, { seller, buyer, ending });
    await letSettle(service, seconds);
    const settlement = await readSettlement(service, seller, settlementId);
    assert.equal(settlement.status, "failed");
    assert.equal((await readBalance(service, buyer)).available_paise, buyerPaise, "refunded");
    assert.deepEqual(await listPayouts(service, seller), []);
    assert.equal((await listSettlementEvents(service, seller)).at(-1), "settlement.failed");
    return { reason: settlement.reason, holding: await listHoldings(service, scripNo) };
  };

  await t.test("customs refuses", async () => {
    const { reason, holding } = await failing("0409", 4);
    assert.equal(reason, "refused");
    assert.equal(holding[0]?.state, "listed");
  });
  await t.test("customs suspends the credit, which stays suspended", async () => {
    const { reason, holding } = await failing("0407", 4);
    assert.equal(reason, "credit_suspended");
    assert.equal(holding[0]?.state, "suspended");
  });
  await t.test("customs never answers", async () => {
    const { reason, holding } = await failing("0408", 40);
    assert.equal(reason, "timeout");
    assert.equal(holding[0]?.state, "listed");
  });
  await assertLedgerSound(service);
});

test("an unfunded deal fails at its deadline, and no sooner", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  await setOutage(service.ctx, { environment: "sandbox", port: "bank" }, "no bank today");
  const { scripNo, settlementId } = await sell(service, { seller, buyer });
  service.clock.advance({ seconds: 61 });
  await service.work();
  assert.equal(
    (await readSettlement(service, buyer, settlementId)).status,
    "pending",
    "nobody is late while the bank is away",
  );
  await asOwner(service.ctx.db, async (owner) => {
    await owner.query("update questions set due_at = due_at + interval '1 day'");
  });
  await setOutage(service.ctx, { environment: "sandbox", port: "bank" }, undefined);
  await service.workOn(["deadlines"]);
  const failed = await readSettlement(service, buyer, settlementId);
  assert.equal(failed.status, "failed");
  assert.equal(failed.reason, "timeout");
  assert.deepEqual(await listHoldings(service, scripNo), [
    { firm_id: seller.firmId, state: "listed" },
  ]);
  await letSettle(service, 2);
  assert.equal((await readBalance(service, buyer)).posted_paise, 0, "and nobody is asked to pay");
  await assertLedgerSound(service);
});

test("in the sandbox a deal is not late while its answer waits to be applied", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const { settlementId } = await sell(service, { seller, buyer: house() });
  const readStatus = async () => (await readSettlement(service, seller, settlementId)).status;
  await service.workOn(["settlement"]);
  assert.equal(await readStatus(), "transfer_initiated");
  service.clock.advance({ seconds: 60 });
  await service.workOn(["deadlines"]);
  assert.equal(await readStatus(), "transfer_initiated", "the simulation is behind");
  service.clock.advance({ seconds: 600 });
  await service.workOn(["deadlines"]);
  assert.equal(await readStatus(), "failed", "deadlines do not wait for ever");

  const other = await sell(service, { seller, buyer: house() });
  await service.workOn(["settlement"]);
  service.clock.advance({ seconds: 60 });
  await service.work();
  const settled = await readSettlement(service, seller, other.settlementId);
  assert.equal(settled.status, "settled");
});

test("an answer that waits for a bank that is away makes no deal wait for customs", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  const { settlementId } = await sell(service, { seller, buyer: house() });
  await service.workOn(["settlement"]);
  await setOutage(service.ctx, { environment: "sandbox", port: "bank" }, "no bank today");
  const unfunded = await sell(service, { seller, buyer });
  await asOwner(service.ctx.db, async (owner) => {
    await owner.query(
      "update questions set due_at = due_at + interval '1 day' where kind = 'credit_transfer'",
    );
  });
  service.clock.advance({ seconds: 90 });
  await service.workOn(["simulation", "deadlines"]);
  const readStatus = async (id: string) => (await readSettlement(service, seller, id)).status;
  assert.equal(await readStatus(settlementId), "failed");
  assert.equal(await readStatus(unfunded.settlementId), "pending");
});

test("during a customs outage funded settlements wait, and continue afterwards", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const registry = { environment: "sandbox", port: "registry" } as const;
  await setOutage(service.ctx, registry, "portal maintenance");
  const { settlementId } = await sell(service, { seller, buyer: house() });
  service.clock.advance({ seconds: 90 });
  await service.work();
  assert.equal((await readSettlement(service, seller, settlementId)).status, "funded");
  await setOutage(service.ctx, registry, undefined);
  assert.equal(await initiateTransfers(service.ctx, settlementHooks), "more");
  await letSettle(service, 3);
  assert.equal((await readSettlement(service, seller, settlementId)).status, "settled");
});

test("an existing balance funds a deal at once", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  await payIn(service, buyer.firmId, buyerPaise + 1);
  const { settlementId } = await sell(service, { seller, buyer });
  const { status, history } = await readSettlement(service, buyer, settlementId);
  assert.equal(status, "transfer_initiated");
  assert.equal(history.length, 2);
  assert.equal((await readBalance(service, buyer)).escrow_paise, buyerPaise);
  assert.equal((await readBalance(service, buyer)).available_paise, 1);
  await letSettle(service, 3);
  assert.equal((await readBalance(service, buyer)).posted_paise, 1);
  await assertLedgerSound(service);
});

test("a deposit funds waiting deals, oldest first, as far as it reaches", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  await setOutage(service.ctx, { environment: "sandbox", port: "bank" }, "no bank today");
  const first = await sell(service, { seller, buyer });
  service.clock.advance({ seconds: 1 });
  const second = await sell(service, { seller, buyer });
  const deposit = {
    environment: "sandbox",
    firmId: buyer.firmId,
    paise: 2 * buyerPaise - 1,
    reference: "HDFCR52026111500001",
  } as const;
  assert.equal((await addDeposit(service.ctx, operator, deposit)).outcome, "added");
  assert.equal((await addDeposit(service.ctx, operator, deposit)).outcome, "known");
  await assert.rejects(
    addDeposit(service.ctx, operator, { ...deposit, paise: 1 }),
    (error) => error instanceof Failure && error.detail?.["reason"] === "reference_used",
  );
  await service.work();
  const readStatus = async ({ settlementId }: { settlementId: string }) =>
    (await readSettlement(service, buyer, settlementId)).status;
  assert.equal(await readStatus(first), "transfer_initiated");
  assert.equal(await readStatus(second), "pending");
  await addDeposit(service.ctx, operator, {
    ...deposit,
    paise: 1,
    reference: "HDFCR52026111500002",
  });
  await service.work();
  assert.equal(await readStatus(second), "transfer_initiated");
  await assertLedgerSound(service);
});

test("a credit that customs takes fails its leg and no other", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  const news = async (kind: "suspend" | "cancel" | "use" | "lift", scripNo: string) =>
    await applyRegistryNews(service.ctx, operator, {
      environment: "sandbox",
      news: [{ scripNo, news: kind, reason: "notice 7" }],
      onLost,
    });
  const kept = await addCredit(service, seller);
  const cancelled = await addCredit(service, seller);
  const settlementId = await makeDeal(service, {
    buyer,
    legs: [
      { seller, scripNo: kept },
      { seller, scripNo: cancelled },
    ],
  });
  await news("cancel", cancelled);
  const waiting = await readSettlement(service, buyer, settlementId);
  assert.equal(waiting.status, "pending");
  assert.equal(waiting.version, 2);
  assert.equal(waiting.sides[0].legs[1].reason, "credit_cancelled");
  await letSettle(service, 5);
  const settled = await readSettlement(service, buyer, settlementId);
  assert.equal(settled.status, "settled");
  assert.equal(settled.sides[0].settled_paise, buyerPaise);
  assert.equal(
    (await readBalance(service, buyer)).available_paise,
    buyerPaise,
    "what was paid for the lost credit is the buyer's balance",
  );
  assert.equal((await listHoldings(service, cancelled))[0]?.state, "cancelled");

  const alone = await sell(service, { seller, buyer: house() });
  await service.work();
  assert.equal(
    (await readSettlement(service, seller, alone.settlementId)).status,
    "transfer_initiated",
  );
  for (const kind of ["suspend", "cancel", "use", "lift"] as const) {
    const [heard] = await news(kind, alone.scripNo);
    assert.match(heard?.problem ?? "", /its transfer may be open at customs/);
  }
  await letSettle(service, 3);
  assert.equal((await readSettlement(service, seller, alone.settlementId)).status, "settled");
  assert.equal((await news("suspend", alone.scripNo))[0]?.ok, true, "it is the buyer's now");
  await assertLedgerSound(service);
});

test("each desk sees its own side, a desk on both sides both, and a third desk nothing", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  const stranger = await openTestDesk(service);
  const live = await openTestDesk(service, "live");
  const { settlementId } = await sell(service, { seller, buyer });
  const path = `/v1/settlements/${settlementId}`;
  for (const { key } of [stranger, live]) {
    await service.send("GET", path, { key, expect: 404 });
    const { body } = await service.send("GET", "/v1/settlements", { key, expect: 200 });
    assert.deepEqual(body.settlements, []);
  }
  const both = {
    seller: { ...seller },
    buyer: { deskId: seller.deskId, firmId: seller.deskId },
  };
  const inside = await sell(service, both);
  const { sides } = await readSettlement(service, seller, inside.settlementId);
  assert.deepEqual(
    sides.map(({ side, firm_id }: { side: string; firm_id: string }) => [side, firm_id]),
    [
      ["sell", seller.firmId],
      ["buy", seller.deskId],
    ],
  );
  const minted = { kind: "sub_account", firm_id: seller.firmId };
  const { api_key: bound } = await mintChild(service, seller.key, minted);
  const ofFirm = await readSettlement(service, { key: bound }, inside.settlementId);
  assert.deepEqual(
    ofFirm.sides.map(({ side }: { side: string }) => side),
    ["sell"],
  );
  const bought = await sell(service, {
    seller: house(),
    buyer: { deskId: seller.deskId, firmId: seller.deskId },
  });
  await service.send("GET", `/v1/settlements/${bought.settlementId}`, { key: bound, expect: 404 });
  const list = await service.send("GET", "/v1/settlements", { key: bound, expect: 200 });
  assert.equal(list.body.settlements.length, 2);
});

test("a list pages newest first, each settlement once, by every filter", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  const made: string[] = [];
  for (let deal = 0; deal < 5; deal++) {
    const a = await addCredit(service, seller);
    const b = await addCredit(service, seller);
    const legs = [a, b].map((scripNo) => ({ seller, scripNo }));
    made.unshift(await makeDeal(service, { buyer: deal % 2 ? buyer : house(), legs }));
    service.clock.advance({ seconds: 1 });
  }
  const list = async (query: string, key = seller.key) =>
    (await service.send("GET", `/v1/settlements${query}`, { key, expect: 200 })).body;
  const pickIds = (body: { settlements: { settlement_id: string }[] }) =>
    body.settlements.map(({ settlement_id }) => settlement_id);
  assert.deepEqual(pickIds(await list("")), made);
  const seen: string[] = [];
  let cursor = "";
  for (let page = 0; page < 3; page++) {
    const body = await list(`?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    assert.equal(body.total, 5);
    assert.equal(body.has_more, page < 2);
    seen.push(...pickIds(body));
    cursor = body.next_cursor;
  }
  assert.deepEqual(seen, made);
  assert.deepEqual(pickIds(await list("", buyer.key)), [made[1], made[3]]);
  assert.equal((await list("?status=pending&limit=1")).total, 2);
  assert.equal((await list("?status=transfer_initiated&limit=1")).total, 3);
  assert.equal((await list(`?firm_id=${buyer.firmId}&limit=1`)).total, 0);
  const [orderId] = (await readSettlement(service, seller, made[2] ?? "")).sides[0].order_ids;
  assert.deepEqual(pickIds(await list(`?order_id=${orderId}`)), [made[2]]);
  const at = encodeURIComponent((await readSettlement(service, seller, made[2] ?? "")).created_at);
  assert.deepEqual(pickIds(await list(`?from=${at}`)), made.slice(0, 3));
  assert.deepEqual(pickIds(await list(`?to=${at}`)), made.slice(3));
  for (const [query, status] of [
    ["?from=yesterday", 422],
    ["?status=lost", 400],
    ["?limit=0", 422],
    ["?cursor=x", 400],
    ["?colour=red", 422],
  ] as const) {
    await service.send("GET", `/v1/settlements${query}`, { key: seller.key, expect: status });
  }
});

test("live settlements advance by operators' attestations with references", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service, "live");
  const buyer = await openTestDesk(service, "live");
  const scripNo = await addCredit(service, seller);
  const deal = { environment: "live", buyer, legs: [{ seller, scripNo }] } as const;
  const settlementId = await makeDeal(service, deal);
  await letSettle(service, 2);
  const waiting = await readSettlement(service, buyer, settlementId);
  assert.equal(waiting.status, "pending");
  assert.equal(waiting.due_at, "2026-11-17T17:30:00.000+05:30", "a day after Monday");
  const attest = async <Kind extends "deal_funding" | "credit_transfer">(
    kind: Kind,
    answer: Parameters<typeof attestSubjects<Kind>>[2]["seen"][number]["answer"],
  ) => {
    const seen = [{ subjectId: settlementId, answer, reference: "TICKET-7" }];
    return await attestSubjects(service.ctx, namedOperator("asha"), { kind, seen, appliers });
  };
  await assert.rejects(attest("credit_transfer", { outcome: "transferred" }), Failure);
  assert.equal(
    await attest("deal_funding", { arrived: true, reference: "HDFCR52026111500003" }),
    1,
  );
  await service.work();
  const funded = await readSettlement(service, buyer, settlementId);
  assert.deepEqual([funded.status, funded.waiting_on], ["funded", "seller"]);
  await letSettle(service, 2);
  assert.equal(await attest("credit_transfer", { outcome: "transferred" }), 1);
  assert.equal((await readSettlement(service, buyer, settlementId)).status, "settled");
  const { rows } = await askJournal(
    service.ctx.db.pool,
    `select distinct actor_id from audit_records
    where entity_id = $1 and action in ('settlement.fund', 'settlement.settle')`,
    [settlementId],
  );
  assert.deepEqual(rows, [{ actor_id: "asha" }]);
  await assertLedgerSound(service);
});

test("an operator's attestation that money is missing fails a live deal", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service, "live");
  const buyer = await openTestDesk(service, "live");
  const deal = async () => {
    const scripNo = await addCredit(service, seller);
    return await makeDeal(service, { environment: "live", buyer, legs: [{ seller, scripNo }] });
  };
  const unpaid = await deal();
  const answer = { arrived: false, reference: null };
  const seen = [{ subjectId: unpaid, answer, reference: "TICKET-8" }];
  await attestSubjects(service.ctx, operator, { kind: "deal_funding", seen, appliers });
  assert.equal((await readSettlement(service, seller, unpaid)).reason, "not_funded");

  const givenUp = await deal();
  await failSettlement(service.ctx, operator, { ...givingUp, settlementId: givenUp });
  assert.equal((await readSettlement(service, seller, givenUp)).reason, "by_operator");
  await assert.rejects(
    failSettlement(service.ctx, operator, { ...givingUp, settlementId: givenUp }),
    (error) => error instanceof Failure && error.code === "conflict",
  );
  await assert.rejects(
    failSettlement(service.ctx, operator, { ...givingUp, settlementId: "stl_none" }),
    (error) => error instanceof Failure && error.code === "not_found",
  );
  const late = await deal();
  service.clock.advance({ days: 5 });
  await service.work();
  assert.equal((await readSettlement(service, seller, late)).reason, "timeout");
  await assertLedgerSound(service);
});

test("the hooks of settlement ends run once, in the same transaction", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  const { settlementId } = await sell(service, { seller, buyer });
  const heard: string[][] = [];
  const listening = {
    ...settlementHooks,
    orders: async (_tx: unknown, _actor: unknown, ended: readonly EndedSide[]) => {
      heard.push(
        ended.flatMap(({ state, undeliveredOrderIds }) => [state, ...undeliveredOrderIds]),
      );
      return [];
    },
  };
  await failSettlement(service.ctx, operator, {
    ...givingUp,
    settlementId,
    settlementHooks: listening,
  });
  const readOrders = async (desk: TestDesk) =>
    (await readSettlement(service, desk, settlementId)).sides[0].order_ids;
  const orderIds = [await readOrders(seller), await readOrders(buyer)];
  assert.deepEqual(heard, [orderIds.flatMap((ids) => ["failed", ...ids])]);
});

test("a reversal returns credit and money, and takes no approval in the sandbox", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await dealers(service);
  const reverse = async (by: string, settlementId: string, reason = "forged mandate") =>
    await reverseSettlement(service.ctx, namedOperator(by), { settlementId, reason });
  const refusedFor = (reason: string) => (error: unknown) =>
    error instanceof Failure && error.code === "conflict" && error.detail?.["reason"] === reason;

  await t.test("of a deal that was paid out: the seller owes what it no longer has", async () => {
    const { scripNo, settlementId } = await sell(service, { seller, buyer });
    await assert.rejects(reverse("asha", settlementId), refusedFor("wrong_state"));
    await letSettle(service, 6);
    await payIn(service, seller.firmId, 400_000);
    assert.equal((await reverse("asha", settlementId)).outcome, "reversed");
    assert.equal(
      (await reverse("asha", settlementId)).outcome,
      "reversed",
      "a command that was run again",
    );
    await assert.rejects(reverse("ravi", settlementId, "another"), refusedFor("wrong_state"));
    assert.equal((await readSettlement(service, seller, settlementId)).reason, "forged mandate");
    const owing = await readBalance(service, seller);
    assert.equal(owing.posted_paise, 0);
    assert.equal(owing.dues_paise, sellerPaise - 400_000);
    assert.equal((await readBalance(service, buyer)).available_paise, buyerPaise);
    assert.deepEqual(await listHoldings(service, scripNo), [
      { firm_id: seller.firmId, state: "listed" },
      { firm_id: buyer.firmId, state: "transferred" },
      { firm_id: seller.firmId, state: "transferred" },
    ]);
    assert.equal((await listSettlementEvents(service, buyer)).at(-1), "settlement.reversed");
    await assertLedgerSound(service);
  });

  await t.test("before the money has gone: it stays, and nobody owes anything", async () => {
    const early = await openTestDesk(service);
    const { settlementId } = await sell(service, { seller: early, buyer: house() });
    await service.ctx.db.pool.query(
      "update firms set hold_reason = 'beneficiary_change', hold_until = '2030-01-01' where firm_id = $1",
      [early.firmId],
    );
    await letSettle(service, 3);
    assert.equal((await listPayouts(service, early))[0].status, "held");
    assert.equal((await reverse("asha", settlementId)).outcome, "reversed");
    const [payout] = await listPayouts(service, early);
    assert.equal(payout.status, "returned");
    assert.equal(payout.reason, "reversed");
    const balance = await readBalance(service, early);
    assert.equal(balance.posted_paise, 0);
    assert.equal(balance.dues_paise, 0);
    await assertLedgerSound(service);
  });

  await t.test("refused while the money is with the bank", async () => {
    const { settlementId } = await sell(service, { seller, buyer: house() });
    await service.work();
    service.clock.advance({ seconds: 1 });
    await service.work();
    assert.equal((await listPayouts(service, seller))[0].status, "sent");
    await assert.rejects(reverse("asha", settlementId), refusedFor("payout_sent"));
    await letSettle(service, 2);
    assert.equal((await reverse("asha", settlementId)).outcome, "reversed");
  });

  await t.test("refused when the buyer has sold the credit", async () => {
    const { scripNo, settlementId } = await sell(service, { seller, buyer });
    await letSettle(service, 6);
    await makeDeal(service, { buyer: house(), legs: [{ seller: buyer, scripNo }] });
    await assert.rejects(reverse("asha", settlementId), refusedFor("credit_not_held"));
    assert.equal((await readSettlement(service, seller, settlementId)).status, "settled");
    await letSettle(service, 6);
    await assertLedgerSound(service);
  });

  await t.test("refused when the buyer has used a part of the credit", async () => {
    const { scripNo, settlementId } = await sell(service, { seller, buyer });
    await letSettle(service, 6);
    const used_on = istDay(service.clock.now());
    const body = { bill_of_entry: "7781234", used_on, port: "INNSA1", amount_paise: 1 };
    const path = `/v1/credits/${encodeURIComponent(scripNo)}/use`;
    await service.send("POST", path, { key: buyer.key, body, expect: 200 });
    await assert.rejects(reverse("asha", settlementId), refusedFor("balance_changed"));
    assert.equal((await readSettlement(service, seller, settlementId)).status, "settled");
    await assertLedgerSound(service);
  });
});

test("workers of several processes advance each settlement once", async (t) => {
  const service = await startService(t);
  const others = [1, 2, 3].map(async () => await startService(t, { beside: service }));
  const nodes = [service, ...(await Promise.all(others))];
  const { seller, buyer } = await dealers(service);
  const made: string[] = [];
  for (let deal = 0; deal < 30; deal++) {
    made.push((await sell(service, { seller, buyer: deal % 2 ? house() : buyer })).settlementId);
  }
  for (let second = 0; second < 8; second++) {
    service.clock.advance({ seconds: 1 });
    await Promise.all(
      nodes.map(async ({ workers }) => {
        // A worker that waits for another gives way, and comes back.
        for (const { work } of workers()) await work().catch(() => "idle");
      }),
    );
  }
  await service.work();
  for (const settlementId of made) {
    const { status, version, history } = await readSettlement(service, seller, settlementId);
    assert.equal(status, "settled");
    assert.equal(version, history.length, "every version is a step");
  }
  const payouts = await listPayouts(service, seller);
  assert.equal(payouts.length, made.length);
  assert.ok(payouts.every(({ status }) => status === "paid"));
  const { rows } = await askJournal(
    service.ctx.db.pool,
    `select entity_id, event, count(*) from events where desk_id = $1
    group by entity_id, event having count(*) > 1`,
    [seller.deskId],
  );
  assert.deepEqual(rows, [], "nothing is told twice");
  await assertLedgerSound(service);
});

test("a firm with open settlements or unfinished payouts cannot be offboarded", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const { settlementId } = await sell(service, { seller, buyer: house() });
  const leave = async (expect: number) =>
    (
      await service.send("POST", `/v1/firms/${seller.firmId}/offboard`, {
        key: seller.key,
        body: {},
        expect,
      })
    ).body;
  assert.deepEqual((await leave(409)).detail.blockers, [
    { type: "settlement", id: settlementId, href: `/v1/settlements/${settlementId}` },
  ]);
  await service.work();
  service.clock.advance({ seconds: 1 });
  await service.work();
  const [payout] = await listPayouts(service, seller);
  assert.deepEqual((await leave(409)).detail.blockers, [
    {
      type: "payout",
      id: payout.payout_id,
      href: `/v1/payouts/${payout.payout_id}`,
      amount_paise: sellerPaise,
    },
  ]);
  await letSettle(service, 2);
  await leave(200);
});

test("an order through the front door ends in a payout, and a buy in a holding", async (t) => {
  const service = await startService(t);
  const { key, deskId, firmId } = await openTestDesk(service);
  const scripNo = await addCredit(service, { deskId, firmId });
  const sold = await service.send("POST", "/v1/orders", {
    key,
    body: { side: "sell", scrip_no: scripNo, firm_id: firmId },
    expect: 201,
  });
  await letSettle(service);
  const { body: after } = await service.send("GET", `/v1/orders/${sold.body.order_id}`, { key });
  assert.equal(after.settlement_status, "settled");
  const { body: payouts } = await service.send("GET", `/v1/payouts?order_id=${after.order_id}`, {
    key,
  });
  assert.equal(payouts.payouts[0].amount_paise, after.all_in_paise);
  const buyer = await openTestDesk(service);
  const bought = await service.send("POST", "/v1/orders", {
    key: buyer.key,
    body: { side: "buy", scheme: "RODTEP", requirement_paise: face, firm_id: buyer.firmId },
    expect: 201,
  });
  assert.deepEqual(bought.body.scrip_nos, [scripNo], "what the house bought it sells again");
  await letSettle(service, 5);
  assert.equal((await listHoldings(service, scripNo))[0]?.firm_id, buyer.firmId);
  await assertLedgerSound(service);
});

test("a line of a payout is a cross's exactly when it names a cross", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const scripNo = await addCredit(service, desk);
  await makeDeal(service, { buyer: house(), legs: [{ seller: desk, scripNo }] });
  await letSettle(service);
  const { pool } = service.ctx.db;
  const add = `insert into payout_lines (payout_id, order_id, origin_kind, scrip_no, paise)
    select payout_id, order_id, 'cross', 'another', 1 from payout_lines where scrip_no = $1`;
  await assert.rejects(pool.query(add, [scripNo]), /payout_lines_order_is_of_its_kind/);
});

test("a settlement is a cross's exactly when its origin is a cross", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const scripNo = await addCredit(service, desk);
  const settlementId = await makeDeal(service, {
    buyer: house(),
    legs: [{ seller: desk, scripNo }],
  });
  const { pool } = service.ctx.db;
  const set = `update settlements set origin_kind = 'cross' where settlement_id = $1`;
  await assert.rejects(pool.query(set, [settlementId]), /settlements_origin_is_of_its_kind/);
});
