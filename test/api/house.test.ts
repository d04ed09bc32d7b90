// Who the house is in law: what it takes to deal, who may change it, and who is the house too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { type Service, startService } from "../support/service.ts";
import { addCredit, house, makeDeal, openTestDesk } from "../support/settlements.ts";

type TransferFacts = { readonly seller_iec: string | null; readonly buyer_iec: string | null };

async function readTransferFacts({ ctx }: Service, settlementId: string): Promise<TransferFacts> {
  const { rows } = await ctx.db.pool.query<{ facts: TransferFacts }>(
    "select facts from inquiries where kind = 'credit_transfer' and subject_id like $1 || ':%'",
    [settlementId],
  );
  const { seller_iec, buyer_iec } = rows[0]?.facts ?? {};
  return { seller_iec: seller_iec ?? null, buyer_iec: buyer_iec ?? null };
}

test("customs is asked with both IECs, the house's among them", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const scripNo = await addCredit(service, seller);
  const settlementId = await makeDeal(service, { buyer: house(), legs: [{ seller, scripNo }] });
  const facts = await readTransferFacts(service, settlementId);
  assert.equal(facts.buyer_iec, "AAACH0000H");
  assert.notEqual(facts.seller_iec, null);
});
