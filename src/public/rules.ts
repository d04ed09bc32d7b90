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

import type { Kin } from "../firms/rules.ts";
import { isHouse } from "../kernel/house.ts";
import type { Scheme } from "../kernel/scheme.ts";
import {
  addDays,
  isCalendarDay,
  type IstDay,
  istDay,
  istDayStart,
  minuteMs,
} from "../kernel/time.ts";

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
