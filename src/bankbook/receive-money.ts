// Money that came in for a firm or for one of its deals. It becomes the firm's balance, and the deal is
// funded when the balance covers all of it. A surplus stays available; with a shortfall the deal keeps
// waiting. Of a firm that owes, only what came for a deal that waits funds deals; the rest is set off.

import { takeDeposits } from "../payouts/deposits.ts";
import { type TradingFirm, lockTradingFirms } from "../firms/find-firms.ts";
import { type AwaitedCross, fundReceivedCrosses, lockCrossesById } from "../crosses/fund-cross.ts";
import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { isId } from "../kernel/ids.ts";
import { addPaise, type PaiseSum } from "../kernel/money.ts";
import { readBalances } from "../ledger/read-books.ts";
import type { Account, Entry } from "../ledger/rules.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  type AwaitedSettlement,
  fundReceivedSettlements,
  lockSettlementsById,
  sumOpenLegs,
} from "../settlement/fund-settlements.ts";

export type ReceivedMoney = {
  readonly firmId: string;
  /** The settlement or cross that it is for. */
  readonly dealId: string | null;
  readonly paise: number;
  readonly reference: string;
  /** The bank's line that brought it; a person enters it when left out. */
  readonly lineId?: string | undefined;
  readonly from?: Account | undefined;
};

export type LockedReceivers = {
  readonly settlements: readonly AwaitedSettlement[];
  readonly crosses: readonly AwaitedCross[];
  readonly firms: ReadonlyMap<string, TradingFirm>;
};

/** Locks settlements, crosses and firms, in the order of locks. */
export async function lockReceivers(
  tx: Tx,
  wanted: readonly Pick<ReceivedMoney, "firmId" | "dealId">[],
): Promise<LockedReceivers> {
  const dealIds = [...new Set(wanted.flatMap(({ dealId }) => dealId ?? []))];
  const settlements = await lockSettlementsById(
    tx,
    dealIds.filter((id) => isId("stl", id)),
  );
  const crosses = await lockCrossesById(
    tx,
    dealIds.filter((id) => isId("crs", id)),
  );
  const firmIds = [...new Set(wanted.map(({ firmId }) => firmId))];
  const firms = firmIds.length === 0 ? new Map() : await tx.run(lockTradingFirms(firmIds));
  return { settlements, crosses, firms };
}

/** What a locked deal waits for. */
export type AwaitedDeal = { readonly paise: number; readonly dueAt: Date };

/** The locked deals that wait for their buyer's money, by id. */
export async function findAwaited(
  tx: Tx,
  { settlements, crosses }: LockedReceivers,
): Promise<ReadonlyMap<string, AwaitedDeal>> {
  const awaited = new Map<string, AwaitedDeal>();
  const pending = settlements.filter(({ state }) => state === "pending");
  const open = await sumOpenLegs(tx, pending);
  for (const { settlement_id, due_at } of pending) {
    if (due_at) awaited.set(settlement_id, { paise: open.get(settlement_id) ?? 0, dueAt: due_at });
  }
  for (const { cross_id, state, buyer_paise, due_at } of crosses) {
    if (state === "agreed" && due_at) awaited.set(cross_id, { paise: buyer_paise, dueAt: due_at });
  }
  return awaited;
}

/** The caller writes the entries with its own and records the changes. */
type TakenMoney = {
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
  /** The deals funded now; the caller drops their questions to the bank. */
  readonly fundedIds: readonly string[];
};

export async function takeMoney(
  tx: Tx,
  { settlements, crosses, firms }: LockedReceivers,
  {
    environment,
    received,
    now,
  }: {
    readonly environment: Environment;
    readonly received: readonly ReceivedMoney[];
    readonly now: Date;
  },
): Promise<TakenMoney> {
  if (received.length === 0) return { entries: [], changes: [], fundedIds: [] };
  const taken = await takeDeposits(
    tx,
    received.map(({ firmId, dealId, ...money }) => {
      const firm = firms.get(firmId);
      if (!firm) throw new Error("who gets money is a firm");
      const settlementId = dealId !== null && isId("stl", dealId) ? dealId : null;
      return { environment, deskId: firm.desk_id, firmId, settlementId, ...money };
    }),
    now,
  );
  const firmIds = [...new Set(received.map(({ firmId }) => firmId))];
  const balances = await readBalances(tx, environment, firmIds);
  const available = new Map<string, PaiseSum>(
    balances.map((each) => [each.firm_id, each.available_paise]),
  );
  const owing = new Set(
    balances.filter(({ dues_paise }) => dues_paise > 0).map(({ firm_id }) => firm_id),
  );
  const awaited = new Set([
    ...settlements.flatMap(({ state, settlement_id }) =>
      state === "pending" ? settlement_id : [],
    ),
    ...crosses.flatMap(({ state, cross_id }) => (state === "agreed" ? cross_id : [])),
  ]);
  for (const { firmId, dealId, paise } of received) {
    if (owing.has(firmId) && !awaited.has(dealId ?? "")) continue;
    available.set(firmId, addPaise(available.get(firmId) ?? 0, paise));
  }
  const ofSettlements = await fundReceivedSettlements(tx, settlements, { available, now });
  const reference = (crossId: string) =>
    received.find(({ dealId }) => dealId === crossId)?.reference ?? "";
  const ofCrosses = await fundReceivedCrosses(tx, crosses, { available, reference, now });
  return {
    entries: [...taken.entries, ...ofSettlements.entries, ...ofCrosses.entries],
    changes: [...taken.changes, ...ofSettlements.changes, ...ofCrosses.changes],
    fundedIds: [...ofSettlements.dealIds, ...ofCrosses.dealIds],
  };
}
