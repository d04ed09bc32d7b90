// Decides the orders of one set in the sequence they arrived, on rows that are loaded and
// locked. An order sees what the orders before it took. Nothing here reaches the database: results
// collect in the match state.
//
// An order is refused by the first condition that does not hold:
//
//   404   the quote, the firm or the credit is not there for this caller
//   403   the key may not buy, or the order is above one of its limits
//   409   the quote was used, the quote has expired, the firm may not trade, the credit is not
//         sellable or the ledger names another owner, an order rests for the requirement or it is
//         covered, the firm has nothing to deliver, a credit of
//         the bundle is gone, the facts behind the quote have changed, there is no price

import { setImmediate as nextTurn } from "node:timers/promises";

import { findBrokenLimit, type MoneyLimits } from "../access/key-rules.ts";
import type { Offer } from "../cover/rules.ts";
import { type CoverPlan, SearchNeeded } from "../cover/search-cover.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import { findNotSellableReason, creditNotSellable } from "../credits/rules.ts";
import type { TradingFirm } from "../firms/find-firms.ts";
import {
  type Cover,
  coverRests,
  findUncoveredPaise,
  ordersMax,
} from "../firms/requirement-rules.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import { aboveKeyLimit, buySideOff, type Call } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import type { JsonObject } from "../kernel/json.ts";
import { type Paise, sumParts } from "../kernel/money.ts";
import { istTimestamp } from "../kernel/time.ts";
import { idempotencyOwner, visibleTo } from "../kernel/visibility.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { differences, computeFingerprint, keyReused } from "../platform/http/idempotency.ts";
import { amountDaysMin } from "../rates/rules.ts";
import { OwnersDisputed } from "../settlement/open-settlements.ts";
import { buyCover, buyQuoted, chooseDeliverable, type Draft, sellCredits } from "./match-order.ts";
import type { MatchState } from "./match-state.ts";
import {
  factsChanged,
  otherFirm,
  quoteExpired,
  quoteUsed,
  requirementCovered,
  tooManyCovers,
} from "./order-refusals.ts";
import { findRestingPaise, type Intent } from "./order-rules.ts";
import type { OrderRow } from "./order-store.ts";
import { isPricedCredit } from "./quote-rules.ts";
import type { LockedQuote } from "./quotes.ts";
import type { DeliveryPlan } from "./sell-amounts.ts";

export type OrderCommand = {
  readonly call: Call;
  readonly intent: Intent;
  /** The order's own key; a batch gives each of its items one. */
  readonly idempotencyKey: string | null;
  readonly request: JsonObject;
  /** The quote must be valid at this time, however long the order waits in the queue. */
  readonly receivedAt: Date;
  /** The requirement that it is to cover, and whose uncovered amount it asks for. */
  readonly covers?: string;
  /** Cover from a longer search: undefined before the search, null when it found none. */
  readonly plan?: CoverPlan | null;
  /** Credits for its amount, from a search without the match lock; null when that found none. */
  readonly delivery?: DeliveryPlan | null;
};

/** A requirement, and what orders before the set have bought for it. */
export type RequirementToCover = { readonly amountPaise: Paise; readonly bought: Cover };

/** A command with the rows it names, as far as its caller may see them. */
export type Loaded = OrderCommand & {
  readonly quote: LockedQuote | undefined;
  readonly firm: TradingFirm | undefined;
  /** The credit that the order or its quote names. */
  readonly credit: DealtCredit | undefined;
  /** The requirement that it is to cover, if it is still there. */
  readonly cover: RequirementToCover | undefined;
  /** Credits that the firm could deliver for an amount. */
  readonly deliverable: readonly DealtCredit[];
  /** The quoted bundle: an offer for each credit that is available, otherwise its scrip number. */
  readonly bundle: readonly (Offer | string)[];
  readonly limits: MoneyLimits;
  /** Whether another transaction locks a credit that it names or could deliver. */
  readonly isHeld: boolean;
};

export type OrderDecision =
  | { readonly kind: "placed" | "replayed"; readonly orderId: string }
  | { readonly kind: "refused"; readonly failure: Failure }
  /** Not placed: another transaction locks a row it needs. It retries without the match lock. */
  | { readonly kind: "held" }
  /** Not placed: its cover, or what it delivers, is searched for first, without the match lock. */
  | { readonly kind: "deferred"; readonly search: SearchNeeded | undefined };

/**
 * Longer than elsewhere, and outside the shared queue for long work: the database ends a transaction
 * that holds the match lock and stays idle for 1.5 s.
 */
const pieceMs = 15;
/** After this much time the rest of a set is decided without pauses. */
const pausesMaxMs = 500;

/** Yields to the event loop between pieces of a large set; the set keeps the match lock. */
export async function decideOrders(
  matchState: MatchState,
  loaded: readonly Loaded[],
): Promise<OrderDecision[]> {
  // Orders of one instant are served by id, so ids rise in the sequence of arrival.
  const orderIds = loaded.map(() => newId("ord", matchState.now)).toSorted();
  const pausesUntilMs = performance.now() + pausesMaxMs;
  const pause = async () => {
    if (performance.now() < pausesUntilMs) await nextTurn();
  };
  return await mapPaced(
    loaded,
    (item, at) => decideOrder(matchState, item, orderIds[at] ?? ""),
    openPace({ pieceMs, nextTurn: pause }),
  );
}

function decideOrder(matchState: MatchState, loaded: Loaded, orderId: string): OrderDecision {
  const original = loaded.idempotencyKey && matchState.originals.get(originalKey(loaded));
  if (original) return answerReplay(original, loaded);
  const item = askUncovered(matchState, loaded);
  const failure = findRefusal(matchState, item);
  if (!failure && item.isHeld) return { kind: "held" };
  const outcome = failure ?? matchDraft(matchState, item, buildDraft(matchState, item, orderId));
  if (outcome instanceof Failure) return { kind: "refused", failure: outcome };
  if (outcome instanceof SearchNeeded) return { kind: "deferred", search: outcome };
  if (outcome === "unplanned") return { kind: "deferred", search: undefined };
  if (outcome === "held") return { kind: "held" };
  recordPlaced(matchState, item, outcome);
  return { kind: "placed", orderId: outcome.order_id };
}

/** A cover asks for what the orders before it have left uncovered, those of its set included. */
function askUncovered({ placed }: MatchState, item: Loaded): Loaded {
  const { cover, covers: requirementId, intent } = item;
  if (!cover || intent.ask.kind !== "requirement") return item;
  const own = [...placed.values()].filter((order) => order.requirement_id === requirementId);
  const { coveredPaise, restingPaise, orderIds } = cover.bought;
  const bought = {
    coveredPaise: sumParts([coveredPaise, ...own.map((order) => order.dealt_paise)]),
    restingPaise: sumParts([restingPaise, ...own.map(findRestingPaise)]),
    orderIds: [...orderIds, ...own.map((order) => order.order_id)],
  };
  const requirementPaise = findUncoveredPaise(cover.amountPaise, bought);
  const ask = { ...intent.ask, requirementPaise };
  return { ...item, cover: { ...cover, bought }, intent: { ...intent, ask } };
}

function originalKey({ call, idempotencyKey }: Pick<OrderCommand, "call" | "idempotencyKey">) {
  return `${idempotencyOwner(call.caller)} ${idempotencyKey}`;
}

/**
 * The same request gets its original order; a different one is refused with the fields that differ.
 */
function answerReplay(original: OrderRow, { request }: Loaded): OrderDecision {
  const differs = differences(
    computeFingerprint(original.request ?? {}),
    computeFingerprint(request),
  );
  if (differs.length === 0) return { kind: "replayed", orderId: original.order_id };
  return { kind: "refused", failure: keyReused("order", { order_id: original.order_id, differs }) };
}

function findRefusal(matchState: MatchState, item: Loaded): Failure | undefined {
  return refuseUnknown(item) ?? refuseByKey(matchState, item) ?? refuseByState(matchState, item);
}

function refuseUnknown(item: Loaded): Failure | undefined {
  const { intent, quote, firm, credit, isHeld } = item;
  const isQuoted = intent.ask.kind === "quote";
  if (isQuoted && !quote) return notFound("quote_ref");
  if (!firm) return notFound("firm_id");
  if (item.covers !== undefined && !item.cover) return notFound("requirement_id");
  const named = intent.ask.kind === "credit" || typeof quote?.scrip_no === "string";
  if (named && !credit && !isHeld) return notFound("scrip_no");
  if (isQuoted && intent.firmId !== null && intent.firmId !== firm.firm_id) {
    return otherFirm();
  }
  return undefined;
}

function refuseByKey(matchState: MatchState, item: Loaded): Failure | undefined {
  const { call, limits } = item;
  if (findSide(item) === "buy" && !call.caller.buySide) return buySideOff();
  const { keyId } = call.caller;
  const spent = (matchState.orderedByKey.get(keyId) ?? 0) + (matchState.addedByKey.get(keyId) ?? 0);
  const broken = findBrokenLimit(limits, { paise: findNotional(item), spent });
  return broken && aboveKeyLimit(broken);
}

function refuseByState(matchState: MatchState, item: Loaded): Failure | undefined {
  const { quote, firm, credit } = item;
  const usedBy = quote && (matchState.usedQuotes.get(quote.quote_ref) ?? quote.order_id);
  if (usedBy) return quoteUsed({ order_id: usedBy });
  if (quote && quote.valid_until < item.receivedAt) {
    return quoteExpired(istTimestamp(quote.valid_until));
  }
  const refusal = firm && findTradingRefusal(firm, matchState.now);
  if (refusal) return refusal;
  if (item.cover) return refuseCover(item.cover);
  if (!credit) return undefined;
  const state = matchState.reserved.has(credit.credit_id) ? "reserved" : credit.state;
  const reason = findNotSellableReason(
    { ...credit, state },
    { firmState: firm?.connection_state ?? "", today: matchState.today },
  );
  if (reason) return creditNotSellable({ ...credit, state }, reason);
  if (matchState.disputed?.has(credit.scrip_no)) return new OwnersDisputed([credit.scrip_no]);
  const isPriced = quote?.side !== "sell" || isPricedCredit(quote, credit);
  return isPriced ? undefined : factsChanged([credit.scrip_no]);
}

function refuseCover({ amountPaise, bought }: RequirementToCover): Failure | undefined {
  if (bought.restingPaise > 0) return coverRests(bought);
  const uncovered = findUncoveredPaise(amountPaise, bought);
  if (uncovered === 0) return requirementCovered(bought.coveredPaise);
  return bought.orderIds.length < ordersMax ? undefined : tooManyCovers(ordersMax);
}

function matchDraft(
  matchState: MatchState,
  item: Loaded,
  draft: Draft,
): OrderRow | Failure | SearchNeeded | "unplanned" | "held" {
  if (item.credit) return sellCredits(matchState, draft, [item.credit]);
  const { order } = draft;
  if (order.side === "sell") {
    const facts = item.quote?.side === "sell" ? item.quote : undefined;
    const facePaise = order.face_paise ?? 0;
    const wanted = { facePaise, daysMin: amountDaysMin, facts, plan: item.delivery };
    const credits = chooseDeliverable(matchState, item.deliverable, wanted);
    if (credits instanceof Failure || typeof credits === "string") return credits;
    return sellCredits(matchState, draft, credits);
  }
  return item.quote?.side === "buy"
    ? buyQuoted(matchState, draft, item.bundle, item.quote)
    : buyCover(matchState, draft, item.plan);
}

function findSide({ intent, quote }: Loaded): "sell" | "buy" {
  if (quote) return quote.side;
  return intent.ask.kind === "requirement" ? "buy" : "sell";
}

/** The amount that counts against the key's limits: the face sold, or the duty to cover. */
function findNotional({ intent, quote, credit }: Loaded): Paise {
  const { ask } = intent;
  if (quote) return quote.face_paise ?? quote.requirement_paise ?? 0;
  if (ask.kind === "amount") return ask.facePaise;
  if (ask.kind === "requirement") return ask.requirementPaise;
  return credit?.face_paise ?? 0;
}

function buildDraft({ environment, now }: MatchState, item: Loaded, orderId: string): Draft {
  const { call, intent, quote, firm, credit } = item;
  const { ask } = intent;
  const side = findSide(item);
  const scheme = quote?.scheme ?? credit?.scheme ?? ("scheme" in ask ? ask.scheme : undefined);
  if (!firm || !scheme) throw new Error("an order that is not refused has a firm and a scheme");
  const order: OrderRow = {
    order_id: orderId,
    environment,
    desk_id: firm.desk_id,
    firm_id: firm.firm_id,
    key_id: call.caller.keyId,
    bound_firm_id: visibleTo(call.caller).firmId,
    side,
    scheme,
    state: "open",
    scrip_no: credit?.scrip_no ?? null,
    face_paise: side === "sell" ? findNotional(item) : null,
    requirement_paise: side === "buy" ? findNotional(item) : null,
    limit_bps: intent.limitBps,
    time_in_force: intent.timeInForce,
    expires_at: intent.expiresAt,
    quote_ref: quote?.quote_ref ?? null,
    requirement_id: item.covers ?? null,
    client_ref: intent.clientRef,
    metadata: intent.metadata,
    scrip_nos: [],
    resting_scrip_nos: [],
    covered_paise: 0,
    dealt_paise: 0,
    price_bps: null,
    all_in_paise: 0,
    settlement_ids: [],
    history: [],
    idempotency_key: item.idempotencyKey,
    request: item.idempotencyKey === null ? null : item.request,
    rested: false,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  return { order, quotedBps: quote?.price_bps ?? null };
}

function recordPlaced(matchState: MatchState, item: Loaded, order: OrderRow): void {
  matchState.placed.set(order.order_id, order);
  if (item.idempotencyKey !== null) matchState.originals.set(originalKey(item), order);
  if (item.quote) {
    matchState.usedQuotes.set(item.quote.quote_ref, order.order_id);
    matchState.released.add(item.quote.quote_ref);
  }
  if (item.limits.daily_notional_paise === null) return;
  const { keyId } = item.call.caller;
  matchState.addedByKey.set(keyId, (matchState.addedByKey.get(keyId) ?? 0) + findNotional(item));
}
