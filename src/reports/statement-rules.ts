// A statement accounts for a firm's money over one month in IST, from the postings in the books only.
//
//   running       the month is not over
//   provisional   the month is over; entries that were under way may still be added
//   final         frozen; later corrections are lines of a later month
//
// The balance is the firm's cash and commission. Dues to the house are shown apart: a reversal is shown
// whole, and the part that the firm's cash could not cover as carried to its dues.

import { parseOrdinal } from "../settlement/commission-rules.ts";
import {
  sumParts,
  addPaise,
  negatePaise,
  type Paise,
  type PaiseSum,
  scripHsn,
  subtractPaise,
  sumPaise,
} from "../kernel/money.ts";
import { isId } from "../kernel/ids.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Side } from "../kernel/scheme.ts";
import { periodSpan, previousPeriod } from "../kernel/months.ts";
import { type IstMonth, istMonth, istTimestamp } from "../kernel/time.ts";
import { addWorkingDays, type Calendar } from "../kernel/working-days.ts";
import type { EntryKind } from "../ledger/rules.ts";
import {
  sumDividedTax,
  type LegTax,
  describeWithholding,
  toTaxOrdinal,
} from "../taxes/tax-rules.ts";
import { toSideFee, type LegFees } from "../settlement/rules.ts";

export const statementStates = ["running", "provisional", "final"] as const;

type StatementState = (typeof statementStates)[number];

export const lineKinds = [
  "sale",
  "purchase",
  "fee",
  "gst",
  "cgst",
  "sgst",
  "igst",
  "tds",
  "deposit",
  "payout",
  "refund",
  "reversal",
  "dues",
  "default",
  "commission",
  "adjustment",
] as const;

export type LineKind = (typeof lineKinds)[number];

/** The state of a statement that is not final. */
export function openState(period: IstMonth, now: Date): Exclude<StatementState, "final"> {
  return period === istMonth(now) ? "running" : "provisional";
}

/** A statement of more lines is stored as pages and read in parts. */
export const linesMax = 20_000;

/** Lines per stored page, and in one response for a part. */
export const partMax = 2_000;

/** Entries carry the start time of their transaction; after this grace all of a month's are committed. */
const graceMs = 3_600_000;

/**
 * The last month whose statement can be frozen. In production a month is closed at the end of the first
 * bank day after it, so that the desk has a working day to check it.
 */
export function lastClosedPeriod(
  now: Date,
  environment: Environment,
  calendar: Calendar,
): IstMonth {
  const settled = new Date(now.getTime() - graceMs);
  const last = previousPeriod(istMonth(settled));
  if (environment === "sandbox") return last;
  const firstClose = addWorkingDays(periodSpan(last).to, 0, "bank", calendar);
  return now < firstClose ? previousPeriod(last) : last;
}

/** A posting on one of the firm's accounts. */
export type Posting = {
  readonly entry_no: number;
  readonly at: Date;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinal: number;
  readonly account_kind: "firm_cash" | "desk_commission" | "firm_dues";
  readonly paise: PaiseSum;
};

/** The facts of a dealt credit that a statement shows. */
export type LegFacts = LegFees & {
  readonly ordinal: number;
  readonly scrip_no: string;
  readonly scheme: string;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly face_paise: Paise;
  readonly seller_bps: number;
  readonly buyer_bps: number;
};

export type StatementFacts = {
  readonly firmId: string;
  /** By settlement. */
  readonly legs: ReadonlyMap<string, readonly LegFacts[]>;
  /** The taxes of legs, by settlement; empty while no tax line is configured. */
  readonly taxes: ReadonlyMap<string, readonly LegTax[]>;
  /** By payout. */
  readonly payments: ReadonlyMap<
    string,
    { readonly utr: string | null; readonly rail: string; readonly kind: string }
  >;
};

export type Line = {
  readonly line_no: number;
  readonly at: string;
  readonly kind: LineKind;
  readonly description: string;
  /** The settlement, the payout, or the bank's reference of a deposit. */
  readonly reference: string;
  readonly utr: string | null;
  readonly hsn: string | null;
  readonly scheme: string | null;
  readonly scrip_nos: readonly string[];
  readonly face_paise: Paise | null;
  readonly price_bps: number | null;
  readonly amount_paise: PaiseSum;
  readonly balance_paise: PaiseSum;
};

/** A line without its number, time and balance. */
type LineDraft = Omit<Line, "line_no" | "at" | "balance_paise">;

/** Builds the lines of a span with running balances, numbered from `before` on. Yields after each. */
export function* makeLines(
  openingPaise: PaiseSum,
  postings: readonly Posting[],
  facts: StatementFacts,
  before = 0,
): Generator<void, readonly Line[]> {
  const lines: Line[] = [];
  let balance = openingPaise;
  for (const group of yield* groupPostings(postings)) {
    yield;
    for (const draft of draftLines(group, facts)) {
      balance = addPaise(balance, draft.amount_paise);
      const at = istTimestamp(group.at);
      const line_no = before + lines.length + 1;
      lines.push({ line_no, at, ...draft, balance_paise: balance });
    }
  }
  return lines;
}

/** Postings of one kind, subject and time. The hold and settlement of a deal are one group. */
type PostingGroup = {
  readonly at: Date;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinals: readonly number[];
  /** The sum of all postings, including dues. */
  readonly wholePaise: PaiseSum;
  /** The part of a loss that became dues. */
  readonly owedPaise: PaiseSum;
};

function* groupPostings(postings: readonly Posting[]): Generator<void, Iterable<PostingGroup>> {
  const groups = new Map<string, Posting[]>();
  for (const posting of postings) {
    const { at, kind, subject } = posting;
    const name = [at.getTime(), isDeal(kind) ? "deal" : kind, subject].join(" ");
    const group = groups.get(name);
    if (group) group.push(posting);
    else groups.set(name, [posting]);
    yield;
  }
  return groups.values().flatMap(toPostingGroup);
}

function toPostingGroup(group: readonly Posting[]): PostingGroup[] {
  const [first] = group;
  if (!first) return [];
  const dues = group.filter(({ account_kind }) => account_kind === "firm_dues");
  return [
    {
      at: first.at,
      kind: first.kind,
      subject: first.subject,
      ordinals: [...new Set(group.map(({ ordinal }) => ordinal))],
      wholePaise: sumPaise(group.map(({ paise }) => paise)),
      owedPaise: negatePaise(sumPaise(dues.map(({ paise }) => paise))),
    },
  ];
}

function isDeal(kind: EntryKind): boolean {
  return kind === "deal_hold" || kind === "deal_settlement";
}

function draftLines(group: PostingGroup, facts: StatementFacts): LineDraft[] {
  return [...draftMainLines(group, facts), ...draftDues(group)];
}

function draftMainLines(group: PostingGroup, facts: StatementFacts): LineDraft[] {
  const { kind, subject, wholePaise } = group;
  const blank = { ...emptyDetails, reference: subject, amount_paise: wholePaise };
  switch (kind) {
    case "deal_hold":
    case "deal_settlement":
      return draftDeal(group, facts, "dealt");
    case "reversal":
      return draftDeal(group, facts, "reversed");
    case "commission":
      return [draftCommission(group, facts)];
    case "deposit":
      return [{ ...blank, kind: "deposit", description: "Deposit received", utr: subject }];
    case "payout":
      return [draftPayout(group, facts)];
    case "tax":
      return [draftWithholding(group, facts)];
    case "dues":
      return []; // draftDues shows the payment.
    case "refund":
      return [{ ...blank, kind: "refund", description: "Deposit reversed", utr: subject }];
    case "late_transfer":
      return [{ ...blank, kind: "reversal", description: "Refund reversed: the credit came" }];
    case "default": {
      const description =
        wholePaise < 0
          ? "Default: you were late at customs"
          : "Default of the other side, which was late at customs";
      return [{ ...blank, kind: "default", description }];
    }
    case "payout_return":
      return [{ ...blank, kind: "refund", description: "Refund" }];
    default:
      return [{ ...blank, kind: "adjustment", description: "Adjustment" }];
  }
}

const emptyDetails = {
  utr: null,
  hsn: null,
  scheme: null,
  scrip_nos: [],
  face_paise: null,
  price_bps: null,
} as const;

/** Value, fee and tax as lines of their own, which sum to the postings. */
function draftDeal(
  { subject, ordinals, wholePaise }: PostingGroup,
  facts: StatementFacts,
  what: "dealt" | "reversed",
): LineDraft[] {
  const legs = (facts.legs.get(subject) ?? []).filter((leg) => ordinals.includes(leg.ordinal));
  const side: Side = legs.some((leg) => leg.seller_firm_id === facts.firmId) ? "sell" : "buy";
  const sign = what === "dealt" ? -1 : 1;
  const fee = sign * sumParts(legs.map((leg) => toSideFee(side, leg).feePaise));
  const gst = sign * sumParts(legs.map((leg) => toSideFee(side, leg).gstPaise));
  const noun = side === "sell" ? "sale" : "purchase";
  const scheme = legs[0]?.scheme ?? null;
  const scrips = `${legs.length} ${scheme ?? ""} ${legs.length === 1 ? "scrip" : "scrips"}`;
  const act = what === "dealt" ? capitalize(noun) : `Reversal of ${noun}`;
  const about = { ...emptyDetails, reference: subject, scheme };
  const value: LineDraft = {
    ...about,
    kind: what === "dealt" ? noun : "reversal",
    description: `${act} of ${scrips}, HSN ${scripHsn}, exempt`,
    hsn: scripHsn,
    scrip_nos: legs.map((leg) => leg.scrip_no),
    face_paise: sumParts(legs.map((leg) => leg.face_paise)),
    price_bps: findCommonPrice(legs, side),
    amount_paise: subtractPaise(wholePaise, fee + gst),
  };
  const back = what === "dealt" ? "" : ", returned";
  const taxes = (facts.taxes.get(subject) ?? []).filter(
    (tax) =>
      tax.side === side &&
      tax.kind === (what === "dealt" ? "invoice" : "credit_note") &&
      legs.some((leg) => leg.ordinal === tax.ordinal),
  );
  const divided = sumDividedTax(taxes).map(({ kind, name, paise }) => ({
    ...about,
    kind,
    description: `${name} on fee${back}`,
    amount_paise: sign * paise,
  }));
  const undivided = gst - sumParts(divided.map((draft) => draft.amount_paise));
  return [
    value,
    { ...about, kind: "fee" as const, description: `Fee${back}`, amount_paise: fee },
    ...divided,
    {
      ...about,
      kind: "gst" as const,
      description: `GST 18 % on fee${back}`,
      amount_paise: undivided,
    },
  ].filter((draft) => draft === value || draft.amount_paise !== 0);
}

/** Tax withheld from a seller, or returned by a reversal. */
function draftWithholding(
  { subject, ordinals, wholePaise }: PostingGroup,
  { firmId, taxes }: StatementFacts,
): LineDraft {
  const own = (taxes.get(subject) ?? []).filter(
    (tax) => tax.firm_id === firmId && tax.tds_paise > 0 && ordinals.includes(toTaxOrdinal(tax)),
  );
  const name = [...new Set(own.map(describeWithholding))].join("; ") || "TDS";
  return {
    ...emptyDetails,
    kind: "tds",
    description: wholePaise < 0 ? name : `${name}, returned`,
    reference: subject,
    amount_paise: wholePaise,
  };
}

function findCommonPrice(legs: readonly LegFacts[], side: Side): number | null {
  const prices = new Set(legs.map((leg) => (side === "sell" ? leg.seller_bps : leg.buyer_bps)));
  return prices.size === 1 ? ([...prices][0] ?? null) : null;
}

function draftCommission(
  { subject, ordinals, wholePaise }: PostingGroup,
  { legs }: StatementFacts,
): LineDraft {
  const earned = new Set(ordinals.map((ordinal) => parseOrdinal(ordinal).legOrdinal));
  const own = (legs.get(subject) ?? []).filter((leg) => earned.has(leg.ordinal));
  return {
    ...emptyDetails,
    kind: "commission",
    description: wholePaise < 0 ? "Commission taken back" : "Commission on your clients' deal",
    reference: subject,
    scheme: own[0]?.scheme ?? null,
    scrip_nos: own.map((leg) => leg.scrip_no),
    face_paise: sumParts(own.map((leg) => leg.face_paise)),
    amount_paise: wholePaise,
  };
}

function draftPayout(
  { subject, wholePaise }: PostingGroup,
  { payments }: StatementFacts,
): LineDraft {
  const payment = isId("pay", subject) ? payments.get(subject) : undefined;
  return {
    ...emptyDetails,
    kind: "payout",
    description: payment ? `${paymentName(payment)} by ${payment.rail}` : "Payout",
    reference: subject,
    utr: payment?.utr ?? subject,
    amount_paise: wholePaise,
  };
}

function paymentName({ kind }: { readonly kind: string }): string {
  return kind === "withdrawal" ? "Withdrawal" : "Payout";
}

/** The balance never falls below zero: the rest of a loss is carried to the dues. */
function draftDues({ subject, owedPaise }: PostingGroup): LineDraft[] {
  if (owedPaise === 0) return [];
  const description = owedPaise > 0 ? "Carried to your dues" : "Dues settled";
  return [
    { ...emptyDetails, kind: "dues", description, reference: subject, amount_paise: owedPaise },
  ];
}

export type Total = {
  readonly kind: LineKind;
  readonly lines: number;
  readonly amount_paise: PaiseSum;
};

/** The total of each kind of line, in the order of `lineKinds`. */
export function sumByKind(lines: readonly Line[]): Total[] {
  const byKind = Map.groupBy(lines, (line) => line.kind);
  return lineKinds.flatMap((kind) => {
    const own = byKind.get(kind);
    if (!own) return [];
    return [
      { kind, lines: own.length, amount_paise: sumPaise(own.map((line) => line.amount_paise)) },
    ];
  });
}

/** Adds the totals of two parts of one span. */
export function addTotals(one: readonly Total[], other: readonly Total[]): Total[] {
  return lineKinds.flatMap((kind) => {
    const own = [...one, ...other].filter((total) => total.kind === kind);
    if (own.length === 0) return [];
    const lines = own.reduce((count, total) => count + total.lines, 0);
    return [{ kind, lines, amount_paise: sumPaise(own.map((total) => total.amount_paise)) }];
  });
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
