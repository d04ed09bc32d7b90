// The movements of a leg in the books. The house stands between two clients: the buyer pays its price,
// the seller gets its own, and the house keeps the difference. The fee and the GST on it go to
// accounts of their own.

import { isHouse } from "../kernel/ids.ts";
import { asAmount, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import type { Account, Movement } from "../ledger/rules.ts";
import type { LegRow } from "./store.ts";

export function buildCreditMovement(leg: LegRow, buyerFirmId: string): Movement {
  return {
    from: creditAccount(leg.seller_firm_id),
    to: creditAccount(buyerFirmId),
    scripNo: leg.scrip_no,
  };
}

export function buildMoneyMovements(leg: LegRow, buyerFirmId: string): Movement[] {
  return [...moveBetweenSides(leg, buyerFirmId), ...moveFees(leg)];
}

function moveBetweenSides(leg: LegRow, buyerFirmId: string): Movement[] {
  const buyer = cashAccount(buyerFirmId);
  const house: Account = { kind: "house_cash" };
  if (isHouse(leg.seller_firm_id)) return toMovements(buyer, house, leg.buyer_paise);
  const seller = cashAccount(leg.seller_firm_id);
  if (isHouse(buyerFirmId)) return toMovements(house, seller, leg.seller_paise);
  // Negative only in old deals, from before a rule forbade it; they can still be reversed.
  const kept = leg.buyer_paise - leg.seller_paise;
  return [
    ...toMovements(buyer, seller, Math.min(leg.seller_paise, leg.buyer_paise)),
    ...(kept > 0 ? toMovements(buyer, house, kept) : toMovements(house, seller, -kept)),
  ];
}

/**
 * Reverses a settled leg. What a seller's balance does not cover becomes its dues; `available` is
 * reduced leg by leg.
 */
export function buildReversalMovements(
  leg: LegRow,
  buyerFirmId: string,
  available: Map<string, PaiseSum>,
): Movement[] {
  const credit = buildCreditMovement(leg, buyerFirmId);
  const money = buildMoneyMovements(leg, buyerFirmId).flatMap((movement) => {
    if (!("paise" in movement)) return [];
    const { from, to, paise } = movement;
    if (to.kind !== "firm_cash") return toMovements(to, from, paise);
    const left = available.get(to.firmId) ?? 0;
    const covered = Math.min(paise, asAmount(left));
    available.set(to.firmId, subtractPaise(left, covered));
    const dues: Account = { kind: "firm_dues", firmId: to.firmId };
    return [...toMovements(to, from, covered), ...toMovements(dues, from, paise - covered)];
  });
  return [{ ...credit, from: credit.to, to: credit.from }, ...money];
}

/**
 * What a refunded buyer gives back to the house: of its balance as much as is covered; the rest becomes
 * its dues.
 */
export function buildRefundReturn(
  leg: LegRow,
  buyerFirmId: string,
  coveredPaise: number,
): Movement[] {
  if (isHouse(buyerFirmId)) return [];
  const house: Account = { kind: "house_cash" };
  const dues: Account = { kind: "firm_dues", firmId: buyerFirmId };
  return [
    ...toMovements(cashAccount(buyerFirmId), house, coveredPaise),
    ...toMovements(dues, house, leg.buyer_paise - coveredPaise),
  ];
}

/** What the house passes on of such money: the seller's price, and the fees and their GST. */
export function buildSellerShare(leg: LegRow): Movement[] {
  const house: Account = { kind: "house_cash" };
  const { seller_firm_id: sellerFirmId, seller_paise } = leg;
  return [
    ...(isHouse(sellerFirmId) ? [] : toMovements(house, cashAccount(sellerFirmId), seller_paise)),
    ...moveFees(leg),
  ];
}

function moveFees(leg: LegRow): Movement[] {
  const house: Account = { kind: "house_cash" };
  return [
    ...toMovements(house, { kind: "house_fees" }, leg.buyer_fee_paise + leg.seller_fee_paise),
    ...toMovements(house, { kind: "gst_payable" }, leg.buyer_gst_paise + leg.seller_gst_paise),
  ];
}

/** No movement for zero: the price of a very small face rounds to zero paise. */
function toMovements(from: Account, to: Account, paise: number): Movement[] {
  return paise > 0 ? [{ from, to, paise }] : [];
}

function cashAccount(firmId: string): Account {
  return isHouse(firmId) ? { kind: "house_cash" } : { kind: "firm_cash", firmId };
}

function creditAccount(firmId: string): Account {
  return isHouse(firmId) ? { kind: "house_credits" } : { kind: "firm_credits", firmId };
}
