// What other slices have to say about the course of settlements, and settlements about credits that
// customs takes from their deals.

import type { OnLost } from "./credits/apply-registry-news.ts";
import { followSettlements, lockCrossesOf } from "./crosses/follow-settlements.ts";
import { loseCredits } from "./crosses/lose-credits.ts";
import { failOrders } from "./orders/fail-orders.ts";
import type { Settling } from "./settlement/conclude-legs.ts";
import { failLegsOf } from "./settlement/fail-settlements.ts";

export const settling: Settling = {
  crosses: followSettlements,
  orders: failOrders,
  lockCrosses: lockCrossesOf,
};

export const onLost: readonly OnLost[] = [failLegsOf(settling), loseCredits];
