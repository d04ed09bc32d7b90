import type { Db } from "../platform/postgres.ts";
import { listOrderLegs } from "./read-store.ts";
import { type SettlementState, sideState } from "./rules.ts";

/** An order and the settlements that it dealt in. */
export type DealtOrder = {
  readonly order_id: string;
  readonly settlement_ids: readonly string[];
};

/** What became of what an order dealt. */
export type OrderStanding = {
  /** By settlement: where the order's own legs in it stand. */
  readonly states: ReadonlyMap<string, SettlementState>;
  /** What changed hands for credits that were delivered. */
  readonly settledPaise: number;
};

/** Where orders stand by their own legs, by order; one that has not dealt is not there. */
export async function orderStandings(
  db: Db,
  orders: readonly DealtOrder[],
): Promise<ReadonlyMap<string, OrderStanding>> {
  const dealt = orders.flatMap(({ order_id, settlement_ids }) =>
    settlement_ids.map((settlementId) => ({ orderId: order_id, settlementId })),
  );
  if (dealt.length === 0) return new Map();
  const rows = await listOrderLegs(db, dealt);
  return new Map(
    [...Map.groupBy(rows, (row) => row.order_id)].map(([orderId, own]) => [
      orderId,
      {
        states: new Map(
          own.map((row) => [
            row.settlement_id,
            sideState(
              row.state,
              row.leg_states.map((state) => ({ state })),
            ),
          ]),
        ),
        settledPaise: own.reduce((sum, row) => sum + row.settled_paise, 0),
      },
    ]),
  );
}

/** Whether something of what an order dealt was delivered or may still be. */
export function stands({ states }: OrderStanding): boolean {
  return [...states.values()].some((state) => state !== "failed");
}
