import type { Db } from "../platform/postgres.ts";
import { listDealtLegs } from "./read-store.ts";
import type { LegRow } from "./store.ts";

/** A leg and whose purchase it is part of. */
export type DealtLeg = LegRow & { readonly buyer_firm_id: string };

/** So many are read by one statement: reading more holds up everybody else. */
const settlementsAtOnce = 250;

/** The legs of these settlements, by settlement, for whoever gives account of what they moved. */
export async function dealtLegs(
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
