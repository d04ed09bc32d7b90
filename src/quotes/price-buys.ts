import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { cardsToday } from "../rates/cards-today.ts";
import { type Ask, environmentsOf, type Verdict } from "./new-quote.ts";
import { buyAskOf, buyPriceOf, type BuyWanted } from "./rules.ts";

export async function priceBuys(
  { db, now }: Pick<Context, "db" | "now">,
  asks: readonly Ask<BuyWanted>[],
): Promise<Verdict[]> {
  const cardOf = await cardsToday(db, environmentsOf(asks), istDay(now()));
  return asks.map(({ call, wanted }) => {
    const ask = buyAskOf(cardOf(call.caller.environment, wanted.scheme), wanted.requirementPaise);
    if (ask.kind === "no_quote") return ask;
    const price = buyPriceOf(ask, 0);
    if (price.kind === "no_quote") return price;
    throw new Error("nothing covers nothing");
  });
}
