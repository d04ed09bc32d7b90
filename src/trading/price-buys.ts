// Prices buy quotes: the ask of the card, for the bundle that covers the requirement best.

import { setImmediate as nextTurn } from "node:timers/promises";

import { setStepsMax } from "../cover/rules.ts";
import { chooseCover, type Cover, type CoverPlan, SearchNeeded } from "../cover/search-cover.ts";
import { sellableDaysMin } from "../credits/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Paise } from "../kernel/money.ts";
import { dayNumber, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { type FindCard, loadCardsToday } from "../rates/current-cards.ts";
import type { Book, Offers } from "./book.ts";
import { filterPayable } from "./match-rules.ts";
import { type BuyWanted, describeOffer, findBuyAsk, findBuyPrice } from "./quote-rules.ts";
import { type BuyRow, listPans } from "./quote-store.ts";
import {
  type Ask,
  type CoverProof,
  listEnvironments,
  startQuote,
  type Verdict,
} from "./read-quotes.ts";

/** The requirement, and cover from a longer search: undefined before it, null when it found none. */
export type BuyAsked = BuyWanted & { readonly plan?: CoverPlan | null };

/** Prices a set of requirements, each with its best bundle. */
export async function priceBuys(
  { db, now }: Pick<Context, "db" | "now">,
  book: Book,
  asks: readonly Ask<BuyAsked>[],
): Promise<Verdict<BuyRow>[]> {
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
  const verdicts: Verdict<BuyRow>[] = [];
  for (const ask of asks) {
    verdicts.push(priceBuy(ask, pool, instant));
    // A search can take milliseconds; other requests run between two of them.
    await nextTurn();
  }
  return verdicts;
}

type PricingFacts = {
  readonly findCard: FindCard;
  readonly offers: ReadonlyMap<Environment, Offers>;
  readonly pans: ReadonlyMap<string, string | null>;
  readonly steps: { left: number };
};

function priceBuy(
  { call: { caller }, wanted }: Ask<BuyAsked>,
  { findCard, offers, pans, steps }: PricingFacts,
  now: Date,
): Verdict<BuyRow> {
  const { scheme, requirementPaise, plan } = wanted;
  const ask = findBuyAsk(findCard(caller.environment, scheme, caller.deskId), requirementPaise);
  const index = offers.get(caller.environment)?.[scheme];
  if (!index) throw new Error("every environment of the set was looked at");
  if (ask.kind === "no_quote") return ask;
  const buyer = pans.get(caller.firmId);
  const cover = {
    requirement_paise: requirementPaise,
    min_day: dayNumber(istDay(now)) + sellableDaysMin,
    price_max_bps: ask.limit_max_bps,
    ...(buyer && { buyer }),
  };
  if (plan === undefined && steps.left <= 0) return new SearchNeeded(index, cover);
  const bundle = chooseCover(index, cover, { plan: plan ?? undefined });
  steps.left -= bundle.steps;
  if (!bundle.isSettled && plan === undefined) return new SearchNeeded(index, cover);
  const offered = filterPayable(bundle.offers, ask.price_bps);
  const coveredPaise = offered.reduce((sum, offer) => sum + offer.face_paise, 0);
  const price = findBuyPrice(ask, coveredPaise);
  if (price.kind === "no_quote") return price;
  const row: BuyRow = {
    ...startQuote(caller, { card: price.card, firmId: caller.firmId, now }),
    side: "buy",
    scheme,
    scrip_no: null,
    face_paise: null,
    requirement_paise: requirementPaise,
    covered_paise: coveredPaise,
    scrip_nos: offered.map((offer) => offer.scrip_no),
    offers: offered.map(describeOffer),
    price_bps: price.price_bps,
    all_in_paise: price.all_in_paise,
  };
  return { row, proof: describeProof(bundle, coveredPaise) };
}

/** The search proves sums only: a bundle that lost an offer to its price is not proven best. */
function describeProof({ offers, proof }: Cover, coveredPaise: Paise): CoverProof {
  const { residual_bound_paise } = proof;
  const foundPaise = offers.reduce((sum, { face_paise }) => sum + face_paise, 0);
  const residual = foundPaise === coveredPaise ? proof.residual : "bounded";
  return { residual, residual_bound_paise };
}

async function loadOffers(
  book: Book,
  environments: readonly Environment[],
): Promise<ReadonlyMap<Environment, Offers>> {
  const looked = environments.map(
    async (environment) => [environment, await book.look(environment)] as const,
  );
  return new Map(await Promise.all(looked));
}
