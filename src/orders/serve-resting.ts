// What a look of the matcher does with one order that rests, on facts that were loaded before.

import type { DealtCredit } from "../credits/reserve-credits.ts";
import { daysLeft, sellableDaysMin } from "../credits/rules.ts";
import { SearchFirst } from "../cover/search-cover.ts";
import { addDays } from "../kernel/time.ts";
import { houseBid, payable, restingPool } from "../matching/rules.ts";
import { faceOf, sellTo, takeBundle } from "./match-order.ts";
import type { OrderRow } from "./store.ts";
import { noteDealt, panOf, replaceResting, restingBuysOf, type Workings } from "./workings.ts";

/** A resting buy takes what covers the most of its rest, at its own price. */
export function serveBuy(workings: Workings, buy: OrderRow): void {
  const market = workings.markets.get(buy.scheme);
  const [resting] = restingBuysOf(workings, buy.scheme).filter(
    ({ orderId }) => orderId === buy.order_id,
  );
  if (market?.state !== "open" || !resting) return;
  const chosen = workings.book.choose({
    scheme: buy.scheme,
    requirementPaise: resting.remainingPaise,
    pool: restingPool(market, resting),
    pan: panOf(workings, buy.firm_id),
    expiresFrom: addDays(workings.today, sellableDaysMin),
    plan: null,
  });
  if (chosen instanceof SearchFirst) throw new Error("who rests does without a plan");
  const bundle = payable(chosen, resting.priceBps);
  if (bundle.length === 0) return;
  const after = takeBundle(workings, buy, bundle, resting.priceBps);
  if (!after) return;
  noteDealt(workings, { before: buy, after, dealtBy: buy.order_id });
  replaceResting(workings, after);
}

/** The house takes what rests of a sell at its limit, where its bid reaches that. */
export function serveSell(
  workings: Workings,
  sell: OrderRow,
  credits: readonly DealtCredit[],
): void {
  const limitBps = sell.limit_bps ?? 0;
  const bid = houseBid(workings.markets.get(sell.scheme), {
    facePaise: faceOf(credits),
    daysLeft: Math.min(...credits.map((credit) => daysLeft(credit.expires_on, workings.today))),
  });
  if (bid === undefined || bid < limitBps) return;
  const match = { with: "house", sellerBps: limitBps, buyerBps: limitBps } as const;
  const after = sellTo(workings, sell, credits, match);
  noteDealt(workings, { before: sell, after, dealtBy: sell.order_id });
}
