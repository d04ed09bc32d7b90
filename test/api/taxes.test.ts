// Tax lines: nothing while none is set, and from its day on what notes, statements, payouts and the
// books say adds up to what moved.

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedOperator } from "../../src/kernel/actor.ts";
import { noFee } from "../../src/kernel/money.ts";
import { addDays, istDay, istMonth } from "../../src/kernel/time.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { Failure } from "../../src/kernel/failure.ts";
import {
  addCertificate,
  confirmTax,
  readCertificates,
  sumWithheldByPan,
} from "../../src/taxes/withholding.ts";
import { issueInvoices, listTaxRates, setTax } from "../../src/taxes/taxes.ts";
import { countRows, judge, recordPlans } from "../compat/plans.ts";
import { commandLine } from "../support/cli.ts";
import { asOwner } from "../support/database.ts";
import { addFirm } from "../support/holdings.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { parsePdfPages } from "../support/pdf.ts";
import { addPerson } from "../support/people.ts";
import { poison } from "../support/poison.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  letSettle,
  listPayouts,
  makeDeal,
  openTestDesk,
  sellerPaise,
  type TestDesk,
} from "../support/settlements.ts";

const asha = namedOperator("asha");
const environment = "sandbox";
const gst = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
const fees = {
  buyer: { feePaise: 5_001, gstPaise: 901 },
  seller: { feePaise: 4_000, gstPaise: 720 },
};
/** The house charges itself nothing. */
const sold = { ...fees, buyer: noFee };

async function setGst({ ctx }: Service): Promise<void> {
  await setTax(ctx, asha, { environment, line: "gst", from: istDay(ctx.now()), rate: gst });
}

async function setTds({ ctx }: Service, threshold_paise: number, rate_bps = 10): Promise<void> {
  const rate = { section: "194Q", rate_bps, threshold_paise, with_crosses: false };
  await setTax(ctx, asha, { environment, line: "tds", from: istDay(ctx.now()), rate });
}

async function setGstin({ ctx }: Service, { firmId }: TestDesk, state: string): Promise<void> {
  await ctx.db.pool.query("update firms set gstin = $2 || pan || '1ZX' where firm_id = $1", [
    firmId,
    state,
  ]);
}

async function readNote(service: Service, desk: TestDesk, settlementId: string) {
  const path = `/v1/settlements/${settlementId}/contract-note`;
  return (await service.send("GET", path, { key: desk.key, expect: 200 })).body.notes[0];
}

async function readStatement(service: Service, desk: TestDesk) {
  const period = istMonth(service.clock.now());
  const path = `/v1/statements/${period}?firm_id=${desk.firmId}`;
  const statement = (await service.send("GET", path, { key: desk.key, expect: 200 })).body;
  const sum = statement.lines.reduce(
    (all: number, line: Answer["body"]) => all + line.amount_paise,
    0,
  );
  assert.equal(statement.opening_paise + sum, statement.closing_paise);
  return statement;
}

/** What the lines of each kind add up to. */
async function readTotals(service: Service, desk: TestDesk): Promise<Record<string, number>> {
  const { totals } = await readStatement(service, desk);
  return Object.fromEntries(
    totals.map(({ kind, amount_paise }: Answer["body"]) => [kind, amount_paise]),
  );
}

async function taxAccounts({ ctx }: Service): Promise<Record<string, number>> {
  const { rows } = await ctx.db.pool.query<{ kind: string; paise: string }>(
    `select kind, sum(posted_paise)::text as paise from ledger_balances
    where environment = 'sandbox' and kind like '%_payable' group by kind having sum(posted_paise) <> 0
    order by kind`,
  );
  return Object.fromEntries(rows.map(({ kind, paise }) => [kind, Number(paise)]));
}

async function sell(service: Service, seller: TestDesk, buyer = house()): Promise<string> {
  const scripNo = await addCredit(service, seller);
  const id = await makeDeal(service, {
    buyer,
    legs: [{ seller, scripNo, fees: buyer.firmId === house().firmId ? sold : fees }],
  });
  await letSettle(service);
  return id;
}

test("the tax on fees is divided by the place of supply and invoiced, and a reversal is a credit note", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  await setGstin(service, seller, "29");
  await setGstin(service, buyer, "27");
  await payIn(service, buyer.firmId, 10 * buyerPaise);
  const before = await sell(service, seller, buyer);
  const untouched = await readNote(service, seller, before);
  assert.equal("taxes" in untouched || "invoices" in untouched, false);
  assert.deepEqual(await taxAccounts(service), { gst_payable: 1_621 });

  await setGst(service);
  const id = await sell(service, seller, buyer);
  const selling = await readNote(service, seller, id);
  assert.deepEqual(selling.taxes, [
    { kind: "igst", name: "IGST 18 %", rate_bps: 1_800, amount_paise: 720 },
  ]);
  assert.equal("net_paise" in selling, false);
  const bought = await readNote(service, buyer, id);
  assert.deepEqual(
    bought.taxes.map(({ name, amount_paise }: Answer["body"]) => [name, amount_paise]),
    [
      ["CGST 9 %", 451],
      ["SGST 9 %", 450],
    ],
  );
  const numbers = [selling, bought].map((note) => {
    assert.equal(note.invoices.length, 1);
    const [{ invoice_no, kind, place_of_supply, fee_paise, gst_paise, ...rates }] = note.invoices;
    const { cgst_bps, sgst_bps, igst_bps } = rates;
    assert.deepEqual(
      [cgst_bps, sgst_bps, igst_bps],
      note === selling ? [0, 0, 1_800] : [900, 900, 0],
    );
    assert.deepEqual([kind, fee_paise, gst_paise], ["invoice", note.fee_paise, note.gst_paise]);
    assert.equal(place_of_supply, note === selling ? "29" : "27");
    return invoice_no;
  });
  assert.deepEqual(new Set(numbers), new Set(["F/2026-27/000001", "F/2026-27/000002"]));
  assert.deepEqual(await taxAccounts(service), {
    cgst_payable: 451,
    gst_payable: 1_621,
    igst_payable: 720,
    sgst_payable: 450,
  });
  const totals = await readTotals(service, buyer);
  assert.deepEqual(
    [totals["gst"], totals["cgst"], totals["sgst"], totals["igst"]],
    [-901, -451, -450, undefined],
  );
  const print = async () => {
    const path = `/v1/settlements/${id}/contract-note?format=pdf`;
    const pdf = await fetch(`${service.url}${path}`, { headers: { "x-service-key": buyer.key } });
    const [page] = await parsePdfPages(new Uint8Array(await pdf.arrayBuffer()));
    return page?.text ?? "";
  };
  assert.match(
    await print(),
    /of it CGST 9 %.*of it SGST 9 %.*Tax invoice for the fee: No\. F\/2026-27\/00000[12] of \d+ \w+ 2026.*SAC 996111.*CGST 9 %.*Place of supply 27 Maharashtra/s,
  );

  const reversal = { settlementId: id, reason: "wrong credit" };
  for (const name of ["asha", "ravi"]) {
    await reverseSettlement(service.ctx, namedOperator(name), reversal);
  }
  await service.work();
  assert.deepEqual(await taxAccounts(service), { gst_payable: 1_621 });
  const reversed = await readNote(service, buyer, id);
  assert.deepEqual(reversed.taxes, []);
  assert.deepEqual(
    reversed.invoices.map(({ kind }: Answer["body"]) => kind),
    ["invoice", "credit_note"],
  );
  assert.match(reversed.invoices[1].invoice_no, /^C\/2026-27\/00000[12]$/);
  assert.match(
    await print(),
    /No\. C\/2026-27\/00000[12] of \d+ \w+ 2026, against F\/2026-27\/00000[12] of \d+/,
  );
  const after = await readTotals(service, buyer);
  assert.deepEqual([after["cgst"], after["sgst"], after["fee"]], [0, 0, -5_001]);
  await assertLedgerSound(service);
});

test("tax is withheld from a company above the year's threshold, on all its desks together", async (t) => {
  const service = await startService(t);
  const one = await openTestDesk(service);
  const other = await openTestDesk(service);
  await service.ctx.db.pool.query(
    "update firms set pan = (select pan from firms where firm_id = $1), iec = null where firm_id = $2",
    [one.firmId, other.firmId],
  );
  const value = sellerPaise + 4_720;
  await sell(service, one); // Before any rate is set; the year counts it all the same.
  await setTds(service, 2 * value + 1_000_000, 100);
  await sell(service, other);
  assert.deepEqual(await taxAccounts(service), { gst_payable: 1_440 });

  const id = await sell(service, one);
  const withheld = Math.round((value - 1_000_000) / 100);
  const note = await readNote(service, one, id);
  assert.deepEqual(note.taxes, [
    { kind: "tds", name: "TDS 1 % under section 194Q", rate_bps: 100, amount_paise: withheld },
  ]);
  assert.equal(note.all_in_paise, sellerPaise);
  assert.equal(note.net_paise, sellerPaise - withheld);
  assert.equal(note.payments[0].amount_paise, note.net_paise);
  assert.deepEqual(note.invoices, []);
  const [payout] = (await listPayouts(service, one)).filter(
    ({ settlement_id }: Answer["body"]) => settlement_id === id,
  );
  assert.equal(payout.amount_paise, sellerPaise - withheld);
  assert.equal((await readTotals(service, one))["tds"], -withheld);

  const full = await sell(service, other);
  const all = Math.round(value / 100);
  assert.equal((await readNote(service, other, full)).taxes[0].amount_paise, all);
  assert.equal((await taxAccounts(service))["tds_payable"], withheld + all);

  // The year begins anew in April.
  service.clock.set(new Date("2027-04-02T06:00:00Z"));
  const next = await sell(service, one);
  assert.equal("taxes" in (await readNote(service, one, next)), false);
  await assertLedgerSound(service);
});

test("a reversal returns withheld tax and lowers the year's sum", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  await setTds(service, 0, 100);
  // The account is unproven, so that the payout is recalled and not with the bank.
  const id = await sell(service, seller);
  const value = sellerPaise + 4_720;
  const withheld = Math.round(value / 100);
  assert.deepEqual((await taxAccounts(service))["tds_payable"], withheld);
  for (const name of ["asha", "ravi"]) {
    await reverseSettlement(service.ctx, namedOperator(name), {
      settlementId: id,
      reason: "wrong",
    });
  }
  assert.deepEqual(await taxAccounts(service), {});
  const { rows } = await service.ctx.db.pool.query(
    "select sold_paise::text, taxed_paise::text, withheld_paise::text from tds_sums",
  );
  assert.deepEqual(rows, [{ sold_paise: "0", taxed_paise: "0", withheld_paise: "0" }]);
  assert.equal((await readTotals(service, seller))["tds"], 0);
  await assertLedgerSound(service);
});

test("the Act of 2025 is proposed, counts once a person confirms it, and is cited on papers", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const seller = await openTestDesk(service);
  const proposed = { environment, line: "tds", from: "2026-04-01" } as const;
  const find = async () => (await listTaxRates(ctx, environment)).find(({ act }) => act === "2025");
  assert.deepEqual(
    [(await find())?.section, (await find())?.payment_code, (await find())?.confirmed_by],
    ["393(1) Table Sl. 8(ii)", "1031", null],
  );
  await sell(service, seller);
  assert.equal((await taxAccounts(service))["tds_payable"], undefined);
  const rate = { act: "1961", section: "194Q", rate_bps: 100, threshold_paise: 0 };
  await setTax(ctx, asha, {
    environment,
    line: "tds",
    from: istDay(ctx.now()),
    rate: { ...rate, with_crosses: false },
  });
  await assert.rejects(confirmTax(ctx, asha, proposed), Failure, "another line begins today");
  service.clock.advance({ days: 1 });
  const confirmed = await confirmTax(ctx, asha, proposed);
  assert.deepEqual([confirmed.effective_from, confirmed.confirmed_by], [istDay(ctx.now()), "asha"]);
  const { rows } = await ctx.db.pool.query("select pan from firms where firm_id = $1", [
    seller.firmId,
  ]);
  const certificate = {
    environment,
    certificate_no: "ldc/9",
    pan: rows[0].pan,
    rate_bps: 4,
    limit_paise: sellerPaise + 4_720,
    effective_from: "2026-04-01",
    effective_until: "2027-03-31",
  } as const;
  // The threshold of the Act is far away.
  await setTax(ctx, asha, {
    environment,
    line: "tds",
    from: addDays(istDay(ctx.now()), 1),
    rate: {
      ...rate,
      act: "2025",
      section: "393(1) Table Sl. 8(ii)",
      payment_code: "1031",
      with_crosses: false,
    },
  });
  await addCertificate(ctx, asha, certificate);
  service.clock.advance({ days: 1 });
  const less = await sell(service, seller);
  const value = sellerPaise + 4_720;
  assert.deepEqual((await readNote(service, seller, less)).taxes, [
    {
      kind: "tds",
      name: "TDS 0.04 % under section 393(1) Table Sl. 8(ii), Income-tax Act 2025, code 1031, certificate LDC/9",
      rate_bps: 4,
      amount_paise: Math.round(value * 0.000_4),
    },
  ]);
  const full = await sell(service, seller);
  const [{ amount_paise }] = (await readNote(service, seller, full)).taxes;
  // What was sold before there was a line is above the threshold, too.
  assert.equal(amount_paise, Math.round(value / 100));
  assert.deepEqual(
    (await sumWithheldByPan(ctx, { environment })).map(({ pan, tds_paise }) => [pan, tds_paise]),
    [[rows[0].pan, amount_paise + Math.round(value * 0.000_4)]],
  );
  await assert.rejects(addCertificate(ctx, asha, certificate), Failure);
  for (const name of ["asha", "ravi"]) {
    await reverseSettlement(ctx, namedOperator(name), { settlementId: less, reason: "wrong" });
  }
  assert.equal((await readCertificates(ctx, environment))[0]?.used_paise, 0);

  const legs = [];
  for (const fee of [sold, sold]) {
    legs.push({ seller, scripNo: await addCredit(service, seller), fees: fee });
  }
  const divided = await makeDeal(service, { buyer: house(), legs });
  await letSettle(service);
  const { taxes, net_paise } = await readNote(service, seller, divided);
  const byRate = taxes.map((tax: Answer["body"]) => [tax.rate_bps, tax.amount_paise]);
  const [byCertificate, byLine] = [Math.round(value * 0.000_4), Math.round(value / 100)];
  assert.deepEqual(
    new Map(byRate),
    new Map([
      [4, byCertificate],
      [100, byLine],
    ]),
  );
  assert.equal(net_paise, 2 * sellerPaise - byCertificate - byLine);
  const { lines } = await readStatement(service, seller);
  const told = lines.filter((line: Answer["body"]) => line.reference === divided);
  const described = told.map((line: Answer["body"]) => line.description).join("; ");
  assert.match(described, /TDS 0\.04 % under/);
  assert.match(described, /TDS 1 % under/);
  await assertLedgerSound(service);
});

test("legs that are answered one by one each pay their amount less tax", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  await setGst(service);
  await setTds(service, 0, 100);
  const scripNos = [
    await addCredit(service, seller),
    await addCredit(service, seller, "0408"), // Times out, after the other was delivered.
    await addCredit(service, seller),
  ];
  const legs = scripNos.map((scripNo) => ({ seller, scripNo, fees: sold }));
  const id = await makeDeal(service, { buyer: house(), legs });
  await letSettle(service);
  await letSettle(service, 40);
  const withheld = 2 * Math.round((sellerPaise + 4_720) / 100);
  const note = await readNote(service, seller, id);
  assert.equal(note.settled_paise, 2 * sellerPaise);
  assert.equal(note.net_paise, 2 * sellerPaise - withheld);
  const [payout] = await listPayouts(service, seller);
  assert.equal(payout.amount_paise, note.net_paise);
  assert.equal((await readStatement(service, seller)).closing_paise, 0);
  await assertLedgerSound(service);
});

test("concurrent and failing nodes number invoices without a gap", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  await setGst(service);
  const seller = await openTestDesk(service);
  const work = async (times: number) => {
    for (let at = 0; at < times; at++) {
      const scripNo = await addCredit(service, seller);
      await makeDeal(service, { buyer: house(), legs: [{ seller, scripNo, fees: sold }] });
    }
    for (let second = 0; second < 4; second++) {
      service.clock.advance({ seconds: 1 });
      await service.work(["invoices"]);
    }
  };
  const race = async () => {
    const nodes = [service, beside, service, beside, service, beside];
    await Promise.allSettled(nodes.map(async ({ ctx }) => await issueInvoices(ctx)));
  };
  const numbers = async () => {
    const { rows } = await service.ctx.db.pool.query<{ number: string }>(
      "select number::text from fee_invoices order by fee_invoices.number",
    );
    return rows.map(({ number }) => Number(number));
  };
  const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

  await work(5);
  await race(); // All of them begin the series.
  await race();
  assert.deepEqual(await numbers(), upTo(5));
  await work(5);
  const { heal } = await poison(service, "fee_invoices", "new.number % 3 = 0");
  await race();
  await race();
  const some = await numbers();
  assert.deepEqual(some, upTo(some.length));
  await heal();
  for (let again = 0; again < 5; again++) await race();
  assert.deepEqual(await numbers(), upTo(10));
  const { rows } = await service.ctx.db.pool.query(
    `select count(*)::int as legs, count(distinct invoice_no)::int as invoices,
      (select last_number::int from invoice_series) as last
    from leg_taxes where invoice_no is not null`,
  );
  assert.deepEqual(rows, [{ legs: 10, invoices: 10, last: 10 }]);

  service.clock.set(new Date("2027-03-31T19:00:00Z"));
  await work(1);
  await race();
  const first = await service.ctx.db.pool.query(
    "select invoice_no from fee_invoices where financial_year = '2027-28'",
  );
  assert.deepEqual(first.rows, [{ invoice_no: "F/2027-28/000001" }]);
});

test("concurrent sales at the threshold are withheld from as if in sequence", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  const seller = await openTestDesk(service);
  const value = sellerPaise + 4_720;
  await setTds(service, 3 * value, 100);
  const firms = [
    seller,
    ...(await Promise.all(
      [1, 2, 3].map(async () => ({
        ...seller,
        firmId: await addFirm(service, { deskId: seller.deskId }),
      })),
    )),
  ];
  await service.ctx.db.pool.query(
    "update firms set pan = (select pan from firms where firm_id = $1), iec = null where firm_id = any($2)",
    [seller.firmId, firms.slice(1).map(({ firmId }) => firmId)],
  );
  for (const firm of [...firms, ...firms]) {
    const scripNo = await addCredit(service, firm);
    await makeDeal(service, { buyer: house(), legs: [{ seller: firm, scripNo, fees: sold }] });
  }
  for (let second = 0; second < 6; second++) {
    service.clock.advance({ seconds: 1 });
    await Promise.all([service.work(), beside.work()]);
  }
  assert.equal((await taxAccounts(service))["tds_payable"], 5 * Math.round(value / 100));
  await assertLedgerSound(service);
});

test("operators set tax rates for a future day, and list the issued invoices", async (t) => {
  const service = await startService(t);
  const { run } = await commandLine(t, service);
  const today = istDay(service.clock.now());
  const set = ["tax", "set", "--env", "live", "--line"];
  const gstWords = ["gst", "--cgst-bps", "900", "--sgst-bps", "900", "--igst-bps", "1800"];
  const tomorrow = addDays(today, 1);
  const words = [...set, ...gstWords, "--state", "27", "--from"];
  const late = await run(...words, today);
  assert.match(late.stderr, /from: must be after today/);
  const uneven = await run(...set, ...gstWords.with(2, "800"), "--state", "27", "--from", tomorrow);
  assert.match(uneven.stderr, /must be the 1800 bps/);
  assert.match((await run(...set, ...gstWords, "--from", tomorrow)).stderr, /state of the house/);
  await addLiveHouse(service);
  assert.equal((await run(...words, tomorrow, "--json")).code, 0);
  const tds = ["tds", "--section", "194Q", "--bps", "10", "--threshold-paise", "500000000"];
  assert.equal((await run(...set, ...tds, "--from", tomorrow)).code, 0);
  assert.equal((await run(...set, "gst", "--off", "--from", addDays(today, 30))).code, 0);
  const listed = JSON.parse((await run("tax", "list", "--env", "live", "--json")).stdout);
  assert.deepEqual(
    listed
      .filter(({ confirmed_by: by }: Answer["body"]) => by !== null)
      .map(({ line, effective_from, is_on }: Answer["body"]) => [line, effective_from, is_on]),
    [
      ["gst", addDays(today, 30), false],
      ["gst", tomorrow, true],
      ["tds", tomorrow, true],
    ],
  );
  const invoices = await run("tax", "invoices", "--env", "live", "--json");
  assert.deepEqual(JSON.parse(invoices.stdout), []);
});

test("operators read the invoices of a year in pages, the newest first, however many there are", async (t) => {
  const service = await startService(t, { isNew: true });
  const { db } = service.ctx;
  const plans = await recordPlans(db);
  await setGst(service);
  const seller = await openTestDesk(service);
  const scripNo = await addCredit(service, seller);
  await makeDeal(service, { buyer: house(), legs: [{ seller, scripNo, fees: sold }] });
  await letSettle(service);
  const others = 3_000;
  // Some are issued in the same instant, as those of a set are.
  await asOwner(db, async (owner) => {
    await owner.query(
      `insert into fee_invoices
      select copy.*
      from fee_invoices as i, generate_series(1, $1::int) as n,
        jsonb_populate_record(i, jsonb_build_object(
          'number', i.number + n, 'invoice_no', 'F/2026-27/' || lpad((i.number + n)::text, 6, '0'),
          'issued_at', i.issued_at + interval '1 second' * (n / 4)
        )) as copy`,
      [others],
    );
  });
  const { send } = await startOps(t, service);
  const person = await addPerson(service, { name: "mira", role: "admin" });
  const headers = asBearer((await person.signIn()).token);
  const read = async (query: string) => {
    const path = `/ops/invoices?environment=sandbox${query}`;
    return (await send("GET", path, { headers, expect: 200 })).body;
  };
  const numbers: number[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page = await read(`&limit=1000&firm_id=${seller.firmId}${after}`);
    for (const { number } of page.invoices) numbers.push(number);
    cursor = page.next_cursor;
  }
  assert.deepEqual(
    numbers,
    Array.from({ length: others + 1 }, (_, at) => others + 1 - at),
  );
  assert.equal((await read("")).invoices.length, 100);
  plans.take();
  const { next_cursor } = await read("&limit=5");
  for (const narrowed of ["", `&firm_id=${seller.firmId}`, "&year=2026-27"]) {
    await read(`&limit=5&cursor=${encodeURIComponent(next_cursor)}${narrowed}`);
  }
  const limits = { largeTable: 1_000, rowsFree: 300, rowsPerNeeded: 20, deskRows: 1_000 };
  const looks = judge(plans.take(), await asOwner(db, countRows), limits).filter(({ text }) =>
    text.includes("fee_invoices"),
  );
  assert.ok(looks.length > 0, "the server told its plans");
  for (const { text, rowsRead } of looks) assert.ok(rowsRead < 20, `${rowsRead}: ${text}`);
  assert.deepEqual((await read("&year=2025-26")).invoices, []);
  assert.deepEqual((await read("&year=2026-27&to=2026-04-01")).invoices, []);
});
