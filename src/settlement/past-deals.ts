import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { type DealRow, findFirstDealAt, listDeals, listDealtLegs } from "./read-store.ts";
import type { LegRow } from "./store.ts";

/** One credit that changed hands by an agreed price. */
type Deal = DealRow;

/** What was dealt between two instants, oldest first; the second is not part of it. */
export async function listDealsBetween(
  db: Db,
  span: {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<readonly Deal[]> {
  return await listDeals(db, span);
}

/** A leg and whose purchase it is part of. */
export type DealtLeg = LegRow & { readonly buyer_firm_id: string };

/** So many are read by one statement: reading more holds up everybody else. */
const settlementsAtOnce = 250;

/** The legs of these settlements, by settlement, for whoever gives account of what they moved. */
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

/** When the first credit of a scheme changed hands; undefined while none has. */
export async function findFirstDeal(
  db: Db,
  market: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<Date | undefined> {
  return await findFirstDealAt(db, market);
}
