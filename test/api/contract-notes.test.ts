import assert from "node:assert/strict";
import { test } from "node:test";

import { namedOperator } from "../../src/kernel/actor.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { putCard } from "../support/dealing-house.ts";
import { checkDoors } from "../support/doors.ts";
import { stockHouse } from "../support/inventory.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { dealer } from "../support/orders.ts";
import { parsePdfPages } from "../support/pdf.ts";
import { type Answer, readSlug, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  face,
  letSettle,
  listPayouts,
  makeDeal,
  openTestDesk,
  sellerPaise,
} from "../support/settlements.ts";

const noSettlement = "/v1/settlements/stl_01jd2m7q4x8r5v6w9y0abcdefg/contract-note";
const fees = {
  buyer: { feePaise: 5_000, gstPaise: 900 },
  seller: { feePaise: 4_000, gstPaise: 720 },
};

async function readNotes(
  { send }: Service,
  { key }: { readonly key: string },
  settlementId: string,
): Promise<Answer["body"]> {
  const path = `/v1/settlements/${settlementId}/contract-note`;
  return (await send("GET", path, { key, expect: 200 })).body;
}

async function readPdfText({ url }: Service, key: string, settlementId: string): Promise<string[]> {
  const path = `/v1/settlements/${settlementId}/contract-note?format=pdf`;
  const response = await fetch(`${url}${path}`, { headers: { "x-service-key": key } });
  assert.equal(response.headers.get("content-type"), "application/pdf");
  const pages = await parsePdfPages(new Uint8Array(await response.arrayBuffer()));
  return pages.map(({ text }) => text);
}

/** Value, fee and tax make the all-in amount, of every credit and of all. */
function assertAddsUp(note: Answer["body"]): void {
  const sign = note.side === "sell" ? -1 : 1;
  for (const row of [note, ...note.legs]) {
    assert.equal(row.value_paise + sign * (row.fee_paise + row.gst_paise), row.all_in_paise);
  }
  for (const field of ["face_paise", "value_paise", "fee_paise", "gst_paise", "all_in_paise"]) {
    const sum = note.legs.reduce((total: number, leg: Answer["body"]) => total + leg[field], 0);
    assert.equal(note[field], sum, field);
  }
}

test("contract notes check key, scope, rate and body", async (t) => {
  const service = await startService(t);
  await checkDoors(t, service, [{ method: "GET", path: noSettlement, scope: "orders:read" }]);
  const { api_key: key } = await service.issue();
  assert.equal(
    readSlug(await service.send("GET", noSettlement, { key, expect: 404 })),
    "not_found",
  );
  const asCsv = await service.send("GET", `${noSettlement}?format=csv`, { key, expect: 400 });
  assert.equal(readSlug(asCsv), "bad_request");
});

test("each side has its own note, which shows nothing of the other side", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  const scripNos = [await addCredit(service, seller), await addCredit(service, seller, "0409")];
  const legs = scripNos.map((scripNo) => ({ seller, scripNo, fees }));
  const settlementId = await makeDeal(service, { buyer, legs });
  const [before] = (await readNotes(service, seller, settlementId)).notes;
  assert.equal(before.status, "pending");
  assert.deepEqual(before.payments, []);
  await letSettle(service, 5);

  const sold = await readNotes(service, seller, settlementId);
  assert.equal(sold.notes.length, 1);
  const [note] = sold.notes;
  assertAddsUp(note);
  assert.match(note.note_no, /^CN-[0-9A-Z]{26}-S1$/);
  assert.equal(note.note_no, before.note_no);
  assert.equal(note.firm_id, seller.firmId);
  assert.equal(note.face_paise, 2 * face);
  assert.equal(note.all_in_paise, 2 * sellerPaise);
  assert.equal(note.settled_paise, sellerPaise);
  assert.equal(note.undelivered_paise, sellerPaise);
  assert.deepEqual(
    note.legs.map((leg: Answer["body"]) => [leg.scrip_no, leg.status, leg.hsn, leg.price_bps]),
    [
      [scripNos[0], "delivered", "4907", 9_760],
      [scripNos[1], "failed", "4907", 9_760],
    ],
  );
  const [payout] = await listPayouts(service, seller);
  assert.deepEqual(note.payments, [
    { direction: "out", utr: payout.utr, amount_paise: sellerPaise, status: "paid" },
  ]);

  const [bought] = (await readNotes(service, buyer, settlementId)).notes;
  assertAddsUp(bought);
  assert.match(bought.note_no, /-B$/);
  assert.equal(bought.all_in_paise, 2 * buyerPaise);
  assert.equal(bought.payments[0].direction, "in");
  assert.equal(bought.payments[0].amount_paise, 2 * buyerPaise);
  assert.ok(!JSON.stringify(bought).includes(seller.firmId));
  assert.ok(!JSON.stringify(bought).includes(payout.utr));
  assert.ok(!JSON.stringify(sold).includes(buyer.firmId));
  assert.ok(!JSON.stringify(sold).includes(String(buyerPaise)));
  const stranger = await openTestDesk(service);
  const path = `/v1/settlements/${settlementId}/contract-note`;
  await service.send("GET", path, { key: stranger.key, expect: 404 });
});

test("a PDF note shows legs, fee split and bank reference, and a reversal", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  const scripNo = await addCredit(service, seller);
  const settlementId = await makeDeal(service, { buyer, legs: [{ seller, scripNo, fees }] });
  await letSettle(service, 5);
  const [payout] = await listPayouts(service, seller);
  const [text = "", ...more] = await readPdfText(service, seller.key, settlementId);
  assert.deepEqual(more, []);
  const [note] = (await readNotes(service, seller, settlementId)).notes;
  const expected = [
    "Contract note",
    note.note_no,
    "Scripdesk House (sandbox)",
    "GSTIN 27AAACH0000H1ZD",
    "CIN U51909MH2020PTC000000",
    note.firm.legal_name,
    note.firm.pan,
    settlementId,
    note.order_ids[0],
    scripNo,
    "97.60 %",
    "2,50,000.00",
    "2,44,047.20",
    "-40.00",
    "-7.20",
    "2,44,000.00",
    "HSN 4907",
    payout.utr,
    "Page 1 of 1",
  ];
  for (const part of expected) assert.ok(text.includes(part), `${part} is missing: ${text}`);
  assert.ok(!text.includes("REVERSED"));
  for (const name of ["asha", "ravi"]) {
    const command = { settlementId, reason: "mistake" };
    await reverseSettlement(service.ctx, namedOperator(name), command);
  }
  const [reversed = ""] = await readPdfText(service, seller.key, settlementId);
  assert.ok(reversed.includes("REVERSED"));
});

test("a desk with several firms in one deal gets a note for each, on a page of its own", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  const own = { deskId: seller.deskId, firmId: seller.deskId };
  const legs = [
    { seller, scripNo: await addCredit(service, seller) },
    { seller: own, scripNo: await addCredit(service, own) },
  ];
  const settlementId = await makeDeal(service, { buyer, legs });
  const { notes } = await readNotes(service, seller, settlementId);
  assert.deepEqual(
    notes.map((note: Answer["body"]) => [note.firm_id, note.note_no.slice(-2)]),
    [
      [seller.firmId, "S1"],
      [seller.deskId, "S2"],
    ],
  );
  const pages = await readPdfText(service, seller.key, settlementId);
  assert.equal(pages.length, 2);
  pages.forEach((text, at) => assert.ok(text.includes(notes[at].note_no)));
});

test("the fee of an order is the card's, within all_in_paise, on note, statement and in the books", async (t) => {
  const service = await startService(t);
  const selling = await dealer(service);
  const buying = await dealer(service, []);
  await stockHouse(service.ctx, [{ face_paise: 30_000_000 }]);
  const sell = { side: "sell", scrip_no: selling.scripNo };
  const dry = { "x-dry-run": "1" };
  const without = (await selling.post("/v1/orders", sell, 200, dry)).body.all_in_paise;
  await putCard(service, { fee_bps: 10 });
  const sold = (await selling.post("/v1/orders", sell, 201)).body;
  assert.equal(sold.all_in_paise, without, "a fee changes nothing of what changes hands");
  const buy = {
    side: "buy",
    scheme: "RODTEP",
    requirement_paise: 30_000_000,
    firm_id: buying.firmId,
  };
  const bought = (await buying.post("/v1/orders", buy, 201)).body;
  await letSettle(service, 6);
  const facing = [
    { who: selling, order: sold, fee: 25_000, gst: 4_500 },
    { who: buying, order: bought, fee: 30_000, gst: 5_400 },
  ];
  for (const { who, order, fee, gst } of facing) {
    const [note] = (await readNotes(service, who, order.settlement_id)).notes;
    assertAddsUp(note);
    assert.equal(note.all_in_paise, order.all_in_paise);
    assert.deepEqual([note.fee_paise, note.gst_paise], [fee, gst]);
    const path = `/v1/statements/2026-11?firm_id=${who.firmId}`;
    const statement = (await service.send("GET", path, { key: who.key, expect: 200 })).body;
    const of = (kind: string) =>
      statement.lines.find((line: Answer["body"]) => line.kind === kind)?.amount_paise;
    assert.deepEqual([of("fee"), of("gst")], [-fee, -gst]);
  }
  const { rows } = await service.ctx.db.pool.query<{ kind: string; paise: string }>(
    `select kind, sum(posted_paise)::text as paise from ledger_balances
    where environment = 'sandbox' and kind in ('house_fees', 'gst_payable') group by kind order by kind`,
  );
  assert.deepEqual(rows, [
    { kind: "gst_payable", paise: "9900" },
    { kind: "house_fees", paise: "55000" },
  ]);
  await assertLedgerSound(service);
});
