import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { financialYear, financialYearEnd, financialYearStart } from "../kernel/time.ts";
import {
  formatPaperNo,
  buildTaxEntries,
  type LegTax,
  toPayeeKey,
  type RateRow,
  findRates,
  refuseEarly,
  refuseGst,
  splitGst,
  taxSide,
  withholdFrom,
} from "./tax-rules.ts";

const gst = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
const tds = {
  act: "1961",
  payment_code: null,
  section: "194Q",
  rate_bps: 10,
  threshold_paise: 500_000_000,
  with_crosses: false,
};

const row = (line: "gst" | "tds", effective_from: string, is_on = true): RateRow => ({
  environment: "live",
  line,
  effective_from,
  is_on,
  cgst_bps: null,
  sgst_bps: null,
  igst_bps: null,
  house_state: null,
  rtgs_from_paise: null,
  imps_to_paise: null,
  citation: null,
  section: null,
  rate_bps: null,
  threshold_paise: null,
  with_crosses: null,
  hsn: null,
  exemption: null,
  sac: null,
  gst_bps: null,
  act: null,
  payment_code: null,
  confirmed_by: "asha",
  ...(is_on && { gst, tds }[line]),
});

test("the latest rate up to a day is in force, and none outside the given days", () => {
  const rows = [
    row("gst", "2026-12-01"),
    row("gst", "2027-04-01", false),
    row("tds", "2027-01-01"),
  ];
  const on = (day: string) => {
    const rates = findRates(day, rows);
    return [rates.gst !== undefined, rates.tds !== undefined];
  };
  assert.deepEqual(on("2026-11-30"), [false, false]);
  assert.deepEqual(on("2026-12-01"), [true, false]);
  assert.deepEqual(on("2027-01-01"), [true, true]);
  assert.deepEqual(on("2027-04-01"), [false, true]);
  assert.deepEqual(findRates("2027-04-01", []), {
    gst: undefined,
    tds: undefined,
    scrip: undefined,
    fee: undefined,
    rails: undefined,
  });
});

test("a rate in force cannot be changed, and the parts of a tax sum to the whole", () => {
  const refused = (work: () => void) => assert.throws(work, Failure);
  refused(() => refuseEarly("live", "2026-11-16", "2026-11-16"));
  refused(() => refuseEarly("sandbox", "2026-11-15", "2026-11-16"));
  refuseEarly("sandbox", "2026-11-16", "2026-11-16");
  refuseEarly("live", "2026-11-17", "2026-11-16");
  const fees = { state: null, gstBps: 1_800 };
  refuseGst(gst, fees);
  refuseGst(gst, { ...fees, state: "27" });
  refused(() => refuseGst(gst, { ...fees, state: "29" }));
  refused(() => refuseGst({ ...gst, cgst_bps: 901 }, fees));
  refused(() => refuseGst({ ...gst, igst_bps: 1_700 }, fees));
  refused(() => refuseGst({ ...gst, house_state: "MH" }, fees));
});

test("a financial year runs from April to March in IST, and numbers have at most 16 characters", () => {
  assert.equal(financialYear(new Date("2027-03-31T18:29:59.999Z")), "2026-27");
  assert.equal(financialYear(new Date("2027-03-31T18:30:00Z")), "2027-28");
  assert.equal(financialYear(new Date("2099-12-31T00:00:00Z")), "2099-00");
  assert.equal(financialYearStart("2026-27").toISOString(), "2026-03-31T18:30:00.000Z");
  assert.equal(financialYearEnd("2026-27").toISOString(), "2027-03-31T18:30:00.000Z");
  assert.equal(formatPaperNo("invoice", "2026-27", 1), "F/2026-27/000001");
  assert.equal(formatPaperNo("credit_note", "2026-27", 999_999), "C/2026-27/999999");
  assert.equal(formatPaperNo("invoice", "2026-27", 1_000_000), "F/26-27/1000000");
  assert.ok(formatPaperNo("invoice", "2026-27", 99_999_999).length <= 16);
});

const anyPaise = fc.integer({ min: 0, max: 1_000_000_000_000 });
const anyGstin = fc.constantFrom("27AAPFU0939F1ZV", "29AAGCB7383J1Z4", null);

test("the place of supply decides which taxes there are, and they sum to the tax", () => {
  fc.assert(
    fc.property(anyPaise, anyGstin, (gstPaise, gstin) => {
      const split = splitGst(gstPaise, gst, { gstin });
      const { cgst_paise, sgst_paise, igst_paise, place_of_supply } = split;
      assert.equal(cgst_paise + sgst_paise + igst_paise, gstPaise);
      assert.ok(Math.abs(cgst_paise - sgst_paise) <= 1);
      assert.equal(place_of_supply, gstin?.slice(0, 2) ?? "27");
      if (place_of_supply === "27") assert.equal(igst_paise, 0);
      else assert.equal(igst_paise, gstPaise);
    }),
  );
});

test("tax is withheld once on each paisa above the year's threshold", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyPaise, fc.nat(50_000)), { maxLength: 30 }), (sales) => {
      let [sold, taxed] = [0, 0];
      for (const [valuePaise, fee] of sales) {
        const allInPaise = Math.max(0, valuePaise - fee);
        const year = { sold_paise: sold, taxed_paise: taxed };
        const { tds_base_paise, tds_paise } = withholdFrom({ valuePaise, allInPaise }, tds, {
          year,
        });
        sold += valuePaise;
        taxed += tds_base_paise;
        assert.ok(tds_paise <= allInPaise && tds_base_paise <= valuePaise);
        assert.ok(Math.abs(tds_paise * 1_000 - tds_base_paise) <= 500 || tds_paise === allInPaise);
        assert.ok(taxed <= Math.max(0, sold - tds.threshold_paise));
      }
      // What is under half a paisa of tax is not withheld, and comes with the next sale.
      assert.ok(Math.max(0, sold - tds.threshold_paise) - taxed < 500 + 50_000 * sales.length);
    }),
  );
});

test("the tax movements of a side sum to zero, and a reversal undoes them", () => {
  const side = fc.record({
    side: fc.constantFrom("sell" as const, "buy" as const),
    firmId: fc.constant("frm_01jd2m7q4x8r5v6w9y0abcdefg"),
    valuePaise: anyPaise,
    allInPaise: anyPaise,
    feePaise: fc.nat(1_000_000),
    gstPaise: fc.nat(180_000),
  });
  fc.assert(
    fc.property(side, anyGstin, anyPaise, (given, gstin, sold_paise) => {
      const leg = {
        environment: "live",
        settlementId: "stl_01jd2m7q4x8r5v6w9y0abcdefg",
        ordinal: 3,
        isCross: false,
        sides: [given],
      } as const;
      const tax = taxSide(leg, given, {
        rates: { gst, tds, scrip: undefined, fee: undefined, rails: undefined },
        taxpayer: { pan: null, gstin },
        year: { sold_paise, taxed_paise: 0 },
      });
      if (!tax) return;
      const balances = new Map<string, number>();
      const back: LegTax = { ...tax, kind: "credit_note" };
      const names = new Set<number | undefined>();
      for (const entry of [...buildTaxEntries(tax), ...buildTaxEntries(back)]) {
        names.add(entry.ordinal);
        for (const movement of entry.movements) {
          if (!("paise" in movement)) assert.fail("taxes are money");
          assert.ok(movement.paise > 0);
          for (const [account, sign] of [
            [movement.from, -1],
            [movement.to, 1],
          ] as const) {
            balances.set(account.kind, (balances.get(account.kind) ?? 0) + sign * movement.paise);
          }
        }
      }
      assert.ok([...balances.values()].every((paise) => paise === 0));
      assert.ok(names.size === 0 || names.size === 2);
      const own = buildTaxEntries(tax).flatMap(({ movements }) => movements);
      const toState = own.reduce((sum, each) => sum + ("paise" in each ? each.paise : 0), 0);
      const gstPart = tax.fee_paise > 0 ? given.gstPaise : 0;
      assert.equal(toState, gstPart + tax.tds_paise);
    }),
  );
});

test("a company is one payee on every desk, and its PAN cannot be read from the key", () => {
  const one = toPayeeKey({ pan: "AAPFU0939F", gstin: null }, "frm_1");
  assert.equal(one, toPayeeKey({ pan: "AAPFU0939F", gstin: "27AAPFU0939F1ZV" }, "frm_2"));
  assert.notEqual(one, toPayeeKey({ pan: null, gstin: null }, "frm_1"));
  assert.match(one, /^[0-9a-f]{64}$/);
});

test("a certificate counts for what is wholly within its limit", () => {
  const year = { sold_paise: tds.threshold_paise, taxed_paise: 0 };
  const sale = { valuePaise: 1_000_000, allInPaise: 990_000 };
  const certificate = { certificate_no: "LDC/1", rate_bps: 2, left_paise: 1_000_000 };
  const less = withholdFrom(sale, tds, { year, certificate });
  assert.deepEqual([less.tds_bps, less.tds_paise, less.tds_certificate], [2, 200, "LDC/1"]);
  const none = withholdFrom(sale, tds, { year, certificate: { ...certificate, rate_bps: 0 } });
  assert.deepEqual([none.tds_base_paise, none.tds_paise], [1_000_000, 0]);
  const beyond = { ...certificate, left_paise: 999_999 };
  const full = withholdFrom(sale, tds, { year, certificate: beyond });
  assert.deepEqual([full.tds_bps, full.tds_paise, full.tds_certificate], [10, 1_000, null]);
});

test("a proposed line is not in force until it is confirmed", () => {
  const rows = [
    row("tds", "2026-01-01"),
    { ...row("tds", "2026-04-01"), act: "2025", confirmed_by: null },
  ];
  assert.equal(findRates("2026-05-01", rows).tds?.act, "1961");
  const confirmed = rows.map((each) => ({ ...each, confirmed_by: "asha" }));
  assert.equal(findRates("2026-05-01", confirmed).tds?.act, "2025");
});
