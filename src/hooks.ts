// Hooks: functions of upper rooms that lower rooms call. A lower room declares the type of a hook,
// and this file supplies the functions, so that imports between rooms point one way.

import { revokeKeysOfFirm } from "./access/revoke-keys.ts";
import { doubtPayingAccount, forgetPayingAccount } from "./bankbook/paying-account.ts";
import { moveCreditDeadlines, withdrawAllCredits } from "./credits/end-holdings.ts";
import type { LostCreditHook } from "./credits/registry-news.ts";
import {
  endCrossesOfLostCredits,
  listOpenCrosses,
  moveCrossDeadlines,
} from "./crosses/end-crosses.ts";
import { followSettlements, lockCrossesOfSettlements } from "./crosses/release-cross.ts";
import { moveHoldDeadlines } from "./firms/change-firm.ts";
import { moveRequirementDays } from "./firms/requirements.ts";
import type { Offboarding } from "./firms/offboard-firm.ts";
import type { OnIdentityChanged } from "./firms/update-firm.ts";
import { schemes } from "./kernel/scheme.ts";
import { latestIndices } from "./market/daily-index.ts";
import type { LatestIndex } from "./market/update-markets.ts";
import { forgetContacts } from "./notices/watch-contacts.ts";
import {
  drainMoney,
  listMoneyLeft,
  movePayoutDeadlines,
  listUnfinishedPayouts,
} from "./payouts/withdraw-money.ts";
import type { TimeHooks } from "./sandbox/advance-clock.ts";
import type { SettlementHooks } from "./settlement/transfer-legs.ts";
import {
  hookLostCredits,
  listOpenSettlements,
  moveSettlementDeadlines,
} from "./settlement/fail-settlements.ts";
import { houseOffers, type OfferSource, restingOffers } from "./trading/book.ts";
import { refuseUnpaid } from "./settlement/unpaid-deals.ts";
import { failOrders, moveOrderDeadlines } from "./trading/end-orders.ts";
import { listOpenOrders } from "./trading/read-orders.ts";
import { moveQuoteDeadlines } from "./trading/quotes.ts";

/** Moves the deadlines of a sandbox desk earlier, room by room, when its clock is put forward. */
export const timeHooks: TimeHooks = {
  orders: moveOrderDeadlines,
  quotes: moveQuoteDeadlines,
  crosses: moveCrossDeadlines,
  settlements: moveSettlementDeadlines,
  payouts: movePayoutDeadlines,
  holds: moveHoldDeadlines,
  credits: moveCreditDeadlines,
  requirements: moveRequirementDays,
};

/** What crosses and orders do when a settlement concludes. */
export const settlementHooks: SettlementHooks = {
  crosses: followSettlements,
  orders: failOrders,
  lockCrosses: lockCrossesOfSettlements,
};

/** What happens to deals when customs takes a credit from its holder. */
export const onLost: readonly LostCreditHook[] = [
  hookLostCredits(settlementHooks),
  endCrossesOfLostCredits,
];

/** What blocks the offboarding of a firm, and what it entails. */
export const offboarding: Offboarding = {
  blockers: [listOpenOrders, listOpenCrosses, listOpenSettlements, listUnfinishedPayouts],
  money: { list: listMoneyLeft, drain: drainMoney },
  onOffboard: [revokeKeysOfFirm, withdrawAllCredits, forgetContacts, forgetPayingAccount],
};

/** A firm that becomes another first pays its deals, and two people look at its second account again. */
export const onIdentityChanged: OnIdentityChanged = async (tx, firm, changes) => {
  await refuseUnpaid(tx, firm, changes);
  return await doubtPayingAccount(tx, firm);
};

/** The published index for the market data; it is made of live deals, so the sandbox has none. */
export const latestIndex: LatestIndex = async (db, environment) => {
  if (environment === "sandbox") return new Map();
  const figures = await latestIndices(db, schemes);
  return new Map(
    figures.flatMap((figure) => (figure?.index_bps ? [[figure.scheme, figure.index_bps]] : [])),
  );
};

/** Where the offers of the book come from. */
export const offerSources: readonly OfferSource[] = [houseOffers, restingOffers];
