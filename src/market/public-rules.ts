// The rate index: what sellers received for a credit on one IST day, as one price per scheme.
//
//   count    deals of the day at arm's length: the seller is a client of the service and neither the
//            buyer's own firm nor of its group, and the deal has not failed
//   enough   three different sellers or more; otherwise the last figure is carried on and marked so
//   trim     deals by rising price, a tenth of the day's face cut off at each end, in paise: a deal
//            on the edge counts with the part of its face that is left
//   mean     of the prices that are left, weighted by face, to the nearest bps, halves up
//
// Cutting face and not deals means that a deal counts the same whether it came whole or in pieces,
// and that whoever moved less than a tenth of the day cannot take the figure past the others' prices.

import {
  emailProblem,
  iecProblem,
  internationalPhone,
  type Kin,
  phoneProblem,
  plainIdentifier,
  type Problem,
} from "../firms/rules.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { isHouse } from "../kernel/ids.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { priceCeil, priceFloor } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
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
/** One part in so many of the day's face is cut at each end. */
export const trimDivisor = 10;
/** Deals of the last second of a day are still being written when it ends. */
export const fixDelayMs = 15 * minuteMs;

export const bases = ["deals", "carried", "none"] as const;
export type Basis = (typeof bases)[number];

/** What the index asks about a deal. */
export type DealOnTape = {
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
  /** The day whose deals it is made of. */
  readonly deals_on: IstDay | null;
  readonly deal_count: number | null;
  readonly seller_count: number | null;
  readonly face_paise: number | null;
};

type Priced = { readonly face_paise: number; readonly seller_bps: number };

export function figureOf(
  { scheme, day }: { readonly scheme: Scheme; readonly day: IstDay },
  deals: readonly (Priced & { readonly seller: string })[],
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
      face_paise: deals.reduce((sum, { face_paise }) => sum + face_paise, 0),
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

/** The deals that count, each with who sold: one company is one seller, on whichever desks it is. */
export function dealsAtArmsLength<Deal extends DealOnTape>(
  deals: readonly Deal[],
  kinOf: ReadonlyMap<string, Kin>,
): (Deal & { readonly seller: string })[] {
  return deals
    .filter((deal) => isAtArmsLength(deal, kinOf))
    .map((deal) => ({
      ...deal,
      seller: kinOf.get(deal.seller_firm_id)?.pan ?? deal.seller_firm_id,
    }));
}

function isAtArmsLength(
  { seller_firm_id, buyer_firm_id, state }: DealOnTape,
  kinOf: ReadonlyMap<string, Kin>,
): boolean {
  if (state === "failed" || isHouse(seller_firm_id) || seller_firm_id === buyer_firm_id) {
    return false;
  }
  const seller = kinOf.get(seller_firm_id);
  const buyer = kinOf.get(buyer_firm_id);
  if (!seller || !buyer) return true;
  const isOneCompany = seller.pan !== null && seller.pan === buyer.pan;
  const isOneGroup = seller.groupId !== null && seller.groupId === buyer.groupId;
  return !isOneCompany && !isOneGroup;
}

export function trimmedMeanBps(deals: readonly Priced[]): number {
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

/** The oldest day that is over and not fixed yet; days are fixed one after another. */
export function dayToFix({
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

/** Until the next IST day begins, in whole seconds and never none. */
export function secondsToMidnight(now: Date): number {
  const midnight = istDayStart(addDays(istDay(now), 1));
  return Math.ceil((midnight.getTime() - now.getTime()) / 1_000);
}

// Enquiries: what somebody without a key asks of the desk.

export const sides = ["sell", "buy"] as const;
export type Side = (typeof sides)[number];

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

/** Personal data is deleted this long after it came, or earlier once the enquiry is closed. */
export const keptDays = 180;
export const keptAfterCloseDays = 30;

export function forgetAt(receivedAt: Date, closedAt: Date | null): Date {
  const latest = receivedAt.getTime() + keptDays * dayMs;
  if (closedAt === null) return new Date(latest);
  return new Date(Math.min(latest, closedAt.getTime() + keptAfterCloseDays * dayMs));
}

/** Who asks, and what they say: the part of an enquiry that is sealed. */
export type Person = {
  readonly name: string;
  readonly email: string;
  readonly phone: string | null;
  readonly iec: string | null;
  readonly message: string | null;
};

/** What a visitor wrote, each thing in its one spelling, or a refusal that names what is wrong. */
export function personOf(given: {
  readonly name: string;
  readonly email: string;
  readonly phone?: string;
  readonly iec?: string;
  readonly message?: string;
}): Person {
  const person = {
    name: given.name.trim().replace(/\s+/g, " "),
    email: given.email.trim().toLowerCase(),
    phone: given.phone === undefined ? null : (internationalPhone(given.phone) ?? null),
    iec: given.iec === undefined ? null : plainIdentifier(given.iec),
    message: given.message?.trim() ?? null,
  };
  const problems: [string, Problem][] = [
    ["name", person.name === "" ? "is required" : undefined],
    ["email", emailProblem(person.email)],
    ["phone", given.phone === undefined ? undefined : phoneProblem(given.phone)],
    ["iec", person.iec === null ? undefined : iecProblem(person.iec, null)],
    ["message", person.message === "" ? "is required" : undefined],
  ];
  const fields = problems.flatMap(([path, problem]): FieldProblem[] =>
    problem === undefined ? [] : [{ path, problem }],
  );
  if (fields.length > 0) throw unprocessable(...fields);
  return person;
}

/** How far the market may move before somebody who was told a range asks for a price. */
export const estimateSlackBps = 25;

export const noEstimateReasons = ["market_unavailable", "size_unavailable"] as const;
export type NoEstimateReason = (typeof noEstimateReasons)[number];

export type Estimate =
  | {
      readonly kind: "range";
      readonly lowBps: number;
      readonly highBps: number;
      readonly lowPaise: number;
      readonly highPaise: number;
    }
  | { readonly kind: "none"; readonly reason: NoEstimateReason };

/**
 * Between what and what a price would lie, by the card of the moment. A seller's price depends on
 * how long the credit is still valid, which is not asked: the range spans every validity.
 */
export function estimateOf(
  card: RateCard | undefined,
  { side, amountPaise }: { readonly side: Side; readonly amountPaise: number },
): Estimate {
  if (card?.state !== "open") return { kind: "none", reason: "market_unavailable" };
  if (side === "buy") {
    const ask = priceAsk(card, amountPaise);
    const lowBps = Math.max(ask - estimateSlackBps, card.floor_bps);
    const highBps = Math.min(ask + estimateSlackBps, card.ask_ceiling_bps);
    return range(amountPaise, { lowBps, highBps, paise: priceCeil });
  }
  const bids = card.validity_bands.flatMap(
    ({ from_days }) => priceBid(card, amountPaise, from_days) ?? [],
  );
  if (amountPaise > card.face_max_paise || bids.length === 0) {
    return { kind: "none", reason: "size_unavailable" };
  }
  const lowBps = Math.max(Math.min(...bids) - estimateSlackBps, card.floor_bps);
  const highBps = Math.min(Math.max(...bids) + estimateSlackBps, card.ceiling_bps);
  return range(amountPaise, { lowBps, highBps, paise: priceFloor });
}

function range(
  amountPaise: number,
  {
    lowBps,
    highBps,
    paise,
  }: { lowBps: number; highBps: number; paise: (amount: number, bps: number) => number },
): Estimate {
  const lowPaise = paise(amountPaise, lowBps);
  return { kind: "range", lowBps, highBps, lowPaise, highPaise: paise(amountPaise, highBps) };
}
