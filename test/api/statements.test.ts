import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { addDeposit } from "../../src/payouts/deposits.ts";
import { operator, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { assertWritten } from "../../src/ledger/rules.ts";
import { postEntries } from "../../src/ledger/write-books.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { onThisThread } from "../../src/platform/heavy/kinds.ts";
import { formatStatement } from "../../src/reports/format-statement.ts";
import { asOwner } from "../support/database.ts";
import { checkDoors } from "../support/doors.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound, bank, buildEntry, toCash } from "../support/ledger.ts";
import { parsePdfPages } from "../support/pdf.ts";
import { type Answer, readSlug, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  face,
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

const monthEnd = Date.parse("2026-12-01T00:00:00+05:30");
const hourMs = 3_600_000;
const reference = "HDFCR52026111500012345";
const fees = {
  buyer: { feePaise: 5_000, gstPaise: 900 },
  seller: { feePaise: 4_000, gstPaise: 720 },
};

async function readStatement(
  { send }: Service,
  { key, firmId }: Pick<TestDesk, "key" | "firmId">,
  period = "2026-11",
): Promise<Answer["body"]> {
  const path = `/v1/statements/${period}?firm_id=${firmId}`;
  return (await send("GET", path, { key, expect: 200 })).body;
}

async function sell(
  service: Service,
  { seller, buyer, withFees = false }: { seller: TestDesk; buyer: TestParty; withFees?: boolean },
): Promise<{ settlementId: string; scripNo: string }> {
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo, ...(withFees && { fees }) }];
  const settlementId = await makeDeal(service, { buyer, legs });
  await letSettle(service, 5);
  return { settlementId, scripNo };
}

async function payIn({ ctx }: Service, { firmId }: TestDesk, paise: number, utr = reference) {
  const money = { environment: "sandbox", firmId, paise, reference: utr } as const;
  await addDeposit(ctx, operator, money);
}

/** Every line leaves the balance it says, from the opening to the closing. */
function assertAddsUp(statement: Answer["body"]): void {
  let balance = statement.opening_paise;
  for (const line of statement.lines) {
    balance += line.amount_paise;
    assert.equal(line.balance_paise, balance);
  }
  assert.equal(statement.closing_paise, balance);
}

function summarizeLines(statement: Answer["body"]): [string, number][] {
  return statement.lines.map((line: { kind: string; amount_paise: number }) => [
    line.kind,
    line.amount_paise,
  ]);
}

async function toMonthEnd(service: Service, afterMs: number): Promise<void> {
  service.clock.set(new Date(monthEnd + afterMs));
  // Each look of the worker is one page of firms.
  await service.work();
}

test("every statement route checks key, scope, rate and body", async (t) => {
  const service = await startService(t);
  await checkDoors(t, service, [
    { method: "GET", path: "/v1/statements", scope: "orders:read" },
    { method: "GET", path: "/v1/statements/2026-11", scope: "orders:read" },
  ]);
});

test("a month's lines sum from its opening to its closing balance, which equals the books", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  await payIn(service, buyer, buyerPaise + 500);
  const { settlementId, scripNo } = await sell(service, { seller, buyer, withFees: true });

  const sold = await readStatement(service, seller);
  assert.equal(sold.status, "running");
  assert.equal(sold.opening_paise, 0);
  assert.deepEqual(summarizeLines(sold), [
    ["sale", sellerPaise + 4_720],
    ["fee", -4_000],
    ["gst", -720],
    ["payout", -sellerPaise],
  ]);
  assertAddsUp(sold);
  const [payout] = await listPayouts(service, seller);
  const [sale, , , paid] = sold.lines;
  assert.equal(paid.utr, payout.utr);
  assert.equal(paid.reference, payout.payout_id);
  assert.equal(sale.hsn, "4907");
  assert.equal(sale.reference, settlementId);
  assert.deepEqual(sale.scrip_nos, [scripNo]);
  assert.equal(sale.face_paise, face);
  assert.equal(sale.price_bps, 9_760);

  const bought = await readStatement(service, buyer);
  assert.deepEqual(summarizeLines(bought), [
    ["deposit", buyerPaise + 500],
    ["purchase", -(buyerPaise - 5_900)],
    ["fee", -5_000],
    ["gst", -900],
  ]);
  assertAddsUp(bought);
  assert.equal(bought.lines[0].utr, reference);
  assert.equal(bought.closing_paise, (await readBalance(service, buyer)).posted_paise);
  assert.deepEqual(bought.totals, [
    { kind: "purchase", lines: 1, amount_paise: -(buyerPaise - 5_900) },
    { kind: "fee", lines: 1, amount_paise: -5_000 },
    { kind: "gst", lines: 1, amount_paise: -900 },
    { kind: "deposit", lines: 1, amount_paise: buyerPaise + 500 },
  ]);

  const desk = { key: seller.key, firmId: seller.deskId };
  const earned = await readStatement(service, desk);
  assert.deepEqual(summarizeLines(earned), [["commission", face / 2_000]]);
  assert.equal(earned.commission_paise, face / 2_000);
  const { body } = await service.send("GET", "/v1/statements/2026-11", { key: seller.key });
  assert.deepEqual(body, earned, "without a firm it is the key's own");
  await assertLedgerSound(service);
});

test("a month becomes final an hour after its end and never changes", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  const { settlementId } = await sell(service, { seller, buyer });
  const running = await readStatement(service, buyer);
  await toMonthEnd(service, hourMs - 1);
  assert.equal((await readStatement(service, buyer)).status, "provisional");
  assert.equal(
    (await readStatement(service, buyer, "2026-12")).opening_paise,
    running.closing_paise,
  );
  await toMonthEnd(service, hourMs);

  const final = await readStatement(service, buyer);
  assert.equal(final.status, "final");
  assert.equal(final.frozen_at, "2026-12-01T01:00:00.000+05:30");
  assert.match(final.digest, /^[0-9a-f]{64}$/);
  assert.deepEqual(final.lines, running.lines);
  const { rows } = await service.ctx.db.pool.query<{ body: string }>(
    "select body from statements where firm_id = $1",
    [buyer.firmId],
  );
  assert.equal(rows.length, 1);
  const digest = createHash("sha256").update(rows[0]?.body ?? "");
  assert.equal(digest.digest("hex"), final.digest);

  // Recalled from the month before, and still the correction is of this one.
  for (const name of ["asha", "ravi"]) {
    const command = { settlementId, reason: "mistake" };
    await reverseSettlement(service.ctx, namedOperator(name), command);
  }
  await service.ctx.db.pool.query("update firms set legal_name = 'Renamed' where firm_id = $1", [
    buyer.firmId,
  ]);
  assert.deepEqual(await readStatement(service, buyer), final);
  const next = await readStatement(service, buyer, "2026-12");
  assert.equal(next.opening_paise, final.closing_paise);
  assert.deepEqual(summarizeLines(next), [["reversal", buyerPaise]]);
  assert.equal(next.firm.legal_name, "Renamed");
  const { body } = await service.send("GET", `/v1/statements?firm_id=${buyer.firmId}`, {
    key: buyer.key,
    expect: 200,
  });
  assert.deepEqual(
    body.statements.map((one: Answer["body"]) => [
      one.period,
      one.status,
      one.opening_paise,
      one.closing_paise,
      one.digest,
    ]),
    [
      ["2026-12", "running", final.closing_paise, next.closing_paise, null],
      ["2026-11", "final", 0, final.closing_paise, final.digest],
    ],
  );
  await assertLedgerSound(service);
});

test("the reversal of a paid sale is shown whole, with the debt as dues", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const { settlementId } = await sell(service, { seller, buyer: house(), withFees: true });
  for (const name of ["asha", "ravi"]) {
    const command = { settlementId, reason: "mistake" };
    await reverseSettlement(service.ctx, namedOperator(name), command);
  }
  const statement = await readStatement(service, seller);
  assert.deepEqual(summarizeLines(statement).slice(-4), [
    ["reversal", -(sellerPaise + 4_720)],
    ["fee", 4_000],
    ["gst", 720],
    ["dues", sellerPaise],
  ]);
  assertAddsUp(statement);
  assert.equal(statement.dues_paise, sellerPaise);
  assert.equal(statement.closing_paise, 0);
  const earned = await readStatement(service, { key: seller.key, firmId: seller.deskId });
  assert.deepEqual(summarizeLines(earned), [
    ["commission", face / 2_000],
    ["commission", -(face / 2_000)],
  ]);
});

test("an entry too late for a final statement is in the next one only", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await payIn(service, desk, 1_000);
  await toMonthEnd(service, hourMs);
  const final = await readStatement(service, desk);
  const early = new Date(monthEnd - 1);
  const late = buildEntry("deposit", "posted", [
    { from: bank, to: toCash(desk.firmId), paise: 77 },
  ]);
  assertWritten(await service.ctx.db.transaction((tx) => postEntries(tx, [late], early)));

  assert.deepEqual(await readStatement(service, desk), final);
  const next = await readStatement(service, desk, "2026-12");
  assert.deepEqual(summarizeLines(next), [["deposit", 77]]);
  assert.equal(next.opening_paise, 1_000);
  assert.equal(next.closing_paise, (await readBalance(service, desk)).posted_paise);
  service.clock.advance({ days: 31 });
  await service.work();
  const kept = await readStatement(service, desk, "2026-12");
  assert.equal(kept.status, "final");
  assert.deepEqual(kept.lines, next.lines);
  const after = await readStatement(service, desk, "2027-01");
  assert.deepEqual([after.opening_paise, after.lines], [1_077, []]);
});

test("missed months are closed in order, and once by two processes", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await payIn(service, desk, 1_000);
  service.clock.set(new Date("2027-02-10T12:00:00+05:30"));
  const beside = await startService(t, { beside: service });
  const freezers = [...service.workers(), ...beside.workers()].filter(
    ({ name }) => name === "statements",
  );
  assert.equal(freezers.length, 2);
  await Promise.all(freezers.map(({ work }) => work()));
  const { rows } = await service.ctx.db.pool.query<{ period: string; closing_paise: string }>(
    "select period, closing_paise::text from statements where firm_id = $1 order by period",
    [desk.firmId],
  );
  assert.deepEqual(
    rows.map(({ period, closing_paise }) => [period, closing_paise]),
    ["2026-11", "2026-12", "2027-01"].map((period) => [period, "1000"]),
  );
  const audit = await askJournal(
    service.ctx.db.pool,
    "select from audit_records where desk_id = $1 and action = 'statement.freeze'",
    [desk.deskId],
  );
  assert.equal(audit.rowCount, 3);
});

test("a tampered statement is not served, and the service's role cannot change one", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await payIn(service, desk, 1_000);
  await toMonthEnd(service, hourMs);
  const { pool } = service.ctx.db;
  await assert.rejects(pool.query("update statements set closing_paise = 2000"), /permission/);
  await assert.rejects(pool.query("delete from statements"), /permission/);
  await asOwner(service.ctx.db, async (owner) => {
    await owner.query("update statements set body = replace(body, '1000', '2000')");
  });
  const path = `/v1/statements/2026-11?firm_id=${desk.firmId}`;
  await service.send("GET", path, { key: desk.key, expect: 500 });
});

test("there is a statement for every month of the firm and for no other", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const sub = await mintChild(service, desk.key, { kind: "sub_account", firm_id: desk.firmId });
  const empty = await readStatement(service, desk);
  assert.deepEqual([empty.opening_paise, empty.lines, empty.closing_paise], [0, [], 0]);
  const own = await service.send("GET", "/v1/statements/2026-11", {
    key: sub.api_key,
    expect: 200,
  });
  assert.equal(own.body.firm_id, desk.firmId);
  for (const period of ["2026-10", "2026-12", "2026-13", "2026-1", "november", "2026-11-01"]) {
    const path = `/v1/statements/${period}`;
    assert.equal(readSlug(await service.send("GET", path, { key: desk.key })), "not_found");
  }
  const live = await openTestDesk(service, "live");
  const elsewhere = [
    { key: desk.key, firmId: live.firmId },
    { key: live.key, firmId: desk.firmId },
    { key: sub.api_key, firmId: desk.deskId },
    { key: desk.key, firmId: house().firmId },
  ];
  for (const { key, firmId } of elsewhere) {
    for (const path of ["/v1/statements", "/v1/statements/2026-11"]) {
      const answer = await service.send("GET", `${path}?firm_id=${firmId}`, { key, expect: 404 });
      assert.equal(readSlug(answer), "not_found");
    }
  }
  const asXml = await service.send("GET", "/v1/statements/2026-11?format=xml", { key: desk.key });
  assert.equal(readSlug(asXml), "bad_request");
});

test("as CSV every line is a row between opening and closing, in rupees", async (t) => {
  const service = await startService(t);
  const buyer = await openTestDesk(service);
  const seller = await openTestDesk(service);
  await payIn(service, buyer, buyerPaise);
  const { scripNo, settlementId } = await sell(service, { seller, buyer, withFees: true });
  const path = `/v1/statements/2026-11?firm_id=${buyer.firmId}&format=csv`;
  const { headers, text } = await service.send("GET", path, { key: buyer.key, expect: 200 });
  assert.equal(headers.get("content-type"), "text/csv; charset=utf-8; header=present");
  const name = `statement-2026-11-${buyer.firmId}.csv`;
  assert.equal(headers.get("content-disposition"), `attachment; filename="${name}"`);
  const rows = text.trimEnd().split("\r\n");
  assert.equal(rows.length, 7);
  assert.match(rows[1] ?? "", /^,2026-11-01T00:00:00.000\+05:30,opening,Opening balance,+0\.00$/);
  assert.ok(rows[2]?.includes(`,deposit,Deposit received,${reference},${reference},`));
  assert.ok(
    rows[3]?.includes(`,${settlementId},,4907,RODTEP,${scripNo},250000.00,98.40,-245941.00,`),
  );
  assert.match(rows[4] ?? "", /,fee,Fee,.*,-50\.00,/);
  assert.match(rows[5] ?? "", /,gst,GST 18 % on fee,.*,-9\.00,0\.00$/);
  assert.match(rows[6] ?? "", /,closing,Closing balance,+0\.00$/);
});

async function fetchPdf({ url }: Service, { key }: Pick<TestDesk, "key">, path: string) {
  const response = await fetch(`${url}${path}`, { headers: { "x-service-key": key } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/pdf");
  return new Uint8Array(await response.arrayBuffer());
}

test("a PDF statement shows parties, period, balances, lines and page numbers", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const { scripNo, settlementId } = await sell(service, {
    seller,
    buyer: house(),
    withFees: true,
  });
  for (let more = 0; more < 20; more++) {
    await payIn(service, seller, 123_456_789, `HDFCR5202611150000${1_000 + more}`);
  }
  const path = `/v1/statements/2026-11?firm_id=${seller.firmId}&format=pdf`;
  const bytes = await fetchPdf(service, seller, path);
  assert.deepEqual(
    await fetchPdf(service, seller, path),
    bytes,
    "the same month is the same bytes",
  );
  const pages = await parsePdfPages(bytes);
  assert.ok(pages.length >= 2);
  pages.forEach(({ text }, at) => {
    assert.ok(text.includes(`Page ${at + 1} of ${pages.length}`));
    assert.ok(text.includes("Scripdesk House (sandbox)"));
  });
  const text = pages.map((page) => page.text).join(" ");
  const { pan } = (await readStatement(service, seller)).firm;
  const [payout] = await listPayouts(service, seller);
  const expected = [
    "Statement of account",
    "November 2026",
    "PROVISIONAL",
    "1 Sandbox Street",
    "GSTIN 27AAACH0000H1ZD",
    "CIN U51909MH2020PTC000000",
    "Client firm",
    pan,
    "01 Nov 2026 to 30 Nov 2026",
    "HSN 4907",
    "2,44,047.20",
    "Fee",
    "40.00",
    "GST 18 % on fee",
    "7.20",
    payout.utr,
    scripNo,
    settlementId,
    "12,34,567.89",
    "Closing balance",
    "₹ 2,46,91,357.80",
  ];
  for (const part of expected) assert.ok(text.includes(part), `${part} is missing: ${text}`);

  await toMonthEnd(service, hourMs);
  const final = await parsePdfPages(await fetchPdf(service, seller, path));
  const { digest } = await readStatement(service, seller);
  const finalText = final.map((page) => page.text).join(" ");
  assert.ok(!finalText.includes("PROVISIONAL"));
  assert.ok(finalText.includes(digest));
});

test("a statement with too many lines for a PDF is refused as PDF only", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await payIn(service, desk, 1_000);
  const statement = await readStatement(service, desk);
  const [line] = statement.lines;
  const long = { ...statement, lines: Array.from({ length: 20_001 }, () => line) };
  const by = { environment: "sandbox", deskId: desk.deskId } as const;
  await assert.rejects(
    formatStatement(onThisThread, long, { format: "pdf", by }),
    (error) => error instanceof Failure && error.detail?.["reason"] === "too_many_lines",
  );
  assert.ok("content" in (await formatStatement(onThisThread, long, { format: "csv", by })));
});
