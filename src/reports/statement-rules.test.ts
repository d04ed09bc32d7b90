import assert from "node:assert/strict";
import { test } from "node:test";

import type { PaiseSum } from "../kernel/money.ts";
import { plainCalendar } from "../kernel/working-days.ts";
import { isPeriod, nextPeriod, periodsBetween, periodSpan } from "../kernel/months.ts";
import {
  type StatementFacts,
  lastClosedPeriod,
  type LegFacts,
  makeLines,
  openState,
  type Posting,
  sumByKind,
} from "./statement-rules.ts";

function buildLines(...given: Parameters<typeof makeLines>) {
  const work = makeLines(...given);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

const at = new Date("2026-11-16T10:00:00+05:30");
const deal = "stl_01jd2m7q4x8r5v6w9y0abcdefg";

const leg: LegFacts = {
  ordinal: 0,
  scrip_no: "SCRIP0001",
  scheme: "RODTEP",
  seller_firm_id: "frm_seller",
  buyer_firm_id: "frm_buyer",
  face_paise: 10_000_000,
  seller_bps: 9_765,
  buyer_bps: 9_785,
  buyer_fee_paise: 5_000,
  buyer_gst_paise: 900,
  seller_fee_paise: 4_000,
  seller_gst_paise: 720,
};

function facts(firmId: string, legs: readonly LegFacts[] = [leg]): StatementFacts {
  return { firmId, legs: new Map([[deal, legs]]), taxes: new Map(), payments: new Map() };
}

let entries = 0;
function posting(fields: Partial<Posting>): Posting {
  return {
    entry_no: ++entries,
    at,
    kind: "deal_hold",
    subject: deal,
    ordinal: 0,
    account_kind: "firm_cash",
    paise: 0,
    ...fields,
  };
}

/** Kind and amount of each line. */
function summarize(lines: ReturnType<typeof buildLines>): [string, PaiseSum][] {
  return lines.map((line) => [line.kind, line.amount_paise]);
}

test("value, fee and tax of a deal are lines of their own and sum to what was moved", () => {
  const sold = buildLines(0, [posting({ paise: 9_765_000 })], facts("frm_seller"));
  assert.deepEqual(summarize(sold), [
    ["sale", 9_769_720],
    ["fee", -4_000],
    ["gst", -720],
  ]);
  assert.equal(sold.at(-1)?.balance_paise, 9_765_000);
  assert.equal(sold[0]?.hsn, "4907");
  assert.equal(sold[0]?.price_bps, 9_765);
  assert.deepEqual(sold[0]?.scrip_nos, ["SCRIP0001"]);
  const bought = buildLines(9_785_000, [posting({ paise: -9_785_000 })], facts("frm_buyer"));
  assert.deepEqual(summarize(bought), [
    ["purchase", -9_779_100],
    ["fee", -5_000],
    ["gst", -900],
  ]);
  assert.equal(bought.at(-1)?.balance_paise, 0);
});

test("a deal without a fee is one line, for any number of credits", () => {
  const free = { ...leg, seller_fee_paise: 0, seller_gst_paise: 0 };
  const legs = [free, { ...free, ordinal: 1, scrip_no: "SCRIP0002", seller_bps: 9_700 }];
  const postings = [posting({ paise: 100 }), posting({ paise: 50, ordinal: 1 })];
  const [line, ...others] = buildLines(0, postings, facts("frm_seller", legs));
  assert.deepEqual(others, []);
  assert.equal(line?.amount_paise, 150);
  assert.equal(line?.face_paise, 20_000_000);
  assert.equal(line?.price_bps, null, "the credits had two prices");
});

test("a reversal returns value, fee and tax, and a shortfall becomes dues", () => {
  const back = [
    posting({ kind: "reversal", paise: -1_000_000 }),
    posting({ kind: "reversal", account_kind: "firm_dues", paise: -8_765_000 }),
  ];
  const lines = buildLines(1_000_000, back, facts("frm_seller"));
  assert.deepEqual(summarize(lines), [
    ["reversal", -9_769_720],
    ["fee", 4_000],
    ["gst", 720],
    ["dues", 8_765_000],
  ]);
  assert.equal(lines.at(-1)?.balance_paise, 0);
  assert.deepEqual(
    sumByKind(lines).map(({ kind, amount_paise }) => [kind, amount_paise]),
    [
      ["fee", 4_000],
      ["gst", 720],
      ["reversal", -9_769_720],
      ["dues", 8_765_000],
    ],
  );
});

test("a line of bank money shows the bank's reference", () => {
  const payments = new Map([
    ["pay_01jd2m7q4x8r5v6w9y0abcdefg", { utr: "HDFCR1", rail: "RTGS", kind: "settlement" }],
  ]);
  const postings = [
    posting({ kind: "deposit", subject: "HDFCR52026111500012345", paise: 500 }),
    posting({ kind: "payout", subject: "pay_01jd2m7q4x8r5v6w9y0abcdefg", paise: -200 }),
    posting({
      kind: "payout",
      subject: "HDFCN52026120100012345",
      account_kind: "desk_commission",
      paise: -100,
    }),
    posting({ kind: "payout_return", paise: 7 }),
    posting({ kind: "refund", subject: "HDFCR52026111500012345", paise: -500 }),
    posting({ kind: "fee", paise: -3 }),
  ];
  const lines = buildLines(100, postings, { ...facts("frm_seller"), payments });
  assert.deepEqual(
    lines.map(({ kind, utr, balance_paise }) => [kind, utr, balance_paise]),
    [
      ["deposit", "HDFCR52026111500012345", 600],
      ["payout", "HDFCR1", 400],
      ["payout", "HDFCN52026120100012345", 300],
      ["refund", null, 307],
      ["refund", "HDFCR52026111500012345", -193],
      ["adjustment", null, -196],
    ],
  );
});

test("a commission is one line for a deal, and one more when it is reversed", () => {
  const own = { kind: "commission", account_kind: "desk_commission" } as const;
  const later = new Date(at.getTime() + 1);
  const postings = [
    posting({ ...own, ordinal: 0, paise: 5_000 }),
    posting({ ...own, ordinal: 1, paise: 5_000 }),
    posting({ ...own, ordinal: 2, paise: -5_000, at: later }),
  ];
  const lines = buildLines(0, postings, facts("frm_desk"));
  assert.deepEqual(summarize(lines), [
    ["commission", 10_000],
    ["commission", -5_000],
  ]);
});

test("months begin and end at midnight in India", () => {
  assert.deepEqual(periodSpan("2026-11"), {
    from: new Date("2026-10-31T18:30:00Z"),
    to: new Date("2026-11-30T18:30:00Z"),
  });
  assert.equal(nextPeriod("2026-12"), "2027-01");
  assert.deepEqual(periodsBetween("2026-11", "2027-01"), ["2026-11", "2026-12", "2027-01"]);
  assert.deepEqual(periodsBetween("2026-12", "2026-11"), []);
  for (const text of ["2026-00", "2026-13", "2026-1", "26-01", "2026-011", ""]) {
    assert.equal(isPeriod(text), false, text);
  }
});

test("a month is closed an hour after its end, and not before", () => {
  const end = periodSpan("2026-11").to.getTime();
  const closed = (ms: number) => lastClosedPeriod(new Date(ms), "sandbox", plainCalendar);
  assert.equal(closed(end - 1), "2026-10");
  assert.equal(closed(end + 3_599_999), "2026-10");
  assert.equal(closed(end + 3_600_000), "2026-11");
  assert.equal(openState("2026-11", new Date(end - 1)), "running");
  assert.equal(openState("2026-11", new Date(end)), "provisional");
});

test("a month of production is closed with the first working day of banks after it", () => {
  const days = { bank: new Map([["2026-12-01", false]]), customs: new Map() };
  const closed = (time: string, calendar = plainCalendar) =>
    lastClosedPeriod(new Date(`${time}+05:30`), "live", calendar);
  assert.equal(closed("2026-12-01T17:29:59"), "2026-10");
  assert.equal(closed("2026-12-01T17:30:00"), "2026-11");
  assert.equal(closed("2026-12-01T17:30:00", { version: "holiday", days }), "2026-10");
  assert.equal(closed("2026-12-02T17:30:00", { version: "holiday", days }), "2026-11");
  assert.equal(closed("2026-12-31T23:59:59"), "2026-11");
});
