import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { type Fee, noFee } from "../kernel/fees.ts";
import { isHouse } from "../kernel/house.ts";
import type { Bps, Paise } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { istTimestamp } from "../kernel/time.ts";
import { beginTransfers } from "../credits/settle-credits.ts";
import { askOutside } from "../inquiries/ask-outside.ts";
import { isPortUp } from "../inquiries/port-status.ts";
import { balancesOf } from "../ledger/read-books.ts";
import { assertWritten, type Entry, type EntryName } from "../ledger/rules.ts";
import { writeBooks, type WrittenBooks } from "../ledger/write-books.ts";
import type { Tx } from "../platform/postgres.ts";
import { askCustoms } from "./ask-customs.ts";
import { changesOfSettlement } from "./change-of-settlement.ts";
import { creditMovement, moneyMovements } from "./movements.ts";
import { dueAtOf, type SettlementState } from "./rules.ts";
import { insertLegs, insertSettlements, type LegRow, type SettlementRow } from "./store.ts";

/** A firm on one side of a deal, on its desk, with the order it dealt by; the house has none. */
export type Party = {
  readonly deskId: string;
  readonly firmId: string;
  readonly orderId: string | null;
};

/** What was agreed: one buyer, whole credits, and both sides' money of each. */
export type NewDeal = {
  readonly settlementId: string;
  readonly environment: Environment;
  readonly scheme: Scheme;
  /** The order or cross that made the deal. */
  readonly origin: string;
  readonly buyer: Party;
  readonly buyerBps: Bps;
  /** Whether two firms agreed on it between themselves, so that the market is not told of it. */
  readonly isPrivate?: boolean;
  /** The pending entry that has held the money until now; the deal's own holds take its place. */
  readonly escrow?: EntryName;
  readonly legs: readonly {
    readonly scripNo: string;
    /** Locked, and listed or reserved for the seller's order or the origin. */
    readonly creditId: string;
    readonly seller: Party;
    readonly facePaise: Paise;
    readonly sellerBps: Bps;
    readonly sellerPaise: Paise;
    readonly buyerPaise: Paise;
    /** What of each side's money is fee and the tax on it; nothing unless it is said. */
    readonly fees?: { readonly buyer: Fee; readonly seller: Fee };
  }[];
};

/**
 * Begins the settlement of deals in the transaction that agreed them: the credits are held in the
 * books from here on, and so is the money where the buyer has it with us. Where it has, customs is
 * asked at once. The changes are for the caller to record with its own, last.
 */
export async function openSettlements(
  tx: Tx,
  deals: readonly NewDeal[],
  now: Date,
): Promise<OpenedSettlements> {
  const [first] = deals;
  if (!first) return { states: new Map(), begun: new Set(), changes: [] };
  const { environment } = first;
  const funded = await fundedAtOnce(tx, environment, deals);
  const customsIsUp = funded.size > 0 && (await isPortUp(tx, environment, "registry"));
  const born = deals.map((deal) => {
    if (!funded.has(deal.settlementId)) return { deal, state: "pending" as const };
    return { deal, state: customsIsUp ? ("transfer_initiated" as const) : ("funded" as const) };
  });
  const settlements = born.map(({ deal, state }) => settlementOf(deal, state, now));
  const legs = born.flatMap(({ deal, state }) => legsOf(deal, state, now));
  await insertSettlements(tx, settlements);
  await insertLegs(tx, legs);
  const byId = new Map(settlements.map((row) => [row.settlement_id, row]));
  const entries = legs.map((leg) => {
    const buyerFirmId = byId.get(leg.settlement_id)?.buyer_firm_id ?? "";
    return holdOf(leg, buyerFirmId, funded.has(leg.settlement_id));
  });
  const resolutions = deals.flatMap(({ escrow }) =>
    escrow ? [{ ...escrow, as: "voided" as const }] : [],
  );
  // In one call, so that money that leaves its escrow is free at no time.
  const written = await writeBooks(tx, { resolutions, entries }, now);
  assertWritten(written.resolutions);
  refuseMovedFunds(written.entries);
  await askForMoney(
    tx,
    settlements.filter(({ state }) => state === "pending"),
    now,
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  const begun = born.flatMap(({ deal, state }) =>
    state === "transfer_initiated" ? deal.legs.map((leg) => reservationOf(deal, leg)) : [],
  );
  await beginTransfers(tx, begun, now);
  await askCustoms(
    tx,
    environment,
    settlements
      .filter(({ state }) => state === "transfer_initiated")
      .map((settlement) => ({
        settlement,
        open: legsById.get(settlement.settlement_id) ?? [],
      })),
    now,
  );
  const changes = settlements.flatMap((after) =>
    changesOfSettlement({
      action: "create",
      event: "settlement.created",
      before: null,
      after,
      legs: legsById.get(after.settlement_id) ?? [],
    }).map((change) => ({ origin: after.origin, change })),
  );
  return {
    states: new Map(settlements.map((row) => [row.settlement_id, row.state])),
    begun: new Set(begun.map(({ creditId }) => creditId)),
    changes,
  };
}

function reservationOf({ origin }: NewDeal, { creditId, seller }: NewDeal["legs"][number]) {
  return { creditId, reservedFor: seller.orderId ?? origin };
}

export type OpenedSettlements = {
  /** By settlement. */
  readonly states: ReadonlyMap<string, SettlementState>;
  /** The credits whose transfer has begun with the deal; the others are for the caller to reserve. */
  readonly begun: ReadonlySet<string>;
  readonly changes: readonly ChangeByDeal[];
};

/** A change and the order or cross whose deal it came from. */
export type ChangeByDeal = { readonly origin: string; readonly change: Change };

/** A buyer's balance fell after it was looked at: whoever opens the settlements does it again. */
export class FundsMoved extends Error {
  constructor() {
    super("a buyer's balance changed while its deals were made");
  }
}

/** Gives up when a balance that was looked at no longer reaches. */
export function refuseMovedFunds(written: WrittenBooks["entries"]): void {
  if (written.some((item) => !item.ok && item.refusal.reason === "insufficient_funds")) {
    throw new FundsMoved();
  }
  assertWritten(written);
}

/**
 * The house pays at once, and so does a client whose money is in escrow, or whose balance reaches for
 * all its deals of this set.
 */
async function fundedAtOnce(
  tx: Tx,
  environment: Environment,
  deals: readonly NewDeal[],
): Promise<ReadonlySet<string>> {
  const funded = new Set<string>();
  const byClient = new Map<string, NewDeal[]>();
  for (const deal of deals) {
    if (isHouse(deal.buyer.firmId) || deal.escrow) funded.add(deal.settlementId);
    else byClient.set(deal.buyer.firmId, [...(byClient.get(deal.buyer.firmId) ?? []), deal]);
  }
  if (byClient.size === 0) return funded;
  const balances = await balancesOf(tx, environment, [...byClient.keys()]);
  for (const { firm_id, available_paise } of balances) {
    let left = available_paise;
    for (const deal of byClient.get(firm_id) ?? []) {
      if (buyerPaiseOf(deal) > left) continue;
      left -= buyerPaiseOf(deal);
      funded.add(deal.settlementId);
    }
  }
  return funded;
}

type BornState = "pending" | "funded" | "transfer_initiated";

function settlementOf(deal: NewDeal, state: BornState, now: Date): SettlementRow {
  const steps = state === "transfer_initiated" ? (["funded", state] as const) : [state];
  return {
    settlement_id: deal.settlementId,
    environment: deal.environment,
    scheme: deal.scheme,
    origin: deal.origin,
    buyer_desk_id: deal.buyer.deskId,
    buyer_firm_id: deal.buyer.firmId,
    buyer_order_id: deal.buyer.orderId,
    state,
    reason: null,
    face_paise: deal.legs.reduce((sum, leg) => sum + leg.facePaise, 0),
    buyer_paise: buyerPaiseOf(deal),
    due_at: dueAtOf(state, deal.environment, now),
    money_apart: false,
    history: steps.map((status) => ({ status, at: istTimestamp(now), reason: null })),
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

function buyerPaiseOf({ legs }: NewDeal): Paise {
  return legs.reduce((sum, leg) => sum + leg.buyerPaise, 0);
}

function legsOf(deal: NewDeal, born: BornState, now: Date): LegRow[] {
  return deal.legs.map((leg, ordinal) => ({
    ...feesOf(leg.fees),
    settlement_id: deal.settlementId,
    scrip_no: leg.scripNo,
    ordinal,
    environment: deal.environment,
    scheme: deal.scheme,
    dealt_at: now,
    seller_desk_id: leg.seller.deskId,
    seller_firm_id: leg.seller.firmId,
    seller_order_id: leg.seller.orderId,
    face_paise: leg.facePaise,
    seller_bps: leg.sellerBps,
    buyer_bps: deal.buyerBps,
    seller_paise: leg.sellerPaise,
    buyer_paise: leg.buyerPaise,
    private: deal.isPrivate ?? false,
    state: born === "transfer_initiated" ? "transferring" : "pending",
    reason: null,
  }));
}

function feesOf({ buyer, seller } = { buyer: noFee, seller: noFee }) {
  return {
    buyer_fee_paise: buyer.feePaise,
    buyer_gst_paise: buyer.gstPaise,
    seller_fee_paise: seller.feePaise,
    seller_gst_paise: seller.gstPaise,
  };
}

/** The bank is asked for what did not come with the deal. */
async function askForMoney(tx: Tx, unfunded: readonly SettlementRow[], now: Date): Promise<void> {
  await askOutside(
    tx,
    unfunded.map((row) => ({
      environment: row.environment,
      deskId: row.buyer_desk_id,
      port: "bank",
      kind: "deal_funding",
      subjectId: row.settlement_id,
      facts: { firm_id: row.buyer_firm_id, paise: row.buyer_paise },
    })),
    now,
  );
}

/** One pending entry per leg, because each credit is delivered or refused by itself. */
function holdOf(leg: LegRow, buyerFirmId: string, funded: boolean): Entry {
  return {
    environment: leg.environment,
    kind: "deal_hold",
    subject: leg.settlement_id,
    ordinal: leg.ordinal,
    phase: "pending",
    movements: [
      creditMovement(leg, buyerFirmId),
      ...(funded ? moneyMovements(leg, buyerFirmId) : []),
    ],
  };
}
