// A cross takes the holdings it was agreed on: what was withdrawn and declared again is another one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addDays, istDay } from "../../src/kernel/time.ts";
import { act, propose, quoteFor, terms, traders } from "../support/crosses.ts";
import { addFirm } from "../support/holdings.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import type { Dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

const crore = 1_000_000_000;

/** The same number and face, with a life of 34 days. */
async function declareShorter(service: Service, { post, firmId, scripNo }: Dealer): Promise<void> {
  service.clock.advance({ seconds: 1 });
  await post(`/v1/credits/${scripNo}/withdraw`, {}, 200);
  const today = istDay(service.clock.now());
  const credit = {
    scrip_no: scripNo,
    scheme: "RODTEP",
    face_paise: crore,
    issued_on: addDays(today, -100),
    expires_on: addDays(today, 34),
  };
  const { body } = await post(`/v1/firms/${firmId}/credits`, { credits: [credit] }, 200);
  assert.equal(body.results[0].credit?.status, "listed");
}

test("an accept is refused when a credit was declared again after the proposal", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await traders(service);
  const cross = await propose(seller, terms({ seller, buyer }));
  await declareShorter(service, seller);
  const refused = await act(buyer, cross, "accept", { expect: 409 });
  assert.equal(refused.detail.reason, "credit_unavailable");
  assert.equal((await seller.credit(seller.scripNo)).status, "listed");
  const again = await propose(seller, terms({ seller, buyer }));
  await act(buyer, again, "accept");
  await assertLedgerSound(service);
});

test("a cross quote is refused when a credit was declared again after it", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await traders(service);
  const other = await addFirm(service, { deskId: seller.deskId });
  const { counterparty_iec: _, ...own } = terms({ seller, buyer });
  const wanted = { ...own, counterparty_firm_id: other };
  const { cross_quote_ref } = await quoteFor(seller, wanted);
  await declareShorter(service, seller);
  const refused = await seller.post("/v1/cross", { cross_quote_ref }, 409);
  assert.equal(refused.body.detail.reason, "credit_unavailable");
  const fresh = await quoteFor(seller, wanted);
  await seller.post("/v1/cross", { cross_quote_ref: fresh.cross_quote_ref }, 201);
  await assertLedgerSound(service);
});

test("a netting is refused when a credit was declared again after it", async (t) => {
  const service = await startService(t);
  const { seller } = await traders(service);
  const debtor = await addFirm(service, { deskId: seller.deskId });
  const { body: group } = await seller.post("/v1/groups", { name: "Group" }, 201);
  const path = `/v1/groups/${group.group_id}`;
  for (const firmId of [seller.firmId, debtor]) {
    const member = { key: seller.key, body: {}, expect: 200 };
    await service.send("PUT", `${path}/members/${firmId}`, member);
  }
  const due_on = addDays(istDay(service.clock.now()), 60);
  const duty = { scheme: "RODTEP", amount_paise: crore, due_on, reference: "BE-1" };
  await seller.post(`/v1/firms/${debtor}/requirements`, duty, 201);
  const { netting_ref, proposals } = await seller.get(`${path}/netting`);
  assert.equal(proposals[0].scrip_no, seller.scripNo);
  await declareShorter(service, seller);
  const refused = await seller.post(`${path}/netting/crosses`, { netting_ref }, 409);
  assert.equal(refused.body.detail.reason, "credit_unavailable");
});
