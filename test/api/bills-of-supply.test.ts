// Whoever supplies exempt goods papers them: the house by a bill of its gap-free series, a client by a
// draft in its name.

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedOperator } from "../../src/kernel/actor.ts";
import { addDays, istDay } from "../../src/kernel/time.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { issueBills } from "../../src/taxes/bills.ts";
import { issueInvoices, setTax } from "../../src/taxes/taxes.ts";
import { checkDoors } from "../support/doors.ts";
import { dieAtEveryStep } from "../support/dying.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { parsePdfPages } from "../support/pdf.ts";
import { poison } from "../support/poison.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  sellerPaise,
  type TestDesk,
} from "../support/settlements.ts";

const fees = {
  buyer: { feePaise: 5_000, gstPaise: 900 },
  seller: { feePaise: 4_000, gstPaise: 720 },
};

function toPath(settlementId: string): string {
  return `/v1/settlements/${settlementId}/bill-of-supply`;
}

async function readBills(
  { send }: Service,
  { key }: Pick<TestDesk, "key">,
  settlementId: string,
): Promise<Answer["body"][]> {
  return (await send("GET", toPath(settlementId), { key, expect: 200 })).body.bills;
}

async function setGstin({ ctx }: Service, { firmId }: TestDesk, state: string): Promise<void> {
  await ctx.db.pool.query("update firms set gstin = $2 || pan || '1ZX' where firm_id = $1", [
    firmId,
    state,
  ]);
}

/** A credit of the house that this desk buys. */
async function buyFromHouse(service: Service, buyer: TestDesk): Promise<string> {
  const scripNo = await addCredit(service, house());
  return await makeDeal(service, {
    buyer,
    legs: [{ seller: house(), scripNo, fees: { ...fees, seller: { feePaise: 0, gstPaise: 0 } } }],
  });
}

test("bills of supply check key, scope, rate and query", async (t) => {
  const service = await startService(t);
  const path = toPath("stl_01jd2m7q4x8r5v6w9y0abcdefg");
  await checkDoors(t, service, [{ method: "GET", path, scope: "orders:read" }]);
  const { api_key: key } = await service.issue();
  await service.send("GET", path, { key, expect: 404 });
  await service.send("GET", `${path}?format=csv`, { key, expect: 400 });
});

test("what the house sells is on a numbered bill, what a client sells on a draft in its name", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  await setGstin(service, buyer, "29");
  await payIn(service, buyer.firmId, 10 * buyerPaise);

  const fromHouse = await buyFromHouse(service, buyer);
  assert.deepEqual(await readBills(service, buyer, fromHouse), []);
  const asPdf = `${toPath(fromHouse)}?format=pdf`;
  const early = await service.send("GET", asPdf, { key: buyer.key, expect: 409 });
  assert.equal(early.body.detail.reason, "nothing_delivered");
  await letSettle(service);
  const [bill, ...others] = await readBills(service, buyer, fromHouse);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [bill.kind, bill.number, bill.series, bill.draft, bill.place_of_supply],
    ["bill_of_supply", "B/2026-27/000001", "B/2026-27", false, "29"],
  );
  assert.equal(bill.total_paise, buyerPaise - 5_900);
  assert.equal(bill.total_words, "Rupees Two Lakh Forty-Five Thousand Nine Hundred Forty-One only");
  assert.match(bill.exemption, /10\/2025/);
  assert.equal(bill.lines[0].hsn, "4907");
  assert.ok(bill.supplier.name !== "" && bill.signatory !== null);
  assert.match(bill.recipient.gstin, /^29/);

  const toHouse = await makeDeal(service, {
    buyer: house(),
    legs: [{ seller, scripNo: await addCredit(service, seller), fees }],
  });
  const between = await makeDeal(service, {
    buyer,
    legs: [{ seller, scripNo: await addCredit(service, seller), fees }],
  });
  await letSettle(service);
  const [draft] = await readBills(service, seller, toHouse);
  assert.deepEqual([draft.number, draft.draft, draft.signatory], [null, true, null]);
  assert.equal(draft.total_paise, sellerPaise + 4_720);
  assert.equal(draft.recipient.name, bill.supplier.name);
  assert.equal(draft.place_of_supply, bill.supplier.state_code);
  const sold = await readBills(service, seller, between);
  assert.deepEqual(sold, await readBills(service, buyer, between));
  assert.equal(sold[0].supplier.name, draft.supplier.name);
  assert.equal(sold[0].recipient.name, bill.recipient.name);
  const stranger = await openTestDesk(service);
  await service.send("GET", toPath(between), { key: stranger.key, expect: 404 });

  const response = await fetch(`${service.url}${toPath(fromHouse)}?format=pdf`, {
    headers: { "x-service-key": buyer.key },
  });
  const [page] = await parsePdfPages(new Uint8Array(await response.arrayBuffer()));
  assert.match(page?.text ?? "", /B\/2026-27\/000001/);
  assert.match(page?.text ?? "", /29 Karnataka/);
});

test("a buyer of several is shown the bill of each supplier, and each seller only its own", async (t) => {
  const service = await startService(t);
  const [one, other, buyer] = [
    await openTestDesk(service),
    await openTestDesk(service),
    await openTestDesk(service),
  ];
  await payIn(service, buyer.firmId, 10 * buyerPaise);
  const legs = [];
  for (const seller of [house(), one, other]) {
    legs.push({ seller, scripNo: await addCredit(service, seller) });
  }
  const id = await makeDeal(service, { buyer, legs });
  await letSettle(service);
  const seen = await readBills(service, buyer, id);
  assert.deepEqual(
    seen.map(({ draft, lines }) => [draft, lines.length]),
    [
      [false, 1],
      [true, 1],
      [true, 1],
    ],
  );
  for (const desk of [one, other]) {
    const [own, ...rest] = await readBills(service, desk, id);
    assert.deepEqual(rest, []);
    assert.equal(own.recipient.name, seen[0].recipient.name);
  }
});

test("numbers follow each other without a gap through races, rollbacks, reversals and a new year", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  const { ctx } = service;
  const buyer = await openTestDesk(service);
  await payIn(service, buyer.firmId, 20 * buyerPaise);
  const made: string[] = [];
  for (let deal = 0; deal < 4; deal++) made.push(await buyFromHouse(service, buyer));
  await letSettle(service);
  // A bill that cannot be written holds up no other and uses no number.
  const { heal } = await poison(
    service,
    "bills_of_supply",
    `new.settlement_id = '${made[0]}' or new.number % 3 = 0`,
  );
  for (let deal = 0; deal < 6; deal++) made.push(await buyFromHouse(service, buyer));
  for (let second = 0; second < 4; second++) {
    service.clock.advance({ seconds: 1 });
    await service.workOn(["simulation", "funding", "settlement"]);
  }
  const nodes = [ctx, beside.ctx, ctx, beside.ctx];
  const race = () => Promise.allSettled(nodes.map(async (node) => await issueBills(node)));
  await race();
  await service.work(["bills"]);
  const [reversed = ""] = made;
  for (const name of ["asha", "ravi"]) {
    await reverseSettlement(ctx, namedOperator(name), {
      settlementId: reversed,
      reason: "wrong price",
    });
  }
  await service.work(["bills"]);
  assert.deepEqual(
    (await readBills(service, buyer, reversed)).map(({ kind, number }) => [kind, number]),
    [
      ["bill_of_supply", "B/2026-27/000001"],
      ["supply_return", null],
    ],
  );
  await heal();
  await race();
  await service.work(["bills"]);
  const { rows } = await ctx.db.pool.query<{ kind: string; numbers: number[]; sum: string }>(
    `select kind, array_agg(number::int order by number) as numbers, sum(value_paise)::text as sum
    from bills_of_supply group by kind order by kind`,
  );
  const [first, back] = await readBills(service, buyer, reversed);
  assert.deepEqual([first.against, back.against], [[], [first.number]]);
  const asPdf = await fetch(`${service.url}${toPath(reversed)}?format=pdf`, {
    headers: { "x-service-key": buyer.key },
  });
  const [, note] = await parsePdfPages(new Uint8Array(await asPdf.arrayBuffer()));
  assert.match(note?.text ?? "", /Against\s+B\/2026-27\/000001 of \d+ \w+ 2026/);
  const value = buyerPaise - 5_900;
  assert.deepEqual(rows, [
    { kind: "bill_of_supply", numbers: made.map((_, at) => at + 1), sum: String(10 * value) },
    { kind: "supply_return", numbers: [1], sum: String(value) },
  ]);
  await assertLedgerSound(service);

  service.clock.advance({ days: 150 });
  const next = await buyFromHouse(service, buyer);
  await letSettle(service);
  assert.equal((await readBills(service, buyer, next))[0].number, "B/2027-28/000001");
});

test("whoever numbers papers may die at any step: no number is lost, and none is given twice", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const rate = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
  const from = istDay(ctx.now());
  await setTax(ctx, namedOperator("asha"), { environment: "sandbox", line: "gst", from, rate });
  const buyer = await openTestDesk(service);
  await payIn(service, buyer.firmId, 100 * buyerPaise);
  const numbers = async () => {
    const { rows } = await ctx.db.pool.query<{ bills: number[]; invoices: number[] }>(
      `select array(select number::int from bills_of_supply as b order by b.number) as bills,
        array(select number::int from fee_invoices as f order by f.number) as invoices`,
    );
    return rows[0] ?? assert.fail();
  };
  const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);
  let made = 0;
  const issue = async (dying: typeof ctx) => {
    made += 1;
    await buyFromHouse(service, buyer);
    for (let second = 0; second < 4; second++) {
      service.clock.advance({ seconds: 1 });
      await service.workOn(["simulation", "funding", "settlement"]);
    }
    await issueInvoices(dying);
    await issueBills(dying);
  };
  const died = await dieAtEveryStep(service, issue, async () => {
    const { bills, invoices } = await numbers();
    assert.deepEqual([bills, invoices], [upTo(bills.length), upTo(invoices.length)]);
  });
  assert.ok(died >= 10, `it died ${died} times`);
  assert.deepEqual(await numbers(), { bills: upTo(made), invoices: upTo(made) });
  await assertLedgerSound(service);
});

test("a paper keeps the law and the parties of its day", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const buyer = await openTestDesk(service);
  await payIn(service, buyer.firmId, 10 * buyerPaise);
  const id = await buyFromHouse(service, buyer);
  await letSettle(service);
  const [before] = await readBills(service, buyer, id);
  const from = addDays(istDay(ctx.now()), 1);
  const rate = { hsn: "49070090", exemption: "Notification 1/2027, entry 9" };
  await setTax(ctx, namedOperator("asha"), { environment: "sandbox", line: "scrip", from, rate });
  await ctx.db.pool.query("update firms set legal_name = 'Renamed' where firm_id = $1", [
    buyer.firmId,
  ]);
  service.clock.advance({ days: 1 });
  assert.deepEqual(await readBills(service, buyer, id), [before]);
  const later = await buyFromHouse(service, buyer);
  await letSettle(service);
  const [after] = await readBills(service, buyer, later);
  assert.deepEqual([after.exemption, after.lines[0].hsn], [rate.exemption, "49070090"]);
  assert.equal(after.recipient.name, "Renamed");
});
