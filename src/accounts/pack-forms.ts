// The forms of others, which a person checks before use: the draft of a GSTR-1 as the portal's offline tool
// takes it, and vouchers as Tally imports them. `pack-forms.test.ts` has an example of each.

import { type PaiseSum, rupeesPlain, sumPaise } from "../kernel/money.ts";
import type { IstDay, IstMonth } from "../kernel/time.ts";
import type { Voucher } from "./pack-rules.ts";

export type TaxedPaper = {
  readonly no: string;
  readonly kind: "invoice" | "credit_note";
  readonly on: IstDay;
  readonly gstin: string | null;
  readonly place: string;
  readonly sac: string | null;
  /** The rate of GST of its day. */
  readonly gst_bps: number;
  readonly fee_paise: number;
  readonly cgst_paise: number;
  readonly sgst_paise: number;
  readonly igst_paise: number;
};

export type ExemptPaper = {
  readonly no: string;
  readonly kind: "bill_of_supply" | "supply_return";
  readonly gstin: string | null;
  readonly place: string | null;
  readonly hsn: string;
  /** How many credits it is about. */
  readonly credits: number;
  readonly value_paise: number;
};

type Return = {
  readonly gstin: string | null;
  readonly state: string | null;
  readonly period: IstMonth;
  readonly taxed: readonly TaxedPaper[];
  readonly exempt: readonly ExemptPaper[];
};

/** Rupees as a number with two decimals, which fifteen digits hold exactly. */
const rupees = (paise: PaiseSum) => Number(rupeesPlain(paise));

/** `19-11-2026` */
const formDay = (day: IstDay) => day.split("-").toReversed().join("-");

const isRegistered = ({ gstin }: { readonly gstin: string | null }) => gstin !== null;

const findRate = ({ gst_bps }: TaxedPaper) => gst_bps / 100;

function itemDetails(papers: readonly TaxedPaper[]) {
  const sum = (field: "fee_paise" | "cgst_paise" | "sgst_paise" | "igst_paise") =>
    rupees(
      sumPaise(papers.map((paper) => (paper.kind === "invoice" ? paper[field] : -paper[field]))),
    );
  return {
    txval: sum("fee_paise"),
    iamt: sum("igst_paise"),
    camt: sum("cgst_paise"),
    samt: sum("sgst_paise"),
    csamt: 0,
  };
}

/** As if a credit note were an invoice: its amounts are above zero. */
const asInvoice = (paper: TaxedPaper): TaxedPaper => ({ ...paper, kind: "invoice" });

function byGstin(papers: readonly TaxedPaper[]): [string, TaxedPaper[]][] {
  return [...Map.groupBy(papers, ({ gstin }) => gstin ?? "")].filter(([gstin]) => gstin !== "");
}

function describePaper(paper: TaxedPaper) {
  const { fee_paise, cgst_paise, sgst_paise, igst_paise } = paper;
  return {
    val: rupees(fee_paise + cgst_paise + sgst_paise + igst_paise),
    pos: paper.place,
    rchrg: "N",
    inv_typ: "R",
    itms: [{ num: 1, itm_det: { rt: findRate(paper), ...itemDetails([asInvoice(paper)]) } }],
  };
}

/** Table 8: exempt supplies, across a border or within the state, to the registered and to others. */
function describeExempt({ state, exempt }: Pick<Return, "state" | "exempt">) {
  const kinds = ["INTRB2B", "INTRB2C", "INTRAB2B", "INTRAB2C"] as const;
  const findSupplyType = ({ gstin, place }: ExemptPaper) =>
    `${place === null || place === state ? "INTRA" : "INTR"}${gstin === null ? "B2C" : "B2B"}`;
  return kinds.map((sply_ty) => ({
    sply_ty,
    expt_amt: rupees(sumExempt(exempt.filter((paper) => findSupplyType(paper) === sply_ty))),
    nil_amt: 0,
    ngsup_amt: 0,
  }));
}

function sumExempt(papers: readonly ExemptPaper[]): PaiseSum {
  return sumPaise(
    papers.map(({ kind, value_paise }) => (kind === "bill_of_supply" ? value_paise : -value_paise)),
  );
}

/** The kinds of papers as table 13 numbers them: invoices for outward supply, and credit notes. */
const kindsOfPapers = [
  { doc_num: 1, kinds: ["invoice", "bill_of_supply"] },
  { doc_num: 5, kinds: ["credit_note", "supply_return"] },
] as const;

/** Table 13: how many papers of each series were issued. */
function describeSeries(papers: readonly (TaxedPaper | ExemptPaper)[]) {
  return kindsOfPapers.flatMap(({ doc_num, kinds }) => {
    const series = kinds
      .map((kind) => papers.filter((paper) => paper.kind === kind))
      .filter((own) => own.length > 0);
    if (series.length === 0) return [];
    const docs = series.map((own, at) => {
      const numbers = own.map(({ no }) => no).toSorted();
      return {
        num: at + 1,
        from: numbers.at(0),
        to: numbers.at(-1),
        totnum: own.length,
        cancel: 0,
        net_issue: own.length,
      };
    });
    return [{ doc_num, docs }];
  });
}

/** Table 12: what was supplied by its code, of the registered and of others. */
function describeCodes(taxed: readonly TaxedPaper[], exempt: readonly ExemptPaper[]) {
  const services = Map.groupBy(taxed, (paper) => `${paper.sac ?? ""} ${findRate(paper)}`);
  const goods = Map.groupBy(exempt, ({ hsn }) => hsn);
  return [
    ...[...services.values()].flatMap((own) => {
      const [first] = own;
      if (!first) return [];
      const code = { hsn_sc: first.sac ?? "", uqc: "NA", qty: 0 };
      return [{ ...code, rt: findRate(first), ...itemDetails(own) }];
    }),
    ...[...goods].map(([hsn_sc, own]) => ({
      hsn_sc,
      uqc: "NOS",
      qty: own.reduce(
        (count, { kind, credits }) =>
          kind === "bill_of_supply" ? count + credits : count - credits,
        0,
      ),
      rt: 0,
      txval: rupees(sumExempt(own)),
      iamt: 0,
      camt: 0,
      samt: 0,
      csamt: 0,
    })),
  ].map((row, at) => ({ num: at + 1, ...row }));
}

/** The portal refuses tables that are there and empty. */
function dropEmpty(tables: Readonly<Record<string, readonly object[]>>) {
  return Object.fromEntries(Object.entries(tables).filter(([, rows]) => rows.length > 0));
}

export function writeGstr1({ gstin, state, period, taxed, exempt }: Return): object {
  const [year = "", month = ""] = period.split("-");
  const invoices = taxed.filter(({ kind }) => kind === "invoice");
  const notes = taxed.filter(({ kind }) => kind === "credit_note");
  const unregistered = taxed.filter((paper) => !isRegistered(paper));
  return {
    gstin: gstin ?? "",
    fp: `${month}${year}`,
    version: "GST3.1.6",
    ...dropEmpty({
      b2b: byGstin(invoices).map(([ctin, own]) => ({
        ctin,
        inv: own.map((paper) => ({
          inum: paper.no,
          idt: formDay(paper.on),
          ...describePaper(paper),
        })),
      })),
      b2cs: [
        ...Map.groupBy(unregistered, (paper) => `${paper.place} ${findRate(paper)}`).values(),
      ].flatMap((own) => {
        const [first] = own;
        if (!first) return [];
        const sply_ty = first.place === state ? "INTRA" : "INTER";
        return [{ sply_ty, typ: "OE", pos: first.place, rt: findRate(first), ...itemDetails(own) }];
      }),
      cdnr: byGstin(notes).map(([ctin, own]) => ({
        ctin,
        nt: own.map((paper) => ({
          ntty: "C",
          nt_num: paper.no,
          nt_dt: formDay(paper.on),
          ...describePaper(paper),
        })),
      })),
    }),
    nil: { inv: describeExempt({ state, exempt }) },
    hsn: dropEmpty({
      hsn_b2b: describeCodes(taxed.filter(isRegistered), exempt.filter(isRegistered)),
      hsn_b2c: describeCodes(
        unregistered,
        exempt.filter((paper) => !isRegistered(paper)),
      ),
    }),
    doc_issue: { doc_det: describeSeries([...taxed, ...exempt]) },
  };
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

const escapeXml = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/** The group of Tally that a ledger belongs to; what is not named here is a client. */
const groups: Readonly<Record<string, string>> = {
  Bank: "Bank Accounts",
  Fees: "Direct Incomes",
  "Scrip sales, exempt": "Sales Accounts",
  "Scrip purchases, exempt": "Purchase Accounts",
  "Margin between clients": "Direct Incomes",
  "Commission to desks": "Indirect Expenses",
  "House funds": "Capital Account",
  Suspense: "Suspense A/c",
  "TDS payable": "Duties & Taxes",
  "Output GST, undivided": "Duties & Taxes",
  "Output CGST": "Duties & Taxes",
  "Output SGST": "Duties & Taxes",
  "Output IGST": "Duties & Taxes",
};

/** An import of masters and vouchers: the ledgers that are used, then what was posted to them. */
export function* writeTally(vouchers: readonly Voucher[]): Generator<string> {
  const ledgers = [...new Set(vouchers.flatMap(({ lines }) => lines.map(({ ledger }) => ledger)))];
  yield `<?xml version="1.0" encoding="UTF-8"?>
<ENVELOPE>
<HEADER><TALLYREQUEST>Import Data</TALLYREQUEST></HEADER>
<BODY><IMPORTDATA><REQUESTDESC><REPORTNAME>All Masters</REPORTNAME></REQUESTDESC><REQUESTDATA>
`;
  for (const ledger of ledgers.toSorted()) {
    const name = escapeXml(ledger);
    const parent = escapeXml(groups[ledger] ?? "Sundry Creditors");
    yield `<TALLYMESSAGE xmlns:UDF="TallyUDF"><LEDGER NAME="${name}" ACTION="Create"><NAME>${name}</NAME><PARENT>${parent}</PARENT></LEDGER></TALLYMESSAGE>\n`;
  }
  for (const { no, on, type, about, lines } of vouchers) {
    const day = on.replaceAll("-", "");
    yield `<TALLYMESSAGE xmlns:UDF="TallyUDF"><VOUCHER VCHTYPE="${type}" ACTION="Create" OBJVIEW="Accounting Voucher View"><DATE>${day}</DATE><VOUCHERTYPENAME>${type}</VOUCHERTYPENAME><VOUCHERNUMBER>${no}</VOUCHERNUMBER><NARRATION>${escapeXml(about)}</NARRATION>`;
    for (const { ledger, paise } of lines) {
      // Tally writes a debit below zero.
      const amount = rupeesPlain(-BigInt(paise));
      yield `<ALLLEDGERENTRIES.LIST><LEDGERNAME>${escapeXml(ledger)}</LEDGERNAME><ISDEEMEDPOSITIVE>${paise > 0 ? "Yes" : "No"}</ISDEEMEDPOSITIVE><AMOUNT>${amount}</AMOUNT></ALLLEDGERENTRIES.LIST>`;
    }
    yield "</VOUCHER></TALLYMESSAGE>\n";
  }
  yield "</REQUESTDATA></IMPORTDATA></BODY>\n</ENVELOPE>\n";
}
