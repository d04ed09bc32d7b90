// What every slice has that ends with time, for a sandbox desk whose clock is put forward.
//
// What other slices have to say about the course of settlements, and settlements about credits that
// customs takes from their deals.
//
// What every slice has to say about a firm that leaves its desk.
//
// Where the market takes the published index from.
//
// What can be bought: everything that the book offers, and who offers it.

import { revokeKeysOfFirm } from "./access/revoke-keys.ts";
import { passTimeOfCredits, withdrawAllCredits } from "./credits/end-holdings.ts";
import type { OnLost } from "./credits/registry-news.ts";
import { loseCredits, openCrossesOf, passTimeOfCrosses } from "./crosses/end-crosses.ts";
import { followSettlements, lockCrossesOf } from "./crosses/release-cross.ts";
import { passTimeOfHolds } from "./firms/hold-firm.ts";
import type { Offboarding } from "./firms/offboard-firm.ts";
import { schemes } from "./kernel/scheme.ts";
import { latestIndices } from "./market/daily-index.ts";
import type { LatestIndex } from "./market/update-markets.ts";
import {
  drainMoney,
  listMoneyLeft,
  passTimeOfPayouts,
  listUnfinishedPayouts,
} from "./payouts/withdraw-money.ts";
import type { Passing } from "./sandbox/advance-clock.ts";
import type { SettlementHooks } from "./settlement/conclude-legs.ts";
import {
  hookLostCredits,
  listOpenSettlements,
  passTimeOfSettlements,
} from "./settlement/fail-settlements.ts";
import { houseOffers, type OfferSource, restingOffers } from "./trading/book.ts";
import { failOrders, lockTrading, passTimeOfOrders } from "./trading/end-orders.ts";
import { listOpenOrders } from "./trading/read-orders.ts";
import { passTimeOfQuotes } from "./trading/use-quotes.ts";

export const passing: Passing = {
  lock: lockTrading,
  orders: passTimeOfOrders,
  quotes: passTimeOfQuotes,
  crosses: passTimeOfCrosses,
  settlements: passTimeOfSettlements,
  payouts: passTimeOfPayouts,
  holds: passTimeOfHolds,
  credits: passTimeOfCredits,
};

export const settlementHooks: SettlementHooks = {
  crosses: followSettlements,
  orders: failOrders,
  lockCrosses: lockCrossesOf,
};

export const onLost: readonly OnLost[] = [hookLostCredits(settlementHooks), loseCredits];

export const offboarding: Offboarding = {
  blockers: [listOpenOrders, openCrossesOf, listOpenSettlements, listUnfinishedPayouts],
  money: { list: listMoneyLeft, drain: drainMoney },
  onOffboard: [revokeKeysOfFirm, withdrawAllCredits],
};

/** The index is made of live deals; the sandbox has none. */
export const latestIndex: LatestIndex = async (db, environment) => {
  if (environment === "sandbox") return new Map();
  const figures = await latestIndices(db, schemes);
  return new Map(
    figures.flatMap((figure) => (figure?.index_bps ? [[figure.scheme, figure.index_bps]] : [])),
  );
};

export const offerSources: readonly OfferSource[] = [houseOffers, restingOffers];
