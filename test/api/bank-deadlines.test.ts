// In live the bank's statement says whether the money for a deal came in time: no deal ends unpaid before
// it was read, and none is funded by what came after its deadline.

import assert from "node:assert/strict";
import { test } from "node:test";

import { squeezed } from "../support/bank.ts";
import { nextUtr, openBankOffice, listReasons } from "../support/bank-office.ts";
import { act, crores, crossThatIs, read as readCross, sums } from "../support/crosses.ts";
import { putCard } from "../support/dealing-house.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { giveAccount, type LiveSeller, liveSeller } from "../support/live-sales.ts";
import { dealer } from "../support/orders.ts";
import type { Service } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  makeDeal,
  readBalance,
  readSettlement,
} from "../support/settlements.ts";

const live = { environment: "live" } as const;
// The clock stands at 15 November; money is due on the 17th, at 17:30 IST.
const inTime = { day: "17/11/2026" };
const late = { day: "18/11/2026" };

async function buying(service: Service, buyer: LiveSeller): Promise<string> {
  const seller = await liveSeller(service);
  const scripNo = await addCredit(service, seller);
  return await makeDeal(service, { ...live, buyer, legs: [{ seller, scripNo }] });
}

async function readStatus(service: Service, buyer: LiveSeller, dealId: string): Promise<string> {
  await service.work();
  const { status, reason } = await readSettlement(service, buyer, dealId);
  return reason === null || reason === undefined ? status : `${status} ${reason}`;
}

const anything = () => ({ utr: nextUtr(), text: "CHARGES", paise: -590 });

function payment(buyer: LiveSeller, text: string, paise = buyerPaise) {
  return { utr: nextUtr(), text: squeezed(text), paise, account: buyer.accountNo };
}

test("an unpaid deal ends once a statement reaches past its deadline, and not before", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const buyer = await liveSeller(service);
  const dealId = await buying(service, buyer);
  service.clock.advance({ days: 3 });
  assert.equal(await readStatus(service, buyer, dealId), "pending");
  await bring([anything()], inTime);
  assert.equal(await readStatus(service, buyer, dealId), "pending", "it may lack the evening");
  await bring([anything()], late);
  assert.equal(await readStatus(service, buyer, dealId), "failed timeout");
  await assertLedgerSound(service);
});

test("a time in the bank's form tells that a statement reaches past the deadline of its day", async (t) => {
  const { service, importText } = await openBankOffice(t);
  const buyer = await liveSeller(service);
  const dealId = await buying(service, buyer);
  service.clock.advance({ days: 3 });
  const format = {
    name: "timed",
    day: "date",
    time: "time",
    reference: "reference",
    narration: "description",
    debit: "debit",
    credit: "credit",
  };
  const heading = "date,time,reference,description,debit,credit";
  const at = (time: string) => `${heading}\n17/11/2026,${time},${nextUtr()},CHARGES,5.90,\n`;
  await importText(at("17:29:59"), format);
  assert.equal(await readStatus(service, buyer, dealId), "pending");
  await importText(at("17:30"), format);
  assert.equal(await readStatus(service, buyer, dealId), "failed timeout");
});

test("money that came in time funds its deal, however late its statement is imported", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const named = await liveSeller(service);
  const free = await liveSeller(service);
  const deals = [await buying(service, named), await buying(service, free)] as const;
  service.clock.advance({ days: 3 });
  await service.work();
  const lines = [payment(named, deals[0]), payment(free, free.firmId)];
  assert.deepEqual(listReasons(await bring(lines, inTime)), ["deal", "firm"]);
  await bring([anything()], late);
  assert.equal(await readStatus(service, named, deals[0]), "funded");
  assert.equal(await readStatus(service, free, deals[1]), "funded");
  await assertLedgerSound(service);
});

test("money that came after the deadline is the buyer's balance and funds nothing of before", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const named = await liveSeller(service);
  const free = await liveSeller(service);
  const deals = [await buying(service, named), await buying(service, free)] as const;
  service.clock.advance({ days: 3 });
  const lines = [payment(named, deals[0]), payment(free, free.firmId)];
  assert.deepEqual(listReasons(await bring(lines, late)), ["late", "firm"]);
  for (const [at, buyer] of [named, free].entries()) {
    assert.equal(await readStatus(service, buyer, deals[at] ?? ""), "failed timeout");
    assert.equal((await readBalance(service, buyer, "live")).available_paise, buyerPaise);
  }
  await assertLedgerSound(service);
});

test("a deal waits while a queued line may be its money, and a coin in the queue holds nothing", async (t) => {
  const { service, bring, queue, decide } = await openBankOffice(t);
  const [held, nameless, coined] = [
    await liveSeller(service),
    await liveSeller(service),
    await liveSeller(service),
  ];
  const [first, second, third] = [
    await buying(service, held),
    await buying(service, nameless),
    await buying(service, coined),
  ];
  service.clock.advance({ days: 3 });
  const stranger = { account: "99900011122" };
  await bring(
    [
      { ...payment(held, first), ...stranger },
      { utr: nextUtr(), text: "NEFT CR", paise: 100, ...stranger },
      { ...payment(coined, third, 100), ...stranger },
    ],
    inTime,
  );
  await bring([anything()], late);
  assert.equal(await readStatus(service, held, first), "pending");
  assert.equal(await readStatus(service, nameless, second), "failed timeout");
  assert.equal(await readStatus(service, coined, third), "failed timeout");
  const line = (await queue()).find(
    (each: { amount_paise: number }) => each.amount_paise === buyerPaise,
  );
  await decide(line.line_id, "assign", { to: first, reason: "their second bank" });
  assert.equal(await readStatus(service, held, first), "funded");
  await assertLedgerSound(service);
});

test("a line of a deal's exact sum that names nobody keeps the deal until it is sent back", async (t) => {
  const { service, bring, queue, decide } = await openBankOffice(t);
  const buyer = await liveSeller(service);
  const dealId = await buying(service, buyer);
  service.clock.advance({ days: 3 });
  await bring([{ utr: nextUtr(), text: "NEFT CR", paise: buyerPaise }], inTime);
  await bring([anything()], late);
  assert.equal(await readStatus(service, buyer, dealId), "pending");
  const [line] = (await queue()).filter(
    (each: { direction: string }) => each.direction === "credit",
  );
  await decide(line.line_id, "return", { utr: nextUtr(), reason: "a stranger's" });
  assert.equal(await readStatus(service, buyer, dealId), "failed timeout");
});

test("without any statement an unpaid deal ends two working days after its deadline", async (t) => {
  const { service } = await openBankOffice(t);
  const buyer = await liveSeller(service);
  const dealId = await buying(service, buyer);
  service.clock.advance({ days: 4 });
  assert.equal(await readStatus(service, buyer, dealId), "pending");
  service.clock.advance({ seconds: 2.5 * 3600 });
  assert.equal(
    await readStatus(service, buyer, dealId),
    "pending",
    "until the hour of the deadline",
  );
  service.clock.advance({ seconds: 3600 });
  assert.equal(await readStatus(service, buyer, dealId), "failed timeout");
});

test("a cross waits for the bank as a settlement does, and takes no money after its deadline", async (t) => {
  const { service, bring } = await openBankOffice(t);
  await putCard(service, live);
  const seller = await dealer(service, crores(2), live);
  const buyer = await dealer(service, [], live);
  const account = await giveAccount(service, { ...buyer, ...live }, "70001000020002");
  const paid = await crossThatIs({ seller, buyer }, "agreed");
  const unpaid = await crossThatIs({ seller, buyer }, "agreed", {
    scrip_nos: [seller.scripNos[1]],
  });
  service.clock.advance({ days: 3 });
  await service.work();
  assert.equal((await readCross(buyer, unpaid)).status, "agreed");
  const refused = await act(buyer, unpaid, "fund", { expect: 409 });
  assert.equal(refused.detail.reason, "deadline_passed");
  const said = await bring([payment(account, paid.cross_id, sums.buyer)], { day: "16/11/2026" });
  assert.deepEqual(listReasons(said), ["deal"]);
  assert.deepEqual(
    listReasons(await bring([payment(account, unpaid.cross_id, sums.buyer)], late)),
    ["late"],
  );
  await service.work();
  assert.equal((await readCross(buyer, unpaid)).status, "expired");
  assert.notEqual((await readCross(buyer, paid)).status, "agreed");
  await assertLedgerSound(service);
});
