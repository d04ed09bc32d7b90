import type { Db } from "../platform/postgres.ts";
import { listDealtLegs } from "./read-store.ts";
import type { LegRow } from "./store.ts";

/** A leg and whose purchase it is part of. */
export type DealtLeg = LegRow & { readonly buyer_firm_id: string };

/** The legs of these settlements, by settlement, for whoever gives account of what they moved. */
export async function dealtLegs(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, readonly DealtLeg[]>> {
  if (settlementIds.length === 0) return new Map();
  const legs = await listDealtLegs(db, settlementIds);
  return Map.groupBy(legs, (leg) => leg.settlement_id);
}
