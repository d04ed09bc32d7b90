import { setTimeout as sleep } from "node:timers/promises";

import { type CreditForSale, findForSale } from "../credits/find-for-sale.ts";
import { creditLifecycle, daysLeft, notSellableReasonOf } from "../credits/rules.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Database, Db } from "../platform/postgres.ts";
import { cardsToday, type CardOf } from "../rates/cards-today.ts";
import { type Holding, openQuotesOn } from "../rates/open-quotes.ts";
import { amountDaysMin, type CardToday } from "../rates/rules.ts";
import { type Ask, environmentsOf, newQuote, type Verdict } from "./new-quote.ts";
import {
  type CreditFacts,
  findLeastFace,
  type NoQuote,
  type SellFacts,
  type SellWanted,
  sellPriceOf,
  sizeUnavailable,
} from "./rules.ts";
import type { QuoteRow } from "./store.ts";

/** How often what other processes held at the same moment is looked at again before it counts. */
const announcementsMax = 4;
const pauseMsMax = 10;

/** Prices for a set of credits and amounts, from what the database says at this moment. */
export async function priceSells(
  ctx: Pick<Context, "db" | "now">,
  asks: readonly Ask<SellWanted>[],
): Promise<Verdict[]> {
  const now = ctx.now();
  const today = istDay(now);
  const [cardOf, named] = await ctx.db.together((one) =>
    Promise.all([cardsToday(one, environmentsOf(asks), { now }), findNamed(one, asks)]),
  );
  const verdicts = asks.map((ask): Priced | Failure => {
    const { call, wanted } = ask;
    if (!("scripNo" in wanted)) {
      const { scheme, facePaise } = wanted;
      const amount = { scheme, facePaise, daysLeft: amountDaysMin, credit: undefined };
      return priceSell(ask, { ...amount, firmId: call.caller.firmId }, { cardOf, now });
    }
    const credit = named.get(ask);
    if (!credit) return notFound();
    return notSellable(credit, today) ?? priceSell(ask, forSale(credit, today), { cardOf, now });
  });
  return await holdRoom(ctx.db, verdicts, now);
}

/** A price, and what it holds of the house's day; a dry run holds nothing. */
type Priced =
  | NoQuote
  | {
      readonly row: QuoteRow;
      readonly card: CardToday;
      readonly holding: Holding;
      readonly dryRun: boolean;
    };

/**
 * Leaves those prices standing that the house's day and their desk's share of it have room for. Other
 * processes are told, and looked at, when a desk holds more than they know of. When both of two find
 * too much they give it back and try again, each after a pause of its own.
 */
async function holdRoom(
  db: Database,
  priced: readonly (Priced | Failure)[],
  now: Date,
): Promise<Verdict[]> {
  const quotes = openQuotesOn(db);
  const verdicts: Verdict[] = priced.map((one) => ("row" in one ? sizeUnavailable : one));
  let left = priced.flatMap((one, at) => ("row" in one ? [{ ...one, at }] : []));
  for (let tries = 1; left.length > 0 && tries <= announcementsMax; tries++) {
    if (tries > 1) await sleep(Math.random() * pauseMsMax);
    const held = left.flatMap((one) => {
      if (!quotes.hasRoom(one.card, one.holding, now)) return [];
      return [{ ...one, takeBack: one.dryRun ? undefined : quotes.hold(one.holding, now) }];
    });
    const untold = held.filter(({ holding, dryRun }) => !dryRun && quotes.isUntold(holding));
    const elsewhere =
      untold.length > 0 ? await quotes.announce(db, holdingsOf(untold), now) : () => undefined;
    const over = untold.filter(
      ({ card, holding }) => !quotes.hasRoom(card, holding, now, elsewhere(holding)),
    );
    for (const { row, at } of held.filter((one) => !over.includes(one))) verdicts[at] = row;
    if (over.length === 0) break;
    for (const { takeBack } of over.toReversed()) takeBack?.();
    await quotes.announce(db, holdingsOf(over), now);
    left = over;
  }
  return verdicts;
}

function holdingsOf(some: readonly { readonly holding: Holding }[]): Holding[] {
  return some.map(({ holding }) => holding);
}

type Sale = {
  readonly scheme: CreditForSale["scheme"];
  /** Undefined where an amount is sold. */
  readonly credit: (CreditFacts & { readonly scrip_no: string }) | undefined;
  readonly firmId: string;
  readonly facePaise: number;
  readonly daysLeft: number;
};

function forSale(credit: CreditForSale, today: IstDay): Sale {
  return {
    scheme: credit.scheme,
    credit,
    firmId: credit.firm_id,
    facePaise: credit.face_paise,
    daysLeft: daysLeft(credit.expires_on, today),
  };
}

function priceSell(
  ask: Ask<SellWanted>,
  sale: Sale,
  { cardOf, now }: { readonly cardOf: CardOf; readonly now: Date },
): Priced {
  const { caller, dryRun } = ask.call;
  const { environment, deskId } = caller;
  const price = sellPriceOf(cardOf(environment, sale.scheme, deskId), sale);
  if (price.kind === "no_quote") return price;
  const { card } = price;
  const row = newQuote(
    caller,
    { card, firmId: sale.firmId, now },
    {
      side: "sell",
      scheme: sale.scheme,
      scrip_no: sale.credit?.scrip_no ?? null,
      face_paise: sale.facePaise,
      requirement_paise: null,
      covered_paise: null,
      scrip_nos: null,
      facts: collectFacts(price.card, sale),
      price_bps: price.price_bps,
      all_in_paise: price.all_in_paise,
    },
  );
  const holding = {
    environment,
    scheme: sale.scheme,
    deskId,
    id: sale.credit?.credit_id ?? row.quote_ref,
    paise: sale.facePaise,
    until: row.valid_until,
  };
  return { row, card, holding, dryRun };
}

function collectFacts(card: CardToday, { credit, facePaise, daysLeft }: Sale): SellFacts {
  if (credit) return { credit_id: credit.credit_id, expires_on: credit.expires_on };
  return {
    face_min_paise: findLeastFace(card, facePaise, daysLeft),
    days_left_min: daysLeft,
  };
}

/** The credits that the asks name, by their ask; none where a text is no number of the caller's. */
async function findNamed(
  db: Db,
  asks: readonly Ask<SellWanted>[],
): Promise<ReadonlyMap<Ask<SellWanted>, CreditForSale | undefined>> {
  const named = asks.flatMap((ask) =>
    "scripNo" in ask.wanted ? [{ ask, caller: ask.call.caller, scripNo: ask.wanted.scripNo }] : [],
  );
  const found = await findForSale(db, named);
  return new Map(named.map(({ ask }, at) => [ask, found[at]]));
}

function notSellable(credit: CreditForSale, today: IstDay): Failure | undefined {
  const reason = notSellableReasonOf(credit, { firmState: credit.firm_state, today });
  if (reason === null) return undefined;
  return new Failure("conflict", "the credit cannot be sold now", {
    detail: {
      reason,
      credit_status: credit.state,
      state: credit.state,
      allowed_actions: allowedActions(creditLifecycle, credit.state),
    },
  });
}
