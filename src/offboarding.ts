// What every slice has to say about a firm that leaves its desk.

import { withdrawAllCredits } from "./credits/withdraw-all-credits.ts";
import { openCrossesOf } from "./crosses/open-business.ts";
import type { Offboarding } from "./firms/offboard-firm.ts";
import { revokeKeysOfFirm } from "./keys/revoke-key.ts";
import { openOrdersOf } from "./orders/open-orders.ts";
import { drainMoney, listMoneyLeft } from "./payouts/drain-money.ts";
import { unfinishedPayoutsOf } from "./payouts/open-business.ts";
import { openSettlementsOf } from "./settlement/open-business.ts";

export const offboarding: Offboarding = {
  blockers: [openOrdersOf, openCrossesOf, openSettlementsOf, unfinishedPayoutsOf],
  money: { list: listMoneyLeft, drain: drainMoney },
  onOffboard: [revokeKeysOfFirm, withdrawAllCredits],
};
