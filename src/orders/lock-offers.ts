// The offers behind credits: what the database, not the book, says can be bought now.

import { type DealtCredit, lockOffered } from "../credits/reserve-credits.ts";
import type { Offer } from "../cover/rules.ts";
import { tradingFirms } from "../firms/trading-firms.ts";
import { refusalToTrade } from "../firms/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { isHouse } from "../kernel/house.ts";
import { dayNumber } from "../kernel/time.ts";
import type { Tx } from "../platform/postgres.ts";
import { findOrders, type OrderRow } from "./store.ts";

export type OfferedCredit = {
  readonly offer: Offer;
  readonly credit: DealtCredit;
  /** The resting sell; undefined when the house sells. */
  readonly order: OrderRow | undefined;
};

/**
 * Of these numbers, those that can be bought: listed by the house, or reserved for a sell that rests,
 * is not past its time and whose firm may trade. They are locked, and stay so until the transaction ends.
 */
export async function lockOffers(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, OfferedCredit>> {
  const credits = [...(await lockOffered(tx, environment, scripNos)).values()];
  const orderIds = credits.flatMap((credit) => credit.reserved_for ?? []);
  const resting = orderIds.length > 0 ? await findOrders(tx, orderIds) : [];
  const orders = new Map(resting.map((order) => [order.order_id, order]));
  const firms = await tradingFirms(tx, [...new Set(credits.map((credit) => credit.firm_id))]);
  const offered = credits.flatMap((credit) => {
    const firm = firms.get(credit.firm_id);
    const order = orders.get(credit.reserved_for ?? "");
    if (!firm || refusalToTrade(firm, now) || !isOffered(credit, order, now)) return [];
    const offer = {
      scrip_no: credit.scrip_no,
      face_paise: credit.face_paise,
      expires_on: dayNumber(credit.expires_on),
      limit_bps: order?.limit_bps ?? 0,
      seller: firm.pan ?? "",
      order_id: order?.order_id ?? null,
    };
    return [[credit.scrip_no, { offer, credit, order }] as const];
  });
  return new Map(offered);
}

function isOffered(credit: DealtCredit, order: OrderRow | undefined, now: Date): boolean {
  if (credit.state === "listed") return isHouse(credit.firm_id);
  return (
    credit.state === "reserved" &&
    order?.state === "open" &&
    (order.expires_at === null || order.expires_at > now) &&
    order.resting_scrip_nos.includes(credit.scrip_no)
  );
}
