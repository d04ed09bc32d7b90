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
import { isCleanText } from "../kernel/json.ts";
import {
  sumParts,
  type Bps,
  bpsOfPar,
  type Paise,
  type PaiseSum,
  roundNearest,
} from "../kernel/money.ts";
import { type Side, sides } from "../kernel/scheme.ts";
import type { FinancialYear, IstDay } from "../kernel/time.ts";
import type { Account, Entry, Movement } from "../ledger/rules.ts";

/** `rails` is no tax; it is law of the same form. */
export const taxLines = ["gst", "tds", "scrip", "fee", "rails"] as const;

export type TaxLine = (typeof taxLines)[number];

export function parseTaxLine(name: string | undefined): TaxLine {
  const line = taxLines.find((known) => known === name);
  if (!line) throw notFound("line");
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
  /** The year of the Income-tax Act that is cited; null in rows from before there were two. */
  readonly act: string | null;
  /** The citation: `194Q`, `393(1) Table Sl. 8(ii)`. */
  readonly section: string;
  /** What the return calls such payments. */
  readonly payment_code: string | null;
  readonly rate_bps: Bps;
  readonly threshold_paise: Paise;
  /** Whether crosses count too; the house is not the buyer there. */
  readonly with_crosses: boolean;
};

/** What the law says of scrips, as their bills of supply quote it. */
export type ScripLaw = {
  /** The heading of the tariff. */
  readonly hsn: string;
  /** The citation by which their supply is exempt. */
  readonly exemption: string;
};

/** What the law says of the house's fee. */
export type FeeLaw = {
  /** The code of the service. */
  readonly sac: string;
  /** All GST on it, in basis points of the fee. */
  readonly gst_bps: Bps;
};

/** Which amounts the rails of banks take. */
export type RailLimits = {
  /** RTGS takes nothing below. */
  readonly rtgs_from_paise: Paise;
  /** IMPS, which is instant at any hour, takes nothing above. */
  readonly imps_to_paise: Paise;
  readonly citation: string;
};

type LineFields = GstRate & TdsRate & ScripLaw & FeeLaw & RailLimits;

export type RateRow = {
  readonly environment: Environment;
  readonly line: TaxLine;
  readonly effective_from: IstDay;
  readonly is_on: boolean;
  /** Who set it or found it right; null for what came with the program and nobody has looked at. */
  readonly confirmed_by: string | null;
} & { readonly [Field in keyof LineFields]: LineFields[Field] | null };

/** What is in force on a day. */
export type Rates = {
  readonly gst: GstRate | undefined;
  readonly tds: TdsRate | undefined;
  readonly scrip: ScripLaw | undefined;
  readonly fee: FeeLaw | undefined;
  readonly rails: RailLimits | undefined;
};

/** A line of tds that came with the program, and that nobody has confirmed. */
export function isProposed({
  line,
  confirmed_by,
}: Pick<RateRow, "line" | "confirmed_by">): boolean {
  return line === "tds" && confirmed_by === null;
}

/** The latest row of each line up to a day; the rows are of one environment. Proposals do not count. */
export function findRates(day: IstDay, rows: readonly RateRow[]): Rates {
  const inForce = (line: TaxLine) =>
    rows
      .filter((row) => row.line === line && row.effective_from <= day && !isProposed(row))
      .toSorted((one, other) => (one.effective_from < other.effective_from ? 1 : -1))
      .at(0);
  const [gst, tds, scrip, fee, rails] = taxLines.map(inForce);
  return {
    gst: gst?.is_on ? (gst as GstRate) : undefined, // The table's checks hold its columns to its line.
    tds: tds?.is_on ? (tds as TdsRate) : undefined,
    scrip: scrip?.is_on ? (scrip as ScripLaw) : undefined,
    fee: fee?.is_on ? (fee as FeeLaw) : undefined,
    rails: rails?.is_on ? (rails as RailLimits) : undefined,
  };
}

/** The Act that a citation is of where nobody says. */
export const currentAct = "2025";

const rateBpsMax: Bps = 3_000;
const actForm = /^[0-9]{4}$/;
const codeForm = /^[0-9A-Z]{1,8}$/;
const sectionLengthMax = 60;
const stateForm = /^[0-9]{2}$/;
const hsnForm = /^[0-9]{4,8}$/;
const citationLengthMax = 300;
const gstBpsMax: Bps = 5_000;

/** Refuses a first day that is too early: a rate in force is not changed. */
export function refuseEarly(environment: Environment, from: IstDay, today: IstDay): void {
  if (from > today || (environment === "sandbox" && from === today)) return;
  const problem = environment === "live" ? "must be after today" : "must not be in the past";
  throw unprocessable({ path: "from", problem });
}

/** `state` is the house's, where it is set; `gstBps` what fees bear on the first day of the line. */
export function refuseGst(
  { cgst_bps, sgst_bps, igst_bps, house_state }: GstRate,
  { state, gstBps }: { readonly state: string | null; readonly gstBps: Bps },
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

export function refuseTds({
  act,
  section,
  payment_code,
  rate_bps,
  threshold_paise,
}: TdsRate): void {
  if (act !== null && !actForm.test(act)) {
    throw unprocessable({ path: "act", problem: "must be the year of an Act" });
  }
  refuseCitation("section", section, sectionLengthMax);
  if (payment_code !== null && !codeForm.test(payment_code)) {
    throw unprocessable({ path: "payment_code", problem: "must be 1 to 8 digits or capitals" });
  }
  if (rate_bps < 1 || rate_bps > rateBpsMax) {
    throw unprocessable({ path: "bps", problem: `must be 1 to ${rateBpsMax}` });
  }
  if (!Number.isSafeInteger(threshold_paise)) {
    throw unprocessable({ path: "threshold", problem: "is more than money can be" });
  }
}

export function refuseScripLaw({ hsn, exemption }: ScripLaw): void {
  if (!hsnForm.test(hsn)) throw unprocessable({ path: "hsn", problem: "must be 4 to 8 digits" });
  refuseCitation("exemption", exemption);
}

export function refuseFeeLaw({ sac, gst_bps }: FeeLaw): void {
  if (!hsnForm.test(sac)) throw unprocessable({ path: "sac", problem: "must be 4 to 8 digits" });
  if (gst_bps > gstBpsMax) {
    throw unprocessable({ path: "gst_bps", problem: `must be at most ${gstBpsMax}` });
  }
}

export function refuseRailLimits({ rtgs_from_paise, imps_to_paise, citation }: RailLimits): void {
  for (const [path, paise] of Object.entries({ rtgs_from_paise, imps_to_paise })) {
    if (!Number.isSafeInteger(paise)) {
      throw unprocessable({ path, problem: "is more than money can be" });
    }
  }
  refuseCitation("citation", citation);
}

function refuseCitation(path: string, citation: string, lengthMax = citationLengthMax): void {
  const isLine = /^\S(.*\S)?$/.test(citation) && isCleanText(citation);
  if (isLine && citation.length >= 3 && citation.length <= lengthMax) return;
  throw unprocessable({ path, problem: `must be 3 to ${lengthMax} characters in one line` });
}

/** A delivered leg as tax is computed on it; the house's side is left out. */
export type TaxableLeg = {
  readonly environment: Environment;
  readonly settlementId: string;
  readonly ordinal: number;
  readonly isCross: boolean;
  readonly sides: readonly TaxableSide[];
};

type TaxableSide = {
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

type GstSplit = {
  readonly place_of_supply: string | null;
  readonly cgst_bps: Bps;
  readonly sgst_bps: Bps;
  readonly igst_bps: Bps;
  readonly cgst_paise: Paise;
  readonly sgst_paise: Paise;
  readonly igst_paise: Paise;
};

type Withholding = {
  readonly tds_act: string | null;
  readonly tds_section: string | null;
  readonly tds_code: string | null;
  /** The payee's certificate by which less was withheld. */
  readonly tds_certificate: string | null;
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
  tds_act: null,
  tds_section: null,
  tds_code: null,
  tds_certificate: null,
  tds_bps: 0,
  tds_base_paise: 0,
  tds_paise: 0,
};

/** A payee's certificate for less withholding, valid on a day, and what of its limit is left. */
export type Certificate = {
  readonly certificate_no: string;
  readonly rate_bps: Bps;
  readonly left_paise: Paise;
};

/**
 * The tax withheld from one sale: on the part above the year's threshold that was not taxed before.
 * Rounded to the nearest paisa, and never more than the seller gets. A certificate counts where the
 * whole of that part is within what is left of its limit.
 */
export function withholdFrom(
  { valuePaise, allInPaise }: Pick<TaxableSide, "valuePaise" | "allInPaise">,
  rate: TdsRate,
  { year, certificate }: { year: PayeeYear; certificate?: Certificate | undefined },
): Withholding {
  const sold = BigInt(year.sold_paise) + BigInt(valuePaise);
  const untaxed = sold - BigInt(rate.threshold_paise) - BigInt(year.taxed_paise);
  if (untaxed <= 0n) return nothingWithheld;
  const base = untaxed < BigInt(valuePaise) ? Number(untaxed) : valuePaise;
  const certified = certificate && base <= certificate.left_paise ? certificate : undefined;
  const { rate_bps } = certified ?? rate;
  const tax = roundNearest(BigInt(base) * BigInt(rate_bps), BigInt(bpsOfPar));
  const tds_paise = Math.min(tax, allInPaise);
  if (tds_paise === 0 && !certified) return nothingWithheld;
  return {
    tds_act: rate.act,
    tds_section: rate.section,
    tds_code: rate.payment_code,
    tds_certificate: certified?.certificate_no ?? null,
    tds_bps: rate_bps,
    tds_base_paise: base,
    tds_paise,
  };
}

/** The taxes of a side; undefined where there are none. */
export function taxSide(
  leg: TaxableLeg,
  side: TaxableSide,
  {
    rates,
    taxpayer,
    year,
    certificate,
  }: {
    rates: Rates;
    taxpayer: Taxpayer;
    year: PayeeYear | undefined;
    certificate?: Certificate | undefined;
  },
): LegTax | undefined {
  const withheld =
    side.side === "sell" && year && rates.tds
      ? withholdFrom(side, rates.tds, { year, certificate })
      : nothingWithheld;
  const hasFee = rates.gst !== undefined && side.feePaise > 0;
  if (!hasFee && withheld.tds_base_paise === 0) return undefined;
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
export function toTaxOrdinal({
  ordinal,
  side,
  kind,
}: Pick<LegTax, "ordinal" | "side" | "kind">): number {
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

/** `TDS 0.1 % under section 194Q, Income-tax Act 1961` */
export function describeWithholding(withheld: Withholding): string {
  const { tds_act: act, tds_section: section, tds_code: code, tds_certificate: no } = withheld;
  return [
    `TDS ${formatRate(withheld.tds_bps)} % under section ${section ?? ""}`,
    ...(act === null ? [] : [`Income-tax Act ${act}`]),
    ...(code === null ? [] : [`code ${code}`]),
    ...(no === null ? [] : [`certificate ${no}`]),
  ].join(", ");
}

/** `9`, of 900 basis points. */
export function formatRate(bps: Bps): string {
  return String(bps / 100);
}

export const supplyKinds = ["bill_of_supply", "supply_return"] as const;

export type SupplyKind = (typeof supplyKinds)[number];

/** The kinds of papers that are numbered, each in a series of its own. */
export type SeriesKind = DocumentKind | SupplyKind;

const letterOfKind = {
  invoice: "F",
  credit_note: "C",
  bill_of_supply: "B",
  supply_return: "R",
} as const satisfies Record<SeriesKind, string>;

/** `B/2026-27`: the series as its numbers begin. */
export function formatSeries(kind: SeriesKind, year: FinancialYear): string {
  return `${letterOfKind[kind]}/${year}`;
}

/** `F/2026-27/000001`: 16 characters, the legal maximum for such a paper. */
export function formatPaperNo(kind: SeriesKind, year: FinancialYear, number: number): string {
  const digits = String(number).padStart(6, "0");
  // From number 1,000,000 on, the century is dropped to stay within 16 characters.
  return `${formatSeries(kind, digits.length > 6 ? year.slice(2) : year)}/${digits}`;
}
