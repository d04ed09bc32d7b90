import { type CreditForSale, findForSale } from "../credits/find-for-sale.ts";
import { creditLifecycle, daysLeft, notSellableReasonOf } from "../credits/rules.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { cardsToday, type CardOf } from "../rates/cards-today.ts";
import { amountDaysMin, type CardToday } from "../rates/rules.ts";
import { type Ask, environmentsOf, newQuote, type Verdict } from "./new-quote.ts";
import {
  type CreditFacts,
  findLeastFace,
  type SellFacts,
  type SellWanted,
  sellPriceOf,
} from "./rules.ts";

/** Prices for a set of credits and amounts, from what the database says at this moment. */
export async function priceSells(
  { db, now }: Pick<Context, "db" | "now">,
  asks: readonly Ask<SellWanted>[],
): Promise<Verdict[]> {
  const instant = now();
  const today = istDay(instant);
  const [cardOf, named] = await db.together((one) =>
    Promise.all([cardsToday(one, environmentsOf(asks), today), findNamed(one, asks)]),
  );
  return asks.map((ask) => {
    const { call, wanted } = ask;
    if (!("scripNo" in wanted)) {
      const { scheme, facePaise } = wanted;
      const amount = { scheme, facePaise, daysLeft: amountDaysMin, credit: undefined };
      return priceSell(ask, { ...amount, firmId: call.caller.firmId }, { cardOf, instant });
    }
    const credit = named.get(ask);
    if (!credit) return notFound();
    return (
      notSellable(credit, today) ?? priceSell(ask, forSale(credit, today), { cardOf, instant })
    );
  });
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
  { cardOf, instant }: { readonly cardOf: CardOf; readonly instant: Date },
): Verdict {
  const { environment, deskId } = ask.call.caller;
  const price = sellPriceOf(cardOf(environment, sale.scheme, deskId), sale);
  if (price.kind === "no_quote") return price;
  return newQuote(
    ask.call.caller,
    { card: price.card, firmId: sale.firmId, now: instant },
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
