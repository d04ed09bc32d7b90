// A quote is a price that binds the house for a time: a sell quote for one credit or for an amount of
// credits with at least 365 days left, a buy quote for a bundle of whole credits at one price.
//
//   open ──order──▶ used
//     └──expire──▶ expired
//
// A quote stores the facts it was priced on. An order whose facts have changed since is refused
// with a fresh quote.
//
// "No quote" is a normal answer with two reasons: the market is halted or has no card, or it has no
// price for this size.

import type { Offer } from "../cover/rules.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { priceFloor } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { type CardToday, findRoom, priceBid, quoteWindowMaxS } from "../rates/rules.ts";

export const quoteSides = ["sell", "buy"] as const;

type QuoteSide = (typeof quoteSides)[number];

/** The longest validity of a quote. */
export const quoteWindowMaxMs = quoteWindowMaxS * 1_000;

export const noQuoteReasons = ["market_unavailable", "size_unavailable"] as const;

export type NoQuoteReason = (typeof noQuoteReasons)[number];

export const quoteStates = ["open", "used", "expired"] as const;

type QuoteState = (typeof quoteStates)[number];

export const quoteLifecycle = {
  noun: "quote",
  initial: ["open"],
  states: quoteStates,
  moves: {
    order: { from: ["open"], to: "used" },
    expire: { from: ["open"], to: "expired", by: "clock" },
  },
} as const satisfies Lifecycle<QuoteState>;

/** A quote binds up to and including its last instant. */
export function findQuoteState(
  quote: { readonly order_id: string | null; readonly valid_until: Date },
  now: Date,
): QuoteState {
  if (quote.order_id !== null) return "used";
  return now <= quote.valid_until ? "open" : "expired";
}

/** The request as sent: well-formed field by field. */
export type QuoteRequest = {
  readonly side: QuoteSide;
  readonly scheme?: Scheme;
  readonly face_paise?: number;
  readonly requirement_paise?: number;
  readonly scrip_no?: string;
};

/** What is to be priced. */
export type SellWanted =
  | { readonly side: "sell"; readonly scripNo: string }
  | { readonly side: "sell"; readonly scheme: Scheme; readonly facePaise: number };

export type BuyWanted = {
  readonly side: "buy";
  readonly scheme: Scheme;
  readonly requirementPaise: number;
};

/** Parses one of the three valid combinations; throws a Failure with every wrong field otherwise. */
export function parseWanted(request: QuoteRequest): SellWanted | BuyWanted {
  const { side, scheme, face_paise, requirement_paise, scrip_no } = request;
  if (side === "sell" && scrip_no !== undefined) {
    refuse(surplus(request, ["scheme", "face_paise", "requirement_paise"], "scrip_no"));
    return { side, scripNo: scrip_no };
  }
  if (side === "sell") {
    const problems = surplus(request, ["requirement_paise"], "side sell");
    if (scheme !== undefined && face_paise !== undefined && problems.length === 0) {
      return { side, scheme, facePaise: face_paise };
    }
    throw unprocessable(...missing(request, ["scheme", "face_paise"]), ...problems);
  }
  const problems = surplus(request, ["scrip_no", "face_paise"], "side buy");
  if (scheme !== undefined && requirement_paise !== undefined && problems.length === 0) {
    return { side, scheme, requirementPaise: requirement_paise };
  }
  throw unprocessable(...missing(request, ["scheme", "requirement_paise"]), ...problems);
}

function missing(request: QuoteRequest, fields: readonly (keyof QuoteRequest)[]): FieldProblem[] {
  const absent = fields.filter((path) => request[path] === undefined);
  return absent.map((path) => ({ path, problem: "is required" }));
}

function surplus(
  request: QuoteRequest,
  fields: readonly (keyof QuoteRequest)[],
  beside: string,
): FieldProblem[] {
  const given = fields.filter((path) => request[path] !== undefined);
  return given.map((path) => ({ path, problem: `must not be given with ${beside}` }));
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw unprocessable(...problems);
}

export type NoQuote = { readonly kind: "no_quote"; readonly reason: NoQuoteReason };

export const marketUnavailable: NoQuote = { kind: "no_quote", reason: "market_unavailable" };
export const sizeUnavailable: NoQuote = { kind: "no_quote", reason: "size_unavailable" };

/** A price, and the card it was made from. */
type Price = {
  readonly kind: "price";
  readonly card: CardToday;
  readonly price_bps: number;
  readonly all_in_paise: number;
};

/** The bid of the house for a face and a validity, within its daily limit and of at least a paisa. */
export function findSellPrice(
  card: CardToday | undefined,
  { facePaise, daysLeft }: { readonly facePaise: number; readonly daysLeft: number },
): Price | NoQuote {
  if (card?.state !== "open") return marketUnavailable;
  if (facePaise > card.face_max_paise) return sizeUnavailable;
  if (facePaise > findRoom(card)) return sizeUnavailable;
  const bid = priceBid(card, facePaise, daysLeft);
  const allIn = bid === undefined ? 0 : priceFloor(facePaise, bid);
  if (bid === undefined || allIn === 0) return sizeUnavailable;
  return { kind: "price", card, price_bps: bid, all_in_paise: allIn };
}

/** The priced credit; its scheme and face are columns of the quote. */
export type QuotedCredit = { readonly credit_id: string; readonly expires_on: IstDay };

/** What a delivery must have to get the price of an amount. */
type AmountFacts = { readonly face_min_paise: number; readonly days_left_min: number };

type Nullable<Facts> = { readonly [Name in keyof Facts]: Facts[Name] | null };

/** Facts of a credit or of an amount; all null for quotes older than this column set. */
export type SellFacts = Nullable<QuotedCredit & AmountFacts>;

/** Face and expiry day; for a resting sell also its limit and order. */
type OfferFacts =
  | readonly [facePaise: number, expiresOn: number]
  | readonly [facePaise: number, expiresOn: number, limitBps: number, orderId: string];

/** The facts of each credit of the bundle, in the sequence of scrip_nos; null for older quotes. */
export type BuyFacts = { readonly offers: readonly OfferFacts[] | null };

type PricedFace = { readonly scheme: Scheme; readonly face_paise: number };

export function isPricedCredit(
  quote: PricedFace & Nullable<QuotedCredit>,
  credit: PricedFace & QuotedCredit,
): boolean {
  return (
    quote.credit_id === credit.credit_id &&
    quote.expires_on === credit.expires_on &&
    quote.scheme === credit.scheme &&
    quote.face_paise === credit.face_paise
  );
}

/** Whether a delivery has the size and the validity that the amount was priced for. */
export function isPricedAmount(
  { face_min_paise, days_left_min }: Nullable<AmountFacts>,
  { facePaise, daysLeft }: { readonly facePaise: number; readonly daysLeft: number },
): boolean {
  if (face_min_paise === null || days_left_min === null) return false;
  return facePaise >= face_min_paise && daysLeft >= days_left_min;
}

/** The least face that gets the same bid: a delivery down to it has the priced size. */
export function findLeastFace(card: CardToday, facePaise: number, daysLeft: number): number {
  const bid = priceBid(card, facePaise, daysLeft) ?? 0;
  const starts = [1, ...card.size_bands.flatMap(({ below_paise }) => below_paise ?? [])];
  const below = starts.filter((start) => start <= facePaise).toReversed();
  const lower = below.findIndex((start) => (priceBid(card, start, daysLeft) ?? 0) < bid);
  return below[(lower < 0 ? below.length : lower) - 1] ?? facePaise;
}

export function describeOffer({ face_paise, expires_on, limit_bps, order_id }: Offer): OfferFacts {
  if (order_id === null) return [face_paise, expires_on];
  return [face_paise, expires_on, limit_bps, order_id];
}

export function isPricedOffer(facts: OfferFacts | undefined, offer: Offer): boolean {
  const now = describeOffer(offer);
  return facts?.length === now.length && now.every((fact, at) => fact === facts[at]);
}
