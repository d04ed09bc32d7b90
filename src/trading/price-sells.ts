// Prices sell quotes. A sell quote may make the house buy, so before it is answered it holds part
// of the house limit in OpenQuotes (rates/open-quotes.ts), which all processes share.

// Prices sell quotes. A sell quote may make the house buy, so before it is answered it holds part
// of the house limit in OpenQuotes (rates/open-quotes.ts), which all processes share.

// Prices sell quotes. A sell quote may make the house buy, so before it is answered it holds part of the
// house limit in OpenQuotes (rates/open-quotes.ts), which all processes share.

import { setTimeout as sleep } from "node:timers/promises";

import { type CreditForSale, findForSale } from "../credits/reserve-credits.ts";
import { creditLifecycle, countDaysLeft, findNotSellableReason } from "../credits/rules.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Database, Query } from "../platform/postgres/postgres.ts";
import { type FindCard, loadCardsToday } from "../rates/current-cards.ts";
import { type Holding, openQuotesOn } from "../rates/open-quotes.ts";
import { amountDaysMin, type CardToday } from "../rates/rules.ts";
import {
  type CreditFacts,
  findLeastFace,
  findSellPrice,
  type NoQuote,
  type SellWanted,
  sizeUnavailable,
} from "./quote-rules.ts";
import type { SellRow } from "./quote-store.ts";
import { type Ask, listEnvironments, startQuote, type Verdict } from "./read-quotes.ts";

/** How often a process announces its holds before a conflict with another process refuses a quote. */
const announcementsMax = 4;
const pauseMsMax = 10;

/** Prices a set of credits and amounts. */
export async function priceSells(
  ctx: Pick<Context, "db" | "now">,
  asks: readonly Ask<SellWanted>[],
): Promise<Verdict<SellRow>[]> {
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

/** A price, and its hold on the house limit; a dry run holds nothing. */
type Offered = {
  readonly row: SellRow;
  readonly card: CardToday;
  readonly holding: Holding;
  readonly dryRun: boolean;
};

type Priced = NoQuote | Offered;

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
): Promise<Verdict<SellRow>[]> {
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

type Sale = {
  readonly scheme: CreditForSale["scheme"];
  /** Undefined for a sale by amount. */
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
    daysLeft: countDaysLeft(credit.expires_on, today),
  };
}

function priceSell(
  ask: Ask<SellWanted>,
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

/** The named credit of each ask; undefined where the caller has no such credit. */
function findNamed(
  asks: readonly Ask<SellWanted>[],
): Query<ReadonlyMap<Ask<SellWanted>, CreditForSale | undefined>> {
  const named = asks.flatMap((ask) =>
    "scripNo" in ask.wanted ? [{ ask, caller: ask.call.caller, scripNo: ask.wanted.scripNo }] : [],
  );
  return findForSale(named).map((found) => new Map(named.map(({ ask }, at) => [ask, found[at]])));
}

function notSellable(credit: CreditForSale, today: IstDay): Failure | undefined {
  const reason = findNotSellableReason(credit, { firmState: credit.firm_state, today });
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
