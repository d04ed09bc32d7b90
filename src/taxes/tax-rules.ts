// The taxes on a deal, decided once, when a credit is delivered:
//
//   gst   the tax on a fee is divided by the place of supply: within the house's state into CGST and
//         SGST, otherwise it is IGST. The amount paid does not change.
//   tds   a buyer of goods withholds tax from a seller above a threshold per financial year. The seller
//         is paid that much less, and the house owes it to the state in the seller's name.
//
// Both are off until a rate with an effective day is set. The decision is stored with the leg, so a
// later rate does not change it, and a reversal returns exactly what was taken.

import { createHash } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import { notFound, unprocessable } from "../kernel/failure.ts";
import {
  sumParts,
  type Bps,
  bpsOfPar,
  gstBps,
  type Paise,
  type PaiseSum,
  roundNearest,
} from "../kernel/money.ts";
import { type Side, sides } from "../kernel/scheme.ts";
import type { FinancialYear, IstDay } from "../kernel/time.ts";
import type { Account, Entry, Movement } from "../ledger/rules.ts";

export const taxLines = ["gst", "tds"] as const;

export type TaxLine = (typeof taxLines)[number];

export function parseTaxLine(name: string | undefined): TaxLine {
  const line = taxLines.find((known) => known === name);
  if (!line) throw notFound();
  return line;
}

/** How the tax on a fee is divided. */
export type GstRate = {
  readonly cgst_bps: Bps;
  readonly sgst_bps: Bps;
  readonly igst_bps: Bps;
  /** The first two digits of the house's GSTIN. */
  readonly house_state: string;
};

/** How much is withheld from sellers. */
export type TdsRate = {
  readonly section: string;
  readonly rate_bps: Bps;
  readonly threshold_paise: Paise;
  /** Whether crosses count too; the house is not the buyer there. */
  readonly with_crosses: boolean;
};

export type RateRow = {
  readonly environment: Environment;
  readonly line: TaxLine;
  readonly effective_from: IstDay;
  readonly is_on: boolean;
} & { readonly [Field in keyof (GstRate & TdsRate)]: (GstRate & TdsRate)[Field] | null };

/** The rates in force on a day. */
export type Rates = { readonly gst: GstRate | undefined; readonly tds: TdsRate | undefined };

/** The latest row of each line up to a day; the rows are of one environment. */
export function findRates(day: IstDay, rows: readonly RateRow[]): Rates {
  const inForce = (line: TaxLine) =>
    rows
      .filter((row) => row.line === line && row.effective_from <= day)
      .toSorted((one, other) => (one.effective_from < other.effective_from ? 1 : -1))
      .at(0);
  const [gst, tds] = [inForce("gst"), inForce("tds")];
  return {
    gst: gst?.is_on ? (gst as GstRate) : undefined, // The table's checks hold its columns to its line.
    tds: tds?.is_on ? (tds as TdsRate) : undefined,
  };
}

const rateBpsMax: Bps = 3_000;
const sectionForm = /^[0-9A-Z()-]{3,12}$/;
const stateForm = /^[0-9]{2}$/;

/** Refuses a first day that is too early: a rate in force is not changed. */
export function refuseEarly(environment: Environment, from: IstDay, today: IstDay): void {
  if (from > today || (environment === "sandbox" && from === today)) return;
  const problem = environment === "live" ? "must be after today" : "must not be in the past";
  throw unprocessable({ path: "from", problem });
}

/** `state` is the house's, where it is set. */
export function refuseGst(
  { cgst_bps, sgst_bps, igst_bps, house_state }: GstRate,
  state: string | null,
): void {
  if (!stateForm.test(house_state) || (state !== null && house_state !== state)) {
    throw unprocessable({
      path: "state",
      problem: `must be the state of the house, ${state ?? "two digits"}`,
    });
  }
  if (cgst_bps + sgst_bps !== gstBps || igst_bps !== gstBps) {
    const problem = `cgst and sgst together, and igst, must be the ${gstBps} bps that fees bear`;
    throw unprocessable({ path: "rates", problem });
  }
}

export function refuseTds({ section, rate_bps, threshold_paise }: TdsRate): void {
  if (!sectionForm.test(section)) {
    throw unprocessable({ path: "section", problem: "must be a section like 194Q" });
  }
  if (rate_bps < 1 || rate_bps > rateBpsMax) {
    throw unprocessable({ path: "bps", problem: `must be 1 to ${rateBpsMax}` });
  }
  if (!Number.isSafeInteger(threshold_paise)) {
    throw unprocessable({ path: "threshold", problem: "is more than money can be" });
  }
}

/** A delivered leg as tax is computed on it; the house's side is left out. */
export type TaxableLeg = {
  readonly environment: Environment;
  readonly settlementId: string;
  readonly ordinal: number;
  readonly isCross: boolean;
  readonly sides: readonly TaxableSide[];
};

export type TaxableSide = {
  readonly side: Side;
  readonly firmId: string;
  /** The price of the credit before the fee. */
  readonly valuePaise: Paise;
  /** The money that the side pays or gets. */
  readonly allInPaise: Paise;
  readonly feePaise: Paise;
  readonly gstPaise: Paise;
};

/** A firm's tax numbers. */
export type Taxpayer = { readonly pan: string | null; readonly gstin: string | null };

export const documentKinds = ["invoice", "credit_note"] as const;

export type DocumentKind = (typeof documentKinds)[number];

export type GstSplit = {
  readonly place_of_supply: string | null;
  readonly cgst_bps: Bps;
  readonly sgst_bps: Bps;
  readonly igst_bps: Bps;
  readonly cgst_paise: Paise;
  readonly sgst_paise: Paise;
  readonly igst_paise: Paise;
};

export type Withholding = {
  readonly tds_section: string | null;
  readonly tds_bps: Bps;
  /** The part of the value that tax was withheld on. */
  readonly tds_base_paise: Paise;
  readonly tds_paise: Paise;
};

/** The taxes of one side of a leg. */
export type LegTax = GstSplit &
  Withholding & {
    readonly settlement_id: string;
    readonly ordinal: number;
    readonly side: Side;
    readonly kind: DocumentKind;
    readonly environment: Environment;
    readonly firm_id: string;
    readonly fee_paise: Paise;
  };

const noGstSplit: GstSplit = {
  place_of_supply: null,
  cgst_bps: 0,
  sgst_bps: 0,
  igst_bps: 0,
  cgst_paise: 0,
  sgst_paise: 0,
  igst_paise: 0,
};

/** Without a GSTIN, the place of supply is the house's state. The parts sum exactly to the tax. */
export function splitGst(
  gstPaise: Paise,
  rate: GstRate | undefined,
  { gstin }: Pick<Taxpayer, "gstin">,
): GstSplit {
  if (!rate) return noGstSplit;
  const place_of_supply = gstin?.slice(0, 2) ?? rate.house_state;
  if (place_of_supply !== rate.house_state) {
    return { ...noGstSplit, place_of_supply, igst_bps: rate.igst_bps, igst_paise: gstPaise };
  }
  const { cgst_bps, sgst_bps } = rate;
  const cgst_paise = roundNearest(BigInt(gstPaise) * BigInt(cgst_bps), BigInt(cgst_bps + sgst_bps));
  const sgst_paise = gstPaise - cgst_paise;
  return { ...noGstSplit, place_of_supply, cgst_bps, sgst_bps, cgst_paise, sgst_paise };
}

/** A payee's sales in a financial year, and the part of them that tax was withheld on. */
export type PayeeYear = { readonly sold_paise: PaiseSum; readonly taxed_paise: PaiseSum };

const nothingWithheld: Withholding = {
  tds_section: null,
  tds_bps: 0,
  tds_base_paise: 0,
  tds_paise: 0,
};

/**
 * The tax withheld from one sale: on the part above the year's threshold that was not taxed before.
 * Rounded to the nearest paisa, and never more than the seller gets.
 */
export function withholdFrom(
  { valuePaise, allInPaise }: Pick<TaxableSide, "valuePaise" | "allInPaise">,
  rate: TdsRate,
  year: PayeeYear,
): Withholding {
  const sold = BigInt(year.sold_paise) + BigInt(valuePaise);
  const untaxed = sold - BigInt(rate.threshold_paise) - BigInt(year.taxed_paise);
  if (untaxed <= 0n) return nothingWithheld;
  const base = untaxed < BigInt(valuePaise) ? Number(untaxed) : valuePaise;
  const tax = roundNearest(BigInt(base) * BigInt(rate.rate_bps), BigInt(bpsOfPar));
  const tds_paise = Math.min(tax, allInPaise);
  if (tds_paise === 0) return nothingWithheld;
  return { tds_section: rate.section, tds_bps: rate.rate_bps, tds_base_paise: base, tds_paise };
}

/** The taxes of a side; undefined where there are none. */
export function taxSide(
  leg: TaxableLeg,
  side: TaxableSide,
  { rates, taxpayer, year }: { rates: Rates; taxpayer: Taxpayer; year: PayeeYear | undefined },
): LegTax | undefined {
  const isWithheld = side.side === "sell" && year !== undefined && rates.tds !== undefined;
  const withheld = isWithheld && rates.tds ? withholdFrom(side, rates.tds, year) : nothingWithheld;
  const hasFee = rates.gst !== undefined && side.feePaise > 0;
  if (!hasFee && withheld.tds_paise === 0) return undefined;
  return {
    settlement_id: leg.settlementId,
    ordinal: leg.ordinal,
    side: side.side,
    kind: "invoice",
    environment: leg.environment,
    firm_id: side.firmId,
    fee_paise: hasFee ? side.feePaise : 0,
    ...(hasFee ? splitGst(side.gstPaise, rates.gst, taxpayer) : noGstSplit),
    ...withheld,
  };
}

/** Whether tax is withheld from the sellers of this leg. */
export function isWithheldFrom({ isCross }: TaxableLeg, { tds }: Rates): boolean {
  return tds !== undefined && (tds.with_crosses || !isCross);
}

/** A digest of the PAN: one company may be a firm of several desks. */
export function toPayeeKey({ pan }: Taxpayer, firmId: string): string {
  return createHash("sha256")
    .update(pan ?? firmId)
    .digest("hex");
}

/** A leg has an ordinal for each side and kind of document. */
function toTaxOrdinal({ ordinal, side, kind }: LegTax): number {
  const perLeg = sides.length * documentKinds.length;
  return ordinal * perLeg + sides.indexOf(side) + sides.length * documentKinds.indexOf(kind);
}

/** The entry of a side's taxes; none where all amounts are zero. */
export function buildTaxEntries(tax: LegTax): Entry[] {
  const seller: Account = { kind: "firm_cash", firmId: tax.firm_id };
  const undivided: Account = { kind: "gst_payable" };
  const moves = [
    { from: undivided, to: { kind: "cgst_payable" }, paise: tax.cgst_paise },
    { from: undivided, to: { kind: "sgst_payable" }, paise: tax.sgst_paise },
    { from: undivided, to: { kind: "igst_payable" }, paise: tax.igst_paise },
    { from: seller, to: { kind: "tds_payable" }, paise: tax.tds_paise },
  ] as const;
  const movements = moves
    .filter(({ paise }) => paise > 0)
    .map(({ from, to, paise }): Movement =>
      tax.kind === "invoice" ? { from, to, paise } : { from: to, to: from, paise },
    );
  if (movements.length === 0) return [];
  const { environment, settlement_id: subject } = tax;
  return [
    { environment, kind: "tax", subject, ordinal: toTaxOrdinal(tax), phase: "posted", movements },
  ];
}

/** Sums of CGST, SGST and IGST, with their names and rates. */
export function sumDividedTax(taxes: readonly GstSplit[]) {
  return (["cgst", "sgst", "igst"] as const).flatMap((kind) => {
    const own = taxes.filter((tax) => tax[`${kind}_paise`] > 0);
    const paise = sumParts(own.map((tax) => tax[`${kind}_paise`]));
    const rate_bps = own[0]?.[`${kind}_bps`] ?? 0;
    const name = `${kind.toUpperCase()} ${formatRate(rate_bps)} %`;
    return own.length === 0 ? [] : [{ kind, name, rate_bps, paise }];
  });
}

/** `TDS 0.1 % under section 194Q` */
export function describeWithholding({ tds_section, tds_bps }: Withholding): string {
  return `TDS ${formatRate(tds_bps)} % under section ${tds_section ?? ""}`;
}

function formatRate(bps: Bps): string {
  return String(bps / 100);
}

/** `F/2026-27/000001`: 16 characters, the legal maximum for a tax invoice. */
export function formatDocumentNo(kind: DocumentKind, year: FinancialYear, number: number): string {
  const letter = kind === "invoice" ? "F" : "C";
  const digits = String(number).padStart(6, "0");
  // From number 1,000,000 on, the century is dropped to stay within 16 characters.
  const shown = digits.length > 6 ? year.slice(2) : year;
  return `${letter}/${shown}/${digits}`;
}
