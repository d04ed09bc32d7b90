// What a leg moves in the books. The house stands between two clients: the buyer pays its price, the
// seller gets its own, and the house keeps the difference. Of that, the fee
// and the tax that the house owes on it are set apart.

import { isHouse } from "../kernel/ids.ts";
import { asAmount, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import type { Account, Movement } from "../ledger/rules.ts";
import type { LegRow } from "./store.ts";

export function creditMovement(leg: LegRow, buyerFirmId: string): Movement {
  return {
    from: creditsOf(leg.seller_firm_id),
    to: creditsOf(buyerFirmId),
    scripNo: leg.scrip_no,
  };
}

export function moneyMovements(leg: LegRow, buyerFirmId: string): Movement[] {
  const house: Account = { kind: "house_cash" };
  return [
    ...betweenSides(leg, buyerFirmId),
    ...moved(house, { kind: "house_fees" }, leg.buyer_fee_paise + leg.seller_fee_paise),
    ...moved(house, { kind: "gst_payable" }, leg.buyer_gst_paise + leg.seller_gst_paise),
  ];
}

function betweenSides(leg: LegRow, buyerFirmId: string): Movement[] {
  const buyer = cashOf(buyerFirmId);
  const house: Account = { kind: "house_cash" };
  if (isHouse(leg.seller_firm_id)) return moved(buyer, house, leg.buyer_paise);
  const seller = cashOf(leg.seller_firm_id);
  if (isHouse(buyerFirmId)) return moved(house, seller, leg.seller_paise);
  // Below zero only in deals of before it was ruled out: what was paid then can still be reversed.
  const kept = leg.buyer_paise - leg.seller_paise;
  return [
    ...moved(buyer, seller, Math.min(leg.seller_paise, leg.buyer_paise)),
    ...(kept > 0 ? moved(buyer, house, kept) : moved(house, seller, -kept)),
  ];
}

/**
 * The way back of a settled leg. A seller that no longer has the money owes what is missing; what is
 * available to each is used up leg by leg.
 */
export function reversalMovements(
  leg: LegRow,
  buyerFirmId: string,
  available: Map<string, PaiseSum>,
): Movement[] {
  const credit = creditMovement(leg, buyerFirmId);
  const money = moneyMovements(leg, buyerFirmId).flatMap((movement) => {
    if (!("paise" in movement)) return [];
    const { from, to, paise } = movement;
    if (to.kind !== "firm_cash") return moved(to, from, paise);
    const left = available.get(to.firmId) ?? 0;
    const covered = Math.min(paise, asAmount(left));
    available.set(to.firmId, subtractPaise(left, covered));
    const dues: Account = { kind: "firm_dues", firmId: to.firmId };
    return [...moved(to, from, covered), ...moved(dues, from, paise - covered)];
  });
  return [{ ...credit, from: credit.to, to: credit.from }, ...money];
}

/** Nothing is not a movement: a paisa's worth of credit can be worth less than a paisa. */
function moved(from: Account, to: Account, paise: number): Movement[] {
  return paise > 0 ? [{ from, to, paise }] : [];
}

function cashOf(firmId: string): Account {
  return isHouse(firmId) ? { kind: "house_cash" } : { kind: "firm_cash", firmId };
}

function creditsOf(firmId: string): Account {
  return isHouse(firmId) ? { kind: "house_credits" } : { kind: "firm_credits", firmId };
}
