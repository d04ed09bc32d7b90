import { readCalendar } from "../calendar/read-calendar.ts";
import type { Change } from "../kernel/actor.ts";
import type { PaiseSum } from "../kernel/sums.ts";
import type { Entry } from "../ledger/rules.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { changesOfSettlement } from "./change-of-settlement.ts";
import { fundingOf, loadLegs, openLegs, withinBalances } from "./fund-settlements.ts";
import { listBuyers } from "./read-store.ts";
import { eventOfState } from "./rules.ts";
import { lockSettlements, setSettlements, type SettlementRow } from "./store.ts";

/** A settlement as other slices know it. */
export type AwaitedSettlement = SettlementRow;

/** Who buys in these settlements, whatever has become of them. */
export async function buyersOfSettlements(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (settlementIds.length === 0) return new Map();
  const rows = await listBuyers(db, settlementIds);
  return new Map(rows.map((row) => [row.settlement_id, row.buyer_firm_id]));
}

export async function lockSettlementsById(
  tx: Tx,
  settlementIds: readonly string[],
): Promise<readonly AwaitedSettlement[]> {
  return settlementIds.length === 0 ? [] : await lockSettlements(tx, settlementIds);
}

/** What is left for the caller: the entries to write with its own, and the changes to record. */
export type FundedDeals = {
  readonly dealIds: readonly string[];
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/**
 * Funds those of locked settlements that what their buyers have now reaches for; what is used up is
 * taken from `available`. The others wait for the rest, and the buyer keeps what has come.
 */
export async function fundReceived(
  tx: Tx,
  settlements: readonly AwaitedSettlement[],
  { available, now }: { readonly available: Map<string, PaiseSum>; readonly now: Date },
): Promise<FundedDeals> {
  const pending = settlements.filter(({ state }) => state === "pending");
  if (pending.length === 0) return { dealIds: [], entries: [], changes: [] };
  const legs = await loadLegs(tx, pending);
  const when = { now, calendar: await readCalendar(tx) };
  const funded = withinBalances(available, { claimed: pending, legs }).map((before) =>
    fundingOf({ before, open: openLegs(legs.get(before.settlement_id)) }, when),
  );
  if (funded.length === 0) return { dealIds: [], entries: [], changes: [] };
  await setSettlements(
    tx,
    funded.map(({ after }) => after),
  );
  return {
    dealIds: funded.map(({ before }) => before.settlement_id),
    entries: funded.flatMap(({ holds }) => holds),
    changes: funded.flatMap(({ before, after }) =>
      changesOfSettlement({
        action: "fund",
        event: eventOfState[after.state],
        before,
        after,
        legs: legs.get(before.settlement_id) ?? [],
      }),
    ),
  };
}
