// What every slice has that ends with time, for a sandbox desk whose clock is put forward.

import { passTimeOfCredits } from "./credits/pass-time.ts";
import { passTimeOfCrosses } from "./crosses/pass-time.ts";
import { passTimeOfHolds } from "./firms/pass-time.ts";
import { lockTrading, passTimeOfOrders } from "./orders/pass-time.ts";
import { passTimeOfPayouts } from "./payouts/pass-time.ts";
import { passTimeOfQuotes } from "./quotes/pass-time.ts";
import type { Passing } from "./sandbox/advance-clock.ts";
import { passTimeOfSettlements } from "./settlement/pass-time.ts";

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
