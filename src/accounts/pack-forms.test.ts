// Examples of the forms of others. Whoever changes a form changes its example, and says by what source.

import assert from "node:assert/strict";
import { test } from "node:test";

import { type ExemptPaper, type TaxedPaper, writeGstr1, writeTally } from "./pack-forms.ts";

const invoice: TaxedPaper = {
  no: "F/2026-27/000001",
  kind: "invoice",
  on: "2026-11-19",
  gstin: "29AAGCB7383J1Z4",
  place: "29",
  sac: "996111",
  gst_bps: 1_800,
  fee_paise: 5_000,
  cgst_paise: 0,
  sgst_paise: 0,
  igst_paise: 900,
};
const bill: ExemptPaper = {
  no: "B/2026-27/000001",
  kind: "bill_of_supply",
  gstin: "27AAPFU0939F1ZV",
  place: "27",
  hsn: "4907",
  credits: 3,
  value_paise: 24_594_100,
};

test("a draft of GSTR-1 has taxed papers by GSTIN, exempt supplies by kind, and the series", () => {
  const draft = writeGstr1({
    gstin: "27AAACM1234A1Z5",
    state: "27",
    period: "2026-11",
    taxed: [
      invoice,
      {
        ...invoice,
        no: "F/2026-27/000002",
        gstin: null,
        place: "27",
        igst_paise: 0,
        cgst_paise: 450,
        sgst_paise: 450,
      },
      { ...invoice, no: "C/2026-27/000001", kind: "credit_note" },
    ],
    exempt: [
      bill,
      { ...bill, no: "R/2026-27/000001", kind: "supply_return", credits: 1, value_paise: 100 },
      { ...bill, no: "B/2026-27/000002", gstin: null, value_paise: 300 },
    ],
  });
  const item = { rt: 18, txval: 50, iamt: 9, camt: 0, samt: 0, csamt: 0 };
  const itms = [{ num: 1, itm_det: item }];
  const paper = { val: 59, pos: "29", rchrg: "N", inv_typ: "R", itms };
  const day = "19-11-2026";
  const noTax = { iamt: 0, camt: 0, samt: 0, csamt: 0 };
  const series = (num: number, from: string, to: string, count: number) => ({
    num,
    from,
    to,
    totnum: count,
    cancel: 0,
    net_issue: count,
  });
  const none = { nil_amt: 0, ngsup_amt: 0 };
  assert.deepEqual(draft, {
    gstin: "27AAACM1234A1Z5",
    fp: "112026",
    version: "GST3.1.6",
    b2b: [{ ctin: "29AAGCB7383J1Z4", inv: [{ inum: "F/2026-27/000001", idt: day, ...paper }] }],
    b2cs: [
      {
        sply_ty: "INTRA",
        typ: "OE",
        pos: "27",
        rt: 18,
        txval: 50,
        iamt: 0,
        camt: 4.5,
        samt: 4.5,
        csamt: 0,
      },
    ],
    cdnr: [
      {
        ctin: "29AAGCB7383J1Z4",
        nt: [{ ntty: "C", nt_num: "C/2026-27/000001", nt_dt: day, ...paper }],
      },
    ],
    nil: {
      inv: [
        { sply_ty: "INTRB2B", expt_amt: 0, ...none },
        { sply_ty: "INTRB2C", expt_amt: 0, ...none },
        { sply_ty: "INTRAB2B", expt_amt: 245_940, ...none },
        { sply_ty: "INTRAB2C", expt_amt: 3, ...none },
      ],
    },
    hsn: {
      hsn_b2b: [
        { num: 1, hsn_sc: "996111", uqc: "NA", qty: 0, rt: 18, txval: 0, ...noTax },
        { num: 2, hsn_sc: "4907", uqc: "NOS", qty: 2, rt: 0, txval: 245_940, ...noTax },
      ],
      hsn_b2c: [
        {
          num: 1,
          hsn_sc: "996111",
          uqc: "NA",
          qty: 0,
          rt: 18,
          txval: 50,
          ...noTax,
          camt: 4.5,
          samt: 4.5,
        },
        { num: 2, hsn_sc: "4907", uqc: "NOS", qty: 3, rt: 0, txval: 3, ...noTax },
      ],
    },
    doc_issue: {
      doc_det: [
        {
          doc_num: 1,
          docs: [
            series(1, "F/2026-27/000001", "F/2026-27/000002", 2),
            series(2, "B/2026-27/000001", "B/2026-27/000002", 2),
          ],
        },
        {
          doc_num: 5,
          docs: [
            series(1, "C/2026-27/000001", "C/2026-27/000001", 1),
            series(2, "R/2026-27/000001", "R/2026-27/000001", 1),
          ],
        },
      ],
    },
  });
});

test("a table without rows is left out of the draft", () => {
  const draft = writeGstr1({
    gstin: "27AAACM1234A1Z5",
    state: "27",
    period: "2026-11",
    taxed: [],
    exempt: [bill],
  });
  assert.deepEqual(Object.keys(draft), ["gstin", "fp", "version", "nil", "hsn", "doc_issue"]);
});

test("vouchers for Tally make their ledgers first, and write a debit below zero", () => {
  const voucher = {
    no: 7,
    on: "2026-11-19",
    type: "Sales",
    about: "stl_1 RODTEP-1",
    lines: [
      { ledger: "Asha & Sons", paise: 24_600_000 },
      { ledger: "Scrip sales, exempt", paise: -24_600_000 },
    ],
  } as const;
  assert.equal(
    [...writeTally([voucher])].join(""),
    `<?xml version="1.0" encoding="UTF-8"?>
<ENVELOPE>
<HEADER><TALLYREQUEST>Import Data</TALLYREQUEST></HEADER>
<BODY><IMPORTDATA><REQUESTDESC><REPORTNAME>All Masters</REPORTNAME></REQUESTDESC><REQUESTDATA>
<TALLYMESSAGE xmlns:UDF="TallyUDF"><LEDGER NAME="Asha &amp; Sons" ACTION="Create"><NAME>Asha &amp; Sons</NAME><PARENT>Sundry Creditors</PARENT></LEDGER></TALLYMESSAGE>
<TALLYMESSAGE xmlns:UDF="TallyUDF"><LEDGER NAME="Scrip sales, exempt" ACTION="Create"><NAME>Scrip sales, exempt</NAME><PARENT>Sales Accounts</PARENT></LEDGER></TALLYMESSAGE>
<TALLYMESSAGE xmlns:UDF="TallyUDF"><VOUCHER VCHTYPE="Sales" ACTION="Create" OBJVIEW="Accounting Voucher View"><DATE>20261119</DATE><VOUCHERTYPENAME>Sales</VOUCHERTYPENAME><VOUCHERNUMBER>7</VOUCHERNUMBER><NARRATION>stl_1 RODTEP-1</NARRATION><ALLLEDGERENTRIES.LIST><LEDGERNAME>Asha &amp; Sons</LEDGERNAME><ISDEEMEDPOSITIVE>Yes</ISDEEMEDPOSITIVE><AMOUNT>-246000.00</AMOUNT></ALLLEDGERENTRIES.LIST><ALLLEDGERENTRIES.LIST><LEDGERNAME>Scrip sales, exempt</LEDGERNAME><ISDEEMEDPOSITIVE>No</ISDEEMEDPOSITIVE><AMOUNT>246000.00</AMOUNT></ALLLEDGERENTRIES.LIST></VOUCHER></TALLYMESSAGE>
</REQUESTDATA></IMPORTDATA></BODY>
</ENVELOPE>
`,
  );
});
