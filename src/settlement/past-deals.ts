import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { type DealRow, findFirstDealAt, listDeals, listDealtLegs } from "./read-store.ts";
import type { LegRow } from "./store.ts";

/** The deals from one instant up to but not including another, oldest first. */
export async function listDealsBetween(
  db: Db,
  span: {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<readonly DealRow[]> {
  return await listDeals(db, span);
}

/** A leg with its buyer. */
export type DealtLeg = LegRow & { readonly buyer_firm_id: string };

/** Bounds one statement: decoding more rows at once would block the event loop. */
const settlementsAtOnce = 250;

/** Legs by settlement, for reports. */
export async function listLegsBySettlement(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, readonly DealtLeg[]>> {
  const legs: DealtLeg[] = [];
  for (let from = 0; from < settlementIds.length; from += settlementsAtOnce) {
    const some = settlementIds.slice(from, from + settlementsAtOnce);
    legs.push(...(await listDealtLegs(db, some)));
  }
  return Map.groupBy(legs, (leg) => leg.settlement_id);
}

/** The time of the first deal of a scheme. */
export async function findFirstDeal(
  db: Db,
  market: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<Date | undefined> {
  return await findFirstDealAt(db, market);
}
