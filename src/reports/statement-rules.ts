// A statement accounts for a firm's money with us over one month in IST: what was there, what moved
// and what is left, made of the postings in the books and of nothing else.
//
//   running       the month is not over
//   provisional   it is over, and what was under way at its end may still arrive
//   final         made for good; what is corrected later is a line of a later month
//
// The balance is the firm's cash and what it earned as a desk. What it owes the house stands beside
// it: a reversal is shown whole, and what the firm had not left for it as carried to its dues.

import { legOfOrdinal } from "../settlement/commission-rules.ts";
import {
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
import { previousPeriod, spanOf } from "../kernel/months.ts";
import { type IstMonth, istMonth, istTimestamp } from "../kernel/time.ts";
import { addWorkingDays, type Calendar } from "../kernel/working-days.ts";
import type { EntryKind } from "../ledger/rules.ts";
import { dividedTax, type LegTax, withholdingName } from "../settlement/tax-rules.ts";
import { type FeesOfLeg, feeOfSide } from "../settlement/rules.ts";

export const statementStates = ["running", "provisional", "final"] as const;

export type StatementState = (typeof statementStates)[number];

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
  "commission",
  "adjustment",
] as const;

export type LineKind = (typeof lineKinds)[number];

/** Where the statement of a month stands that is not final. */
export function stateOf(period: IstMonth, now: Date): Exclude<StatementState, "final"> {
  return period === istMonth(now) ? "running" : "provisional";
}

/** So many entries and lines are made and shown at once; what is longer is kept and read in parts. */
export const linesMax = 20_000;

/** So many lines are on one page of those that are kept, and in one answer that asks for a part. */
export const partMax = 2_000;

/** Entries carry the time at which their work began: by then all of a month's are in the books. */
export const graceMs = 3_600_000;

/**
 * The last month whose statement can be made for good. In production that is at the close of the first
 * day on which banks work after it, so that the desk has a working day to look at it before.
 */
export function lastClosedPeriod(
  now: Date,
  environment: Environment,
  calendar: Calendar,
): IstMonth {
  const settled = new Date(now.getTime() - graceMs);
  const last = previousPeriod(istMonth(settled));
  if (environment === "sandbox") return last;
  const firstClose = addWorkingDays(spanOf(last).to, 0, "bank", calendar);
  return now < firstClose ? previousPeriod(last) : last;
}

/** What an entry moved on one of the firm's accounts. */
export type Posting = {
  readonly entry_no: number;
  readonly at: Date;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinal: number;
  readonly account_kind: "firm_cash" | "desk_commission" | "firm_dues";
  readonly paise: PaiseSum;
};

/** What a statement says of a credit that was dealt. */
export type LegFacts = FeesOfLeg & {
  readonly ordinal: number;
  readonly scrip_no: string;
  readonly scheme: string;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly face_paise: Paise;
  readonly seller_bps: number;
  readonly buyer_bps: number;
};

export type Facts = {
  readonly firmId: string;
  /** By settlement. */
  readonly legs: ReadonlyMap<string, readonly LegFacts[]>;
  /** What was decided about the taxes of legs, by settlement; nothing while no tax line is set. */
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
  /** What it is about: a settlement, a payout, or the bank's reference of money that came in. */
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

/** A line before its place and the balance after it are known. */
type Draft = Omit<Line, "line_no" | "at" | "balance_paise">;

/**
 * The lines of a span, each with the balance that it leaves; those before it were so many. There is a
 * place to pause after each.
 */
export function* makeLines(
  openingPaise: PaiseSum,
  postings: readonly Posting[],
  facts: Facts,
  before = 0,
): Generator<void, readonly Line[]> {
  const lines: Line[] = [];
  let balance = openingPaise;
  for (const happening of yield* findHappenings(postings)) {
    yield;
    for (const draft of draftsOf(happening, facts)) {
      balance = addPaise(balance, draft.amount_paise);
      const at = istTimestamp(happening.at);
      const line_no = before + lines.length + 1;
      lines.push({ line_no, at, ...draft, balance_paise: balance });
    }
  }
  return lines;
}

/** Postings that belong together: of one kind, about one thing, at one time. */
type Happening = {
  readonly at: Date;
  readonly kind: EntryKind;
  readonly subject: string;
  readonly ordinals: readonly number[];
  /** What the firm gained or lost by it, dues included. */
  readonly wholePaise: PaiseSum;
  /** What of a loss became dues. */
  readonly owedPaise: PaiseSum;
};

function* findHappenings(postings: readonly Posting[]): Generator<void, Iterable<Happening>> {
  const groups = new Map<string, Posting[]>();
  for (const posting of postings) {
    const { at, kind, subject } = posting;
    const name = [at.getTime(), isDeal(kind) ? "deal" : kind, subject].join(" ");
    const group = groups.get(name);
    if (group) group.push(posting);
    else groups.set(name, [posting]);
    yield;
  }
  return groups.values().flatMap(describeHappening);
}

function describeHappening(group: readonly Posting[]): Happening[] {
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

function draftsOf(happening: Happening, facts: Facts): Draft[] {
  return [...mainDrafts(happening, facts), ...duesDrafts(happening)];
}

function mainDrafts(happening: Happening, facts: Facts): Draft[] {
  const { kind, subject, wholePaise } = happening;
  const blank = { ...nothingMore, reference: subject, amount_paise: wholePaise };
  switch (kind) {
    case "deal_hold":
    case "deal_settlement":
      return dealDrafts(happening, facts, "dealt");
    case "reversal":
      return dealDrafts(happening, facts, "reversed");
    case "commission":
      return [commissionDraft(happening, facts)];
    case "deposit":
      return [{ ...blank, kind: "deposit", description: "Deposit received", utr: subject }];
    case "payout":
      return [payoutDraft(happening, facts)];
    case "tax":
      return [withheldDraft(happening, facts)];
    case "dues":
      return []; // What was paid of them is the line of the dues.
    case "refund":
    case "payout_return":
      return [{ ...blank, kind: "refund", description: "Refund" }];
    default:
      return [{ ...blank, kind: "adjustment", description: "Adjustment" }];
  }
}

const nothingMore = {
  utr: null,
  hsn: null,
  scheme: null,
  scrip_nos: [],
  face_paise: null,
  price_bps: null,
} as const;

/** Value, fee and tax: each on its own line, and together what the books moved. */
function dealDrafts(
  { subject, ordinals, wholePaise }: Happening,
  facts: Facts,
  what: "dealt" | "reversed",
): Draft[] {
  const legs = (facts.legs.get(subject) ?? []).filter((leg) => ordinals.includes(leg.ordinal));
  const side: Side = legs.some((leg) => leg.seller_firm_id === facts.firmId) ? "sell" : "buy";
  const sign = what === "dealt" ? -1 : 1;
  const fee = sign * sum(legs.map((leg) => feeOfSide(side, leg).feePaise));
  const gst = sign * sum(legs.map((leg) => feeOfSide(side, leg).gstPaise));
  const noun = side === "sell" ? "sale" : "purchase";
  const scheme = legs[0]?.scheme ?? null;
  const scrips = `${legs.length} ${scheme ?? ""} ${legs.length === 1 ? "scrip" : "scrips"}`;
  const act = what === "dealt" ? capital(noun) : `Reversal of ${noun}`;
  const about = { ...nothingMore, reference: subject, scheme };
  const value: Draft = {
    ...about,
    kind: what === "dealt" ? noun : "reversal",
    description: `${act} of ${scrips}, HSN ${scripHsn}, exempt`,
    hsn: scripHsn,
    scrip_nos: legs.map((leg) => leg.scrip_no),
    face_paise: sum(legs.map((leg) => leg.face_paise)),
    price_bps: commonPrice(legs, side),
    amount_paise: subtractPaise(wholePaise, fee + gst),
  };
  const back = what === "dealt" ? "" : ", returned";
  const taxes = (facts.taxes.get(subject) ?? []).filter(
    (tax) =>
      tax.side === side &&
      tax.kind === (what === "dealt" ? "invoice" : "credit_note") &&
      legs.some((leg) => leg.ordinal === tax.ordinal),
  );
  const divided = dividedTax(taxes).map(({ kind, name, paise }) => ({
    ...about,
    kind,
    description: `${name} on fee${back}`,
    amount_paise: sign * paise,
  }));
  const undivided = gst - sum(divided.map((draft) => draft.amount_paise));
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

/** Tax that was withheld from a seller, or given back with a reversal. */
function withheldDraft({ subject, wholePaise }: Happening, { firmId, taxes }: Facts): Draft {
  const own = (taxes.get(subject) ?? []).find(
    ({ firm_id, tds_paise }) => firm_id === firmId && tds_paise > 0,
  );
  const name = own ? withholdingName(own) : "TDS";
  return {
    ...nothingMore,
    kind: "tds",
    description: wholePaise < 0 ? name : `${name}, returned`,
    reference: subject,
    amount_paise: wholePaise,
  };
}

function commonPrice(legs: readonly LegFacts[], side: Side): number | null {
  const prices = new Set(legs.map((leg) => (side === "sell" ? leg.seller_bps : leg.buyer_bps)));
  return prices.size === 1 ? ([...prices][0] ?? null) : null;
}

function commissionDraft({ subject, ordinals, wholePaise }: Happening, { legs }: Facts): Draft {
  const earned = new Set(ordinals.map((ordinal) => legOfOrdinal(ordinal).legOrdinal));
  const own = (legs.get(subject) ?? []).filter((leg) => earned.has(leg.ordinal));
  return {
    ...nothingMore,
    kind: "commission",
    description: wholePaise < 0 ? "Commission taken back" : "Commission on your clients' deal",
    reference: subject,
    scheme: own[0]?.scheme ?? null,
    scrip_nos: own.map((leg) => leg.scrip_no),
    face_paise: sum(own.map((leg) => leg.face_paise)),
    amount_paise: wholePaise,
  };
}

function payoutDraft({ subject, wholePaise }: Happening, { payments }: Facts): Draft {
  const payment = isId("pay", subject) ? payments.get(subject) : undefined;
  return {
    ...nothingMore,
    kind: "payout",
    description: payment ? `${nameOfPayment(payment)} by ${payment.rail}` : "Payout",
    reference: subject,
    utr: payment?.utr ?? subject,
    amount_paise: wholePaise,
  };
}

function nameOfPayment({ kind }: { readonly kind: string }): string {
  return kind === "withdrawal" ? "Withdrawal" : "Payout";
}

/** The balance never falls below zero: what it could not bear is owed beside it. */
function duesDrafts({ subject, owedPaise }: Happening): Draft[] {
  if (owedPaise === 0) return [];
  const description = owedPaise > 0 ? "Carried to your dues" : "Dues settled";
  return [
    { ...nothingMore, kind: "dues", description, reference: subject, amount_paise: owedPaise },
  ];
}

export type Total = {
  readonly kind: LineKind;
  readonly lines: number;
  readonly amount_paise: PaiseSum;
};

/** What the lines of each kind add up to, in the order of the kinds. */
export function totalsOf(lines: readonly Line[]): Total[] {
  const byKind = Map.groupBy(lines, (line) => line.kind);
  return lineKinds.flatMap((kind) => {
    const own = byKind.get(kind);
    if (!own) return [];
    return [
      { kind, lines: own.length, amount_paise: sumPaise(own.map((line) => line.amount_paise)) },
    ];
  });
}

/** Totals of two parts of one span. */
export function addTotals(one: readonly Total[], other: readonly Total[]): Total[] {
  return lineKinds.flatMap((kind) => {
    const own = [...one, ...other].filter((total) => total.kind === kind);
    if (own.length === 0) return [];
    const lines = sum(own.map((total) => total.lines));
    return [{ kind, lines, amount_paise: sumPaise(own.map((total) => total.amount_paise)) }];
  });
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function sum(paise: readonly Paise[]): Paise {
  return paise.reduce((total, amount) => total + amount, 0);
}
