// What every slice has to say about a firm that leaves its desk.

import { withdrawAllCredits } from "./credits/withdraw-all-credits.ts";
import type { Offboarding } from "./firms/offboard-firm.ts";
import { revokeKeysOfFirm } from "./keys/revoke-key.ts";
import { openOrdersOf } from "./orders/open-orders.ts";

export const offboarding: Offboarding = {
  blockers: [openOrdersOf],
  onOffboard: [revokeKeysOfFirm, withdrawAllCredits],
};
