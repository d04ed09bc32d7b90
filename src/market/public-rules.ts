// The rules of the public API: the rate index, and enquiries.
//
// The rate index is the price that sellers received on one IST day, one figure per scheme.
//
//   count    deals of the day at arm's length: the seller is a client of the service and neither the
//            buyer's own firm nor in its group, and the deal has not failed
//   enough   at least three different sellers; otherwise the last figure is carried and marked so
//   trim     sort deals by price, cut a tenth of the day's face off each end, in paise: a deal on the
//            edge counts with the rest of its face
//   mean     of the remaining prices, weighted by face, to the nearest bps, halves up
//
// Trimming face rather than deals means that a deal counts the same whole or in pieces, and that a
// firm with less than a tenth of the day's face cannot move the figure past the others' prices.

import {
  findEmailProblem,
  findIecProblem,
  toInternationalPhone,
  findPhoneProblem,
  normalizeIdentifier,
  type Problem,
} from "../kernel/identifiers.ts";
import { type Ownership } from "../firms/rules.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { isHouse } from "../kernel/ids.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { asAmount, sumPaise, priceCeil, priceFloor } from "../kernel/money.ts";
import { type Scheme, schemes, type Side, sides } from "../kernel/scheme.ts";
import {
  addDays,
  dayMs,
  isCalendarDay,
  type IstDay,
  istDay,
  istDayStart,
  minuteMs,
} from "../kernel/time.ts";
import { priceAsk, priceBid, type RateCard } from "../rates/rules.ts";

export const sellersMin = 3;
/** 1/10 of the day's face is cut off each end. */
export const trimDivisor = 10;
/** Leaves time for the deals of the day's last second to commit. */
export const fixDelayMs = 15 * minuteMs;

export const bases = ["deals", "carried", "none"] as const;
type Basis = (typeof bases)[number];

/** The facts of a deal that the index is computed from. */
type DealOnTape = {
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly face_paise: number;
  readonly seller_bps: number;
  readonly state: string;
};

/** The figure of one scheme for one day. */
export type IndexFigure = {
  readonly scheme: Scheme;
  readonly day: IstDay;
  readonly basis: Basis;
  readonly index_bps: number | null;
  /** The day of the deals it is computed from; earlier than `day` when carried. */
  readonly deals_on: IstDay | null;
  readonly deal_count: number | null;
  readonly seller_count: number | null;
  readonly face_paise: number | null;
};

type PricedFace = { readonly face_paise: number; readonly seller_bps: number };

export function computeFigure(
  { scheme, day }: { readonly scheme: Scheme; readonly day: IstDay },
  deals: readonly (PricedFace & { readonly seller: string })[],
  previous: Pick<IndexFigure, "index_bps" | "deals_on"> | undefined,
): IndexFigure {
  const sellers = new Set(deals.map(({ seller }) => seller)).size;
  if (sellers >= sellersMin) {
    return {
      scheme,
      day,
      basis: "deals",
      index_bps: trimmedMeanBps(deals),
      deals_on: day,
      deal_count: deals.length,
      seller_count: sellers,
      face_paise: asAmount(sumPaise(deals.map((deal) => deal.face_paise))),
    };
  }
  const carried = previous?.index_bps ?? null;
  return {
    scheme,
    day,
    basis: carried === null ? "none" : "carried",
    index_bps: carried,
    deals_on: carried === null ? null : (previous?.deals_on ?? null),
    deal_count: null,
    seller_count: null,
    face_paise: null,
  };
}

/** The deals at arm's length, each with its seller: one company (PAN) is one seller on all desks. */
export function selectArmsLengthDeals<Deal extends DealOnTape>(
  deals: readonly Deal[],
  relations: ReadonlyMap<string, Ownership>,
  housePan: string | null = null,
): (Deal & { readonly seller: string })[] {
  const isHouseToo = (firmId: string) =>
    housePan !== null && relations.get(firmId)?.pan === housePan;
  return deals
    .filter((deal) => isAtArmsLength(deal, relations))
    .filter((deal) => !isHouseToo(deal.seller_firm_id) && !isHouseToo(deal.buyer_firm_id))
    .map((deal) => ({
      ...deal,
      seller: relations.get(deal.seller_firm_id)?.pan ?? deal.seller_firm_id,
    }));
}

function isAtArmsLength(
  { seller_firm_id, buyer_firm_id, state }: DealOnTape,
  relations: ReadonlyMap<string, Ownership>,
): boolean {
  if (state === "failed" || isHouse(seller_firm_id) || seller_firm_id === buyer_firm_id) {
    return false;
  }
  const seller = relations.get(seller_firm_id);
  const buyer = relations.get(buyer_firm_id);
  if (!seller || !buyer) return true;
  const isOneCompany = seller.pan !== null && seller.pan === buyer.pan;
  const isOneGroup = seller.groupId !== null && seller.groupId === buyer.groupId;
  return !isOneCompany && !isOneGroup;
}

export function trimmedMeanBps(deals: readonly PricedFace[]): number {
  const total = deals.reduce((sum, { face_paise }) => sum + BigInt(face_paise), 0n);
  const cut = total / BigInt(trimDivisor);
  const [keptFrom, keptTo] = [cut, total - cut];
  let position = 0n;
  let product = 0n;
  for (const { face_paise, seller_bps } of deals.toSorted((a, b) => a.seller_bps - b.seller_bps)) {
    const end = position + BigInt(face_paise);
    const from = position > keptFrom ? position : keptFrom;
    const to = end < keptTo ? end : keptTo;
    if (to > from) product += (to - from) * BigInt(seller_bps);
    position = end;
  }
  const kept = keptTo - keptFrom;
  return Number((2n * product + kept) / (2n * kept));
}

/** The oldest day that is over and not fixed; days are fixed in order. */
export function findDayToFix({
  lastFixed,
  firstDealAt,
  now,
}: {
  readonly lastFixed: IstDay | undefined;
  readonly firstDealAt: Date | undefined;
  readonly now: Date;
}): IstDay | undefined {
  const next = lastFixed === undefined ? firstDealAt && istDay(firstDealAt) : addDays(lastFixed, 1);
  if (next === undefined) return undefined;
  const fixedFrom = istDayStart(addDays(next, 1)).getTime() + fixDelayMs;
  return now.getTime() >= fixedFrom ? next : undefined;
}

export const historyDaysMax = 3_660;

/** The year 0 is not in PostgreSQL's calendar. */
export function isIndexDay(text: string): boolean {
  return isCalendarDay(text) && !text.startsWith("0");
}

/** Whole seconds until the next IST day, at least 1. */
export function secondsToMidnight(now: Date): number {
  const midnight = istDayStart(addDays(istDay(now), 1));
  return Math.ceil((midnight.getTime() - now.getTime()) / 1_000);
}

export const enquiryKinds = [...sides, "contact"] as const;
export type EnquiryKind = (typeof enquiryKinds)[number];

export const enquiryStatuses = ["received", "closed"] as const;
export type EnquiryStatus = (typeof enquiryStatuses)[number];

export const enquiryLifecycle = {
  noun: "enquiry",
  initial: ["received"],
  states: enquiryStatuses,
  moves: { close: { from: ["received"], to: "closed", by: "operator" } },
} as const satisfies Lifecycle<EnquiryStatus>;

/** Personal data is deleted after `keptDays`, or earlier once the enquiry is closed. */
const keptDays = 180;
const keptAfterCloseDays = 30;

export function computeRetentionEnd(receivedAt: Date, closedAt: Date | null): Date {
  const latest = receivedAt.getTime() + keptDays * dayMs;
  if (closedAt === null) return new Date(latest);
  return new Date(Math.min(latest, closedAt.getTime() + keptAfterCloseDays * dayMs));
}

/** The sealed part of an enquiry. */
export type Person = {
  readonly name: string;
  readonly email: string;
  readonly phone: string | null;
  readonly iec: string | null;
  readonly message: string | null;
};

/** Normalises a visitor's input, or refuses it with every field that is wrong. */
export function parsePerson(given: {
  readonly name: string;
  readonly email: string;
  readonly phone?: string;
  readonly iec?: string;
  readonly message?: string;
}): Person {
  const person = {
    name: given.name.trim().replace(/\s+/g, " "),
    email: given.email.trim().toLowerCase(),
    phone: given.phone === undefined ? null : (toInternationalPhone(given.phone) ?? null),
    iec: given.iec === undefined ? null : normalizeIdentifier(given.iec),
    message: given.message?.trim() ?? null,
  };
  const problems: [string, Problem][] = [
    ["name", person.name === "" ? "is required" : undefined],
    ["email", findEmailProblem(person.email)],
    ["phone", given.phone === undefined ? undefined : findPhoneProblem(given.phone)],
    ["iec", person.iec === null ? undefined : findIecProblem(person.iec, null)],
    ["message", person.message === "" ? "is required" : undefined],
  ];
  const fields = problems.flatMap(([path, problem]): FieldProblem[] =>
    problem === undefined ? [] : [{ path, problem }],
  );
  if (fields.length > 0) throw unprocessable(...fields);
  return person;
}

/** Allowance for market moves between an estimate and a quote. */
export const estimateSlackBps = 25;

export const noEstimateReasons = [
  "market_unavailable",
  "size_unavailable",
  "validity_unavailable",
] as const;
type NoEstimateReason = (typeof noEstimateReasons)[number];

type PriceEstimate =
  | {
      readonly kind: "range";
      readonly lowBps: number;
      readonly highBps: number;
      readonly lowPaise: number;
      readonly highPaise: number;
    }
  | { readonly kind: "none"; readonly reason: NoEstimateReason };

/**
 * A price range by the current card. A seller's price depends on the days that the credit is still
 * valid; where these are not given, the range spans every validity.
 */
export function estimatePrice(
  card: RateCard | undefined,
  {
    side,
    amountPaise,
    daysLeft,
  }: {
    readonly side: Side;
    readonly amountPaise: number;
    readonly daysLeft: number | undefined;
  },
): PriceEstimate {
  if (card?.state !== "open") return { kind: "none", reason: "market_unavailable" };
  if (side === "buy") {
    const ask = priceAsk(card, amountPaise);
    const lowBps = Math.max(ask - estimateSlackBps, card.floor_bps);
    const highBps = Math.min(ask + estimateSlackBps, card.ask_ceiling_bps);
    return toRange(amountPaise, { lowBps, highBps, paise: priceCeil });
  }
  if (amountPaise > card.face_max_paise) return { kind: "none", reason: "size_unavailable" };
  const validities =
    daysLeft === undefined ? card.validity_bands.map(({ from_days }) => from_days) : [daysLeft];
  const bids = validities.flatMap((days) => priceBid(card, amountPaise, days) ?? []);
  if (bids.length === 0) return { kind: "none", reason: "validity_unavailable" };
  const lowBps = Math.max(Math.min(...bids) - estimateSlackBps, card.floor_bps);
  const highBps = Math.min(Math.max(...bids) + estimateSlackBps, card.ceiling_bps);
  return toRange(amountPaise, { lowBps, highBps, paise: priceFloor });
}

function toRange(
  amountPaise: number,
  {
    lowBps,
    highBps,
    paise,
  }: { lowBps: number; highBps: number; paise: (amount: number, bps: number) => number },
): PriceEstimate {
  const lowPaise = paise(amountPaise, lowBps);
  return { kind: "range", lowBps, highBps, lowPaise, highPaise: paise(amountPaise, highBps) };
}

/** A day of the preview's simulated index. */
type SimulatedDay = { readonly day: IstDay; readonly index_bps: number };

/** How many days of history a preview shows. */
export const previewDays = 365;

/**
 * Simulated figures around what the card pays sellers, the same for everybody who asks about a day.
 * They show how the page looks with a history; nothing was dealt at them.
 */
export function simulateIndex(
  card: Pick<RateCard, "scheme" | "mid_bps" | "half_spread_bps" | "floor_bps">,
  today: IstDay,
): SimulatedDay[] {
  const { scheme, mid_bps, half_spread_bps, floor_bps } = card;
  const phase = schemes.indexOf(scheme);
  return Array.from({ length: previewDays }, (_, at) => {
    const day = addDays(today, at + 1 - previewDays);
    const age = istDayStart(day).getTime() / dayMs;
    const wave = 45 * Math.sin(age / 29 + phase) + 14 * Math.sin(age / 6 + 2 * phase);
    const bps = Math.round(mid_bps - half_spread_bps - 25 + wave);
    return { day, index_bps: Math.min(Math.max(bps, floor_bps), mid_bps) };
  });
}
