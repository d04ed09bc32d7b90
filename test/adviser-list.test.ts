// docs/ADVISER.md lists the law that came with the program, as the tables have it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { rupeesText } from "../src/kernel/money.ts";
import { type RateRow } from "../src/taxes/tax-rules.ts";
import { listTaxRates } from "../src/taxes/taxes.ts";
import { startService } from "./support/service.ts";

function describe(row: RateRow): string {
  const percent = (bps: number | null) => `${(bps ?? assert.fail()) / 100} %`;
  const rupees = (paise: number | null) => `₹${rupeesText(paise ?? assert.fail())}`;
  const says = {
    fee: () => `SAC ${row.sac}, GST ${percent(row.gst_bps)}`,
    gst: () => assert.fail("the division of GST is the house's to set"),
    rails: () =>
      `RTGS from ${rupees(row.rtgs_from_paise)}, IMPS up to ${rupees(row.imps_to_paise)}: ${row.citation}`,
    scrip: () => `HSN ${row.hsn}, exempt: ${row.exemption}`,
    tds: () =>
      `Act of ${row.act}, section ${row.section}, payment code ${row.payment_code}, ${percent(row.rate_bps)} beyond ${rupees(row.threshold_paise)} of a seller in a financial year`,
  };
  return `| ${row.line} | ${row.effective_from} | ${says[row.line]()} |`;
}

test("the adviser's list has the law that nobody has confirmed, line by line", async (t) => {
  const { ctx } = await startService(t);
  const page = await readFile(join(import.meta.dirname, "../docs/ADVISER.md"), "utf8");
  const shown = page.match(/^\| [a-z]+ \| \d{4}-.*$/gm);
  for (const environment of ["live", "sandbox"] as const) {
    const rows = (await listTaxRates(ctx, environment)).filter((row) => row.confirmed_by === null);
    assert.deepEqual(shown, rows.map(describe).toSorted(), environment);
  }
});
