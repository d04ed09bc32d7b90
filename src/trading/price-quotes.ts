// Prices sets of quotes.
//
// A sell gets the bid of the card. It may make the house buy, so before it is answered it holds
// part of the house limit in OpenQuotes (rates/open-quotes.ts), which all processes share. A buy
// gets the ask of the card for the bundle that covers the requirement best: it is priced by what it
// covers, as an order is.

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

import { priceInTier, type BundleProof, setStepsMax } from "../cover/rules.ts";
import { chooseCover, type CoverPlan, SearchNeeded } from "../cover/search-cover.ts";
import { type FoundCredit, findForSale } from "../credits/reserve-credits.ts";
import {
  countDaysLeft,
  findNotSellableReason,
  sellableDaysMin,
  creditNotSellable,
} from "../credits/rules.ts";
import type { Call, Caller, Environment } from "../kernel/caller.ts";
import { type Failure, notFound } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { priceCeil } from "../kernel/money.ts";
import { dayNumber, type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Database, Query } from "../platform/postgres/postgres.ts";
import { type FindCard, loadCardsToday } from "../rates/current-cards.ts";
import { type Holding, openQuotesOn } from "../rates/open-quotes.ts";
import { amountDaysMin, type CardToday, findShelfRoom } from "../rates/rules.ts";
import type { Book, Offers } from "./book.ts";
import { exceedsShelf, listTiers } from "./match-rules.ts";
import {
  type BuyWanted,
  type QuotedCredit,
  describeOffer,
  findLeastFace,
  findSellPrice,
  marketUnavailable,
  type NoQuote,
  type SellWanted,
  sizeUnavailable,
} from "./quote-rules.ts";
import {
  type BuyRow,
  listPans,
  type QuoteBase,
  type QuoteRow,
  type SellRow,
} from "./quote-store.ts";

/** How often a process announces its holds before a conflict with another process refuses a quote. */
const announcementsMax = 4;
const pauseMsMax = 10;

/** One request of a set: the call, and what to price. */
export type QuoteCall<Wanted> = { readonly call: Call; readonly wanted: Wanted };

/** The requirement, and cover from a longer search: undefined before it, null when it found none. */
export type BuyAsked = BuyWanted & { readonly plan?: CoverPlan | null };

/** What the search proved about a bundle; answered with the price and not stored. */
type CoverProof = Pick<BundleProof, "residual" | "residual_bound_paise">;

/** The result of one request: a quote to store, no quote, a refusal, or a longer search. */
export type QuoteDecision<Row extends QuoteRow> =
  | { readonly row: Row; readonly proof?: CoverProof }
  | NoQuote
  | Failure
  | SearchNeeded;

/** Prices a set of credits and amounts. */
export async function priceSells(
  ctx: Pick<Context, "db" | "now">,
  asks: readonly QuoteCall<SellWanted>[],
): Promise<QuoteDecision<SellRow>[]> {
  const now = ctx.now();
  const today = istDay(now);
  const [findCard, named] = await ctx.db.pipeline([
    loadCardsToday(listEnvironments(asks), now),
    findNamed(asks),
  ]);
  const verdicts = asks.map((ask): Priced | Failure => {
    const { call, wanted } = ask;
    if (!("scripNo" in wanted)) {
      const { scheme, facePaise } = wanted;
      const amount = { scheme, facePaise, daysLeft: amountDaysMin, credit: undefined };
      return priceSell(ask, { ...amount, firmId: call.caller.firmId }, { findCard, now });
    }
    const credit = named.get(ask);
    if (!credit) return notFound();
    return notSellable(credit, today) ?? priceSell(ask, forSale(credit, today), { findCard, now });
  });
  return await holdRoom(ctx.db, verdicts, now);
}

/** Prices a set of requirements, each with its best bundle. */
export async function priceBuys(
  { db, now }: Pick<Context, "db" | "now">,
  book: Book,
  asks: readonly QuoteCall<BuyAsked>[],
): Promise<QuoteDecision<BuyRow>[]> {
  const instant = now();
  const environments = listEnvironments(asks);
  const firmIds = [...new Set(asks.map(({ call }) => call.caller.firmId))];
  const [[findCard, pans], offers] = await Promise.all([
    db.pipeline([loadCardsToday(environments, instant), listPans(firmIds)]),
    loadOffers(book, environments),
  ]);
  const pool = {
    findCard,
    offers,
    pans: new Map(pans.map((firm) => [firm.firm_id, firm.pan])),
    steps: { left: setStepsMax },
  };
  const verdicts: QuoteDecision<BuyRow>[] = [];
  for (const ask of asks) {
    verdicts.push(priceBuy(ask, pool, instant));
    // A search can take milliseconds; other requests run between two of them.
    await nextTurn();
  }
  return verdicts;
}

/** A price, and its hold on the house limit; a dry run holds nothing. */
type Offered = {
  readonly row: SellRow;
  readonly card: CardToday;
  readonly holding: Holding;
  readonly dryRun: boolean;
};

type Priced = NoQuote | Offered;

/** The named credit of each ask; undefined where the caller has no such credit. */
function findNamed(
  asks: readonly QuoteCall<SellWanted>[],
): Query<ReadonlyMap<QuoteCall<SellWanted>, FoundCredit | undefined>> {
  const named = asks.flatMap((ask) =>
    "scripNo" in ask.wanted ? [{ ask, caller: ask.call.caller, scripNo: ask.wanted.scripNo }] : [],
  );
  return findForSale(named).map((found) => new Map(named.map(({ ask }, at) => [ask, found[at]])));
}

function notSellable(credit: FoundCredit, today: IstDay): Failure | undefined {
  const reason = findNotSellableReason(credit, { firmState: credit.firm_state, today });
  return reason === null ? undefined : creditNotSellable(credit, reason);
}

type Sale = {
  readonly scheme: FoundCredit["scheme"];
  /** Undefined for a sale by amount. */
  readonly credit: (QuotedCredit & { readonly scrip_no: string }) | undefined;
  readonly firmId: string;
  readonly facePaise: number;
  readonly daysLeft: number;
};

function forSale(credit: FoundCredit, today: IstDay): Sale {
  return {
    scheme: credit.scheme,
    credit,
    firmId: credit.firm_id,
    facePaise: credit.face_paise,
    daysLeft: countDaysLeft(credit.expires_on, today),
  };
}

function priceSell(
  ask: QuoteCall<SellWanted>,
  sale: Sale,
  { findCard, now }: { readonly findCard: FindCard; readonly now: Date },
): Priced {
  const { caller, dryRun } = ask.call;
  const { environment, deskId } = caller;
  const { credit } = sale;
  const price = findSellPrice(findCard(environment, sale.scheme, deskId), sale);
  if (price.kind === "no_quote") return price;
  const { card } = price;
  const row: SellRow = {
    ...startQuote(caller, { card, firmId: sale.firmId, now }),
    side: "sell",
    scheme: sale.scheme,
    scrip_no: credit?.scrip_no ?? null,
    face_paise: sale.facePaise,
    requirement_paise: null,
    covered_paise: null,
    scrip_nos: null,
    credit_id: credit?.credit_id ?? null,
    expires_on: credit?.expires_on ?? null,
    face_min_paise: credit ? null : findLeastFace(card, sale.facePaise, sale.daysLeft),
    days_left_min: credit ? null : sale.daysLeft,
    price_bps: price.price_bps,
    all_in_paise: price.all_in_paise,
  };
  const holding = {
    environment,
    scheme: sale.scheme,
    deskId,
    id: credit?.credit_id ?? row.quote_ref,
    paise: sale.facePaise,
    untilMs: row.valid_until.getTime(),
    heldAtMs: now.getTime(),
  };
  return { row, card, holding, dryRun };
}

/**
 * Keeps the prices that fit into the house limit and the desk's share of it; the others get no
 * quote. When a desk holds more than was announced, this process announces the new sum and reads
 * the sums of other processes. If two processes exceed the limit together, both release their holds
 * and retry after a random pause.
 */
async function holdRoom(
  db: Database,
  priced: readonly (Priced | Failure)[],
  now: Date,
): Promise<QuoteDecision<SellRow>[]> {
  const quotes = openQuotesOn(db);
  const refused = new Set<Offered>();
  let left = priced.filter((one) => "row" in one);
  for (let tries = 1; left.length > 0 && tries <= announcementsMax; tries++) {
    if (tries > 1) await sleep(Math.random() * pauseMsMax);
    const held: { readonly one: Offered; readonly before: Holding | undefined }[] = [];
    for (const one of left) {
      const hasRoom = quotes.hasRoom(one.card, one.holding, now);
      if (!hasRoom) refused.add(one);
      else refused.delete(one);
      if (hasRoom && !one.dryRun) held.push({ one, before: quotes.hold(one.holding) });
    }
    const untold = held.filter(({ one }) => quotes.isUntold(one.holding));
    if (untold.length === 0) break;
    const { elsewhere, settle } = await quotes.announce(db, holdingsAmong(untold), now);
    const over = untold.filter(
      ({ one: { card, holding } }) => !quotes.hasRoom(card, holding, now, elsewhere(holding)),
    );
    settle(holdingsAmong(over));
    if (over.length === 0) break;
    for (const { one, before } of over.toReversed()) {
      refused.add(one);
      quotes.takeBack(one.holding, before);
    }
    await quotes.announce(db, holdingsAmong(over), now);
    left = over.map(({ one }) => one);
  }
  return priced.map((one) => ("row" in one && refused.has(one) ? sizeUnavailable : one));
}

function holdingsAmong(some: readonly { readonly one: Offered }[]): Holding[] {
  return some.map(({ one }) => one.holding);
}

type PricingFacts = {
  readonly findCard: FindCard;
  readonly offers: ReadonlyMap<Environment, Offers>;
  readonly pans: ReadonlyMap<string, string | null>;
  readonly steps: { left: number };
};

async function loadOffers(
  book: Book,
  environments: readonly Environment[],
): Promise<ReadonlyMap<Environment, Offers>> {
  const looked = environments.map(
    async (environment) => [environment, await book.look(environment)] as const,
  );
  return new Map(await Promise.all(looked));
}

function priceBuy(
  { call: { caller }, wanted }: QuoteCall<BuyAsked>,
  { findCard, offers, pans, steps }: PricingFacts,
  now: Date,
): QuoteDecision<BuyRow> {
  const { scheme, requirementPaise, plan } = wanted;
  const card = findCard(caller.environment, scheme, caller.deskId);
  const index = offers.get(caller.environment)?.[scheme];
  if (!index) throw new Error("every environment of the set was looked at");
  if (card?.state !== "open") return marketUnavailable;
  const buyer = pans.get(caller.firmId);
  const cover = {
    requirement_paise: requirementPaise,
    min_day: dayNumber(istDay(now)) + sellableDaysMin,
    tiers: listTiers(card, { requirementPaise, limitBps: null }),
    ...(buyer && { buyer }),
  };
  if (plan === undefined && steps.left <= 0) return new SearchNeeded(index, cover);
  const bundle = chooseCover(index, cover, { plan: plan ?? undefined });
  steps.left -= bundle.steps;
  if (plan === undefined && bundle.canImprove) return new SearchNeeded(index, cover);
  const { offers: offered, tier, covered_paise, proof } = bundle;
  if (!tier || exceedsShelf(offered, findShelfRoom(card))) return sizeUnavailable;
  const price_bps = priceInTier(tier, offered);
  const row: BuyRow = {
    ...startQuote(caller, { card, firmId: caller.firmId, now }),
    side: "buy",
    scheme,
    scrip_no: null,
    face_paise: null,
    requirement_paise: requirementPaise,
    covered_paise,
    scrip_nos: offered.map((offer) => offer.scrip_no),
    offers: offered.map(describeOffer),
    price_bps,
    all_in_paise: priceCeil(covered_paise, price_bps),
  };
  const { residual, residual_bound_paise } = proof;
  return { row, proof: { residual, residual_bound_paise } };
}

function listEnvironments(asks: readonly QuoteCall<unknown>[]): Environment[] {
  return [...new Set(asks.map(({ call }) => call.caller.environment))];
}

/** The fields of a new quote that do not depend on its side. */
function startQuote(
  { environment, deskId, keyId }: Caller,
  { card, firmId, now }: { readonly card: CardToday; readonly firmId: string; readonly now: Date },
): QuoteBase {
  return {
    quote_ref: newId("qte", now),
    environment,
    desk_id: deskId,
    firm_id: firmId,
    key_id: keyId,
    card_version: card.version,
    created_at: now,
    valid_until: new Date(now.getTime() + card.quote_window_s * 1_000),
    order_id: null,
  };
}
