// Funds settlements that were not funded with the deal: by money that arrives for them, or from a
// buyer's balance that has grown. A pending entry per leg then holds the money.

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { sumParts, type Paise, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import { type Calendar, lateUntil } from "../kernel/working-days.ts";
import { readBalances, findBalances } from "../ledger/read-books.ts";
import type { Entry } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import { dropQuestions } from "../outside/ask.ts";
import { readCalendar } from "../outside/calendar.ts";
import { type NewDeposit, takeDeposits } from "../payouts/deposits.ts";
import type { Context } from "../platform/context.ts";
import {
  type Choice,
  noOffenders,
  type Offenders,
  workInParts,
  yieldToCallers,
} from "../platform/postgres/offenders.ts";
import {
  all,
  type Db,
  isPassing,
  known,
  type Query,
  type Tx,
} from "../platform/postgres/postgres.ts";
import {
  claimUnfunded,
  type LegRow,
  listEnvironmentsWith,
  listLegs,
  lockSettlements,
  setSettlements,
  type SettlementRow,
  listUnfundedOfDesks,
} from "./store.ts";
import { buildSettlementChanges, payFor } from "./move-settlement.ts";
import { buildMoneyMovements } from "./movements.ts";
import { assertHoldsWritten, FundsMoved } from "./open-settlements.ts";
import { listBuyers, listUnfunded, listUnfundedBuyers } from "./read-store.ts";
import { eventByState, isOpenLeg } from "./rules.ts";
import { buildTaskChanges } from "./read-tasks.ts";
import { findBarred } from "./unpaid-deals.ts";

const setSizeMax = 500;
const fundingWorker: Actor = { kind: "worker", id: "funding", requestId: null };

/** Funds one set of settlements that their buyers' balances cover, oldest first. */
export async function fundFromBalances(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let funded = 0;
  for (const environment of await listEnvironmentsWith(ctx.db, ["pending"])) {
    const now = ctx.now();
    funded += await workInParts(
      offenders,
      (choice, claimed) =>
        ctx.db.transaction((tx) => fundAffordable(tx, environment, { ...choice, claimed, now })),
      // A balance that changed meanwhile is read again at the next run.
      { passes: (error) => isPassing(error) || error instanceof FundsMoved },
    );
  }
  return funded > 0 ? "more" : "idle";
}

/** Takes deposits in and funds the settlements they are for, which are locked and unfunded. */
export async function fundByDeposits(
  tx: Tx,
  {
    settlements,
    deposits,
    now,
  }: {
    readonly settlements: readonly SettlementRow[];
    readonly deposits: readonly NewDeposit[];
    readonly now: Date;
  },
): Promise<readonly Change[]> {
  if (settlements.length === 0) return [];
  const taken = await takeDeposits(tx, deposits, now);
  const legs = await loadLegs(tx, settlements);
  const changes = await fund(tx, { settlements, legs, first: taken.entries, now });
  return [...taken.changes, ...changes];
}

type Unfunded = { readonly before: SettlementRow; readonly open: readonly LegRow[] };

/** The funded settlement and the holds of money for its open legs. */
export function buildFunding(
  { before, open }: Unfunded,
  when: { readonly now: Date; readonly calendar: Calendar },
) {
  return {
    before,
    open,
    after: { ...payFor(before, when), money_apart: true },
    holds: open.flatMap((leg) => buildMoneyHolds(leg, before.buyer_firm_id)),
  };
}

/** Selects settlements in order while the buyer's balance covers them, and deducts each. */
export function selectAffordable(
  available: Map<string, PaiseSum>,
  {
    claimed,
    legs,
  }: {
    readonly claimed: readonly SettlementRow[];
    readonly legs: ReadonlyMap<string, readonly LegRow[]>;
  },
): SettlementRow[] {
  return claimed.filter(({ settlement_id, buyer_firm_id }) => {
    const needed = sumBuyerPaise(openLegs(legs.get(settlement_id)));
    const left = subtractPaise(available.get(buyer_firm_id) ?? 0, needed);
    if (left < 0) return false;
    available.set(buyer_firm_id, left);
    return true;
  });
}

/** A settlement as other rooms know it. */
export type AwaitedSettlement = SettlementRow;

/** Who buys in these settlements, whatever has become of them. */
export async function findSettlementBuyers(
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

/** What the buyers pay for the open legs of settlements, by settlement. */
export async function sumOpenLegs(
  tx: Tx,
  settlements: readonly AwaitedSettlement[],
): Promise<ReadonlyMap<string, number>> {
  if (settlements.length === 0) return new Map();
  const legs = await loadLegs(tx, settlements);
  return new Map([...legs].map(([id, all]) => [id, sumBuyerPaise(openLegs(all))]));
}

/** The caller writes the entries with its own and records the changes. */
type FundedDeals = {
  readonly dealIds: readonly string[];
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/**
 * Funds the locked settlements that their buyers' money covers, and deducts it from `available`. The
 * others keep waiting, and the buyer keeps the money.
 */
export async function fundReceivedSettlements(
  tx: Tx,
  settlements: readonly AwaitedSettlement[],
  { available, now }: { readonly available: Map<string, PaiseSum>; readonly now: Date },
): Promise<FundedDeals> {
  const pending = settlements.filter(({ state }) => state === "pending");
  if (pending.length === 0) return { dealIds: [], entries: [], changes: [] };
  const legs = await loadLegs(tx, pending);
  const when = { now, calendar: await readCalendar(tx) };
  const funded = selectAffordable(available, { claimed: pending, legs }).map((before) =>
    buildFunding({ before, open: openLegs(legs.get(before.settlement_id)) }, when),
  );
  if (funded.length === 0) return { dealIds: [], entries: [], changes: [] };
  tx.defer(setSettlements(funded.map(({ after }) => after)));
  return {
    dealIds: funded.map(({ before }) => before.settlement_id),
    entries: funded.flatMap(({ holds }) => holds),
    changes: funded.flatMap((deal) => buildFundingChanges(deal, legs, now)),
  };
}

/** A firm's available money, and the sum of its unfunded purchases. */
export type PurchasingPower = {
  readonly availablePaise: Paise;
  readonly unfundedPaise: Paise;
  /** Whether it buys only with money that is there: it let a deal fail for want of it. */
  readonly isBarred: boolean;
};

/** The money of buyers by firm, and what all firms of a desk have bought unfunded, by desk. */
type BuyerMeans = {
  readonly means: Map<string, PurchasingPower>;
  readonly deskUnfunded: Map<string, Paise>;
};

export function findBuyerMeans(
  environment: Environment,
  buyers: readonly { readonly firmId: string; readonly deskId: string }[],
  now: Date,
): Query<BuyerMeans> {
  if (buyers.length === 0) return known({ means: new Map(), deskUnfunded: new Map() });
  const firmIds = [...new Set(buyers.map(({ firmId }) => firmId))];
  return all([
    findBalances(environment, firmIds),
    listUnfunded(environment, firmIds),
    listUnfundedOfDesks(environment, [...new Set(buyers.map(({ deskId }) => deskId))]),
    findBarred(environment, firmIds, now),
  ]).map(([balances, unfunded, ofDesks, barred]) => {
    const waiting = new Map(unfunded.map((row) => [row.firm_id, row.unfunded_paise]));
    const means = balances.map(({ firm_id, available_paise }) => {
      // Capped to a safe integer: no deal costs more.
      const availablePaise = Math.min(Number(available_paise), Number.MAX_SAFE_INTEGER);
      const unfundedPaise = waiting.get(firm_id) ?? 0;
      return [firm_id, { availablePaise, unfundedPaise, isBarred: barred.has(firm_id) }] as const;
    });
    return {
      means: new Map(means),
      deskUnfunded: new Map(ofDesks.map((row) => [row.desk_id, row.unfunded_paise])),
    };
  });
}

async function fundAffordable(
  tx: Tx,
  environment: Environment,
  {
    claimed: noteClaimed,
    now,
    ...choice
  }: Choice & { readonly claimed: (ids: readonly string[]) => void; readonly now: Date },
): Promise<number> {
  const buyers = await listUnfundedBuyers(tx, environment);
  if (buyers.length === 0) return 0;
  const balances = await readBalances(tx, environment, buyers);
  const available = new Map(
    balances
      .filter((balance) => balance.available_paise > 0)
      .map((balance) => [balance.firm_id, balance.available_paise]),
  );
  if (available.size === 0) return 0;
  const dueAfter = environment === "live" ? lateUntil(now, "bank", await readCalendar(tx)) : null;
  const able = { buyerFirmIds: [...available.keys()], dueAfter, limit: setSizeMax, ...choice };
  const claimed = await claimUnfunded(tx, environment, able);
  noteClaimed(claimed.map(({ settlement_id }) => settlement_id));
  yieldToCallers(tx);
  const legs = await loadLegs(tx, claimed);
  const funded = selectAffordable(available, { claimed, legs });
  await recordChanges(tx, fundingWorker, await fund(tx, { settlements: funded, legs, now }), now);
  return funded.length;
}

async function loadLegs(
  tx: Tx,
  settlements: readonly SettlementRow[],
): Promise<ReadonlyMap<string, readonly LegRow[]>> {
  const legs = await listLegs(
    tx,
    settlements.map((row) => row.settlement_id),
  );
  return Map.groupBy(legs, (leg) => leg.settlement_id);
}

/** Holds the money and moves the settlements on; `first` are entries to write before the holds. */
async function fund(
  tx: Tx,
  {
    settlements,
    legs,
    first = [],
    now,
  }: {
    readonly settlements: readonly SettlementRow[];
    readonly legs: ReadonlyMap<string, readonly LegRow[]>;
    readonly first?: readonly Entry[];
    readonly now: Date;
  },
): Promise<Change[]> {
  if (settlements.length === 0) return [];
  const when = { now, calendar: await readCalendar(tx) };
  const funded = settlements.map((before) =>
    buildFunding({ before, open: openLegs(legs.get(before.settlement_id)) }, when),
  );
  tx.defer(setSettlements(funded.map(({ after }) => after)));
  const holds = funded.flatMap((each) => each.holds);
  assertHoldsWritten(await postEntries(tx, [...first, ...holds], now));
  await dropQuestions(tx, { deal_funding: funded.map(({ before }) => before.settlement_id) });
  return funded.flatMap((deal) => buildFundingChanges(deal, legs, now));
}

function buildFundingChanges(
  { before, after }: Pick<ReturnType<typeof buildFunding>, "before" | "after">,
  legsById: ReadonlyMap<string, readonly LegRow[]>,
  now: Date,
): Change[] {
  const legs = legsById.get(before.settlement_id) ?? [];
  const event = eventByState[after.state];
  return [
    ...buildSettlementChanges({ action: "fund", event, before, after, legs }),
    ...buildTaskChanges({ settlement: before, legs }, { settlement: after, legs }, now),
  ];
}

function sumBuyerPaise(legs: readonly LegRow[]): Paise {
  return sumParts(legs.map((leg) => leg.buyer_paise));
}

function openLegs(legs: readonly LegRow[] = []): LegRow[] {
  return legs.filter((leg) => isOpenLeg(leg.state));
}

function buildMoneyHolds(leg: LegRow, buyerFirmId: string): Entry[] {
  const movements = buildMoneyMovements(leg, buyerFirmId);
  if (movements.length === 0) return [];
  return [
    {
      environment: leg.environment,
      kind: "deal_settlement",
      subject: leg.settlement_id,
      ordinal: leg.ordinal,
      phase: "pending",
      movements,
    },
  ];
}
