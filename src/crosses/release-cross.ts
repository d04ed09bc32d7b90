// Release hands the escrow, one pending entry per cross, to a settlement: the escrow is voided and each
// leg's share held in one call to the books. The legs are private: readers of the tape leave them out.
// From then on the cross follows its settlement (`hooks.ts`).

import { type DealtCredit, lockForSale } from "../credits/reserve-credits.ts";
import { lockReservedCredits } from "../credits/settle-credits.ts";
import { lockTradingFirms } from "../firms/find-firms.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import type { Change } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import { known, type Tx } from "../platform/postgres/postgres.ts";
import type { OnEnded } from "../settlement/transfer-legs.ts";
import { type NewDeal, openSettlements, storeSettlements } from "../settlement/open-settlements.ts";
import { type LockedCross, actOnCross, creditUnavailable, moveCross } from "./act-on-cross.ts";
import { toEscrowName } from "./fund-cross.ts";
import { buildCrossChanges } from "./read-crosses.ts";
import { computeShares, requireMove } from "./rules.ts";
import type { Cross } from "./schema.ts";
import { type CrossRow, lockBySettlements, setCrosses } from "./store.ts";

/** Releases credits and money into a settlement, which moves them leg by leg. */
export async function releaseCross(ctx: Context, call: Call, crossId: string): Promise<Cross> {
  return await actOnCross(ctx, call, { crossId, action: "release" }, release);
}

async function release(tx: Tx, acting: LockedCross): Promise<Change[]> {
  const { cross, standing, now } = acting;
  const move = requireMove("release", standing);
  const sellerId = cross.seller_firm_id ?? "";
  const seller = (await tx.run(lockTradingFirms([sellerId]))).get(sellerId);
  const refusal = seller && findTradingRefusal(seller, now);
  if (refusal) throw refusal;
  const held = cross.scrip_nos.map((scripNo) => ({ scripNo, reservedFor: cross.cross_id }));
  const reserved = await lockReservedCredits(tx, cross.environment, held);
  const locked = await lockForSale(tx, [...reserved.values()]);
  const credits = cross.scrip_nos.flatMap((scripNo) => {
    return locked.get(reserved.get(scripNo) ?? "") ?? [];
  });
  if (credits.length < cross.scrip_nos.length) {
    throw creditUnavailable(standing);
  }
  const settlement_id = newId("stl", now);
  const deal = buildDeal(cross, credits, settlement_id);
  const opened = await openSettlements(tx, [deal], now);
  const after = { ...moveCross(cross, move, { now }), settlement_id };
  const stored = setCrosses([after]);
  await storeSettlements(tx, opened, now, { stored, last: () => known(undefined) });
  return [
    ...buildCrossChanges({ action: "release", before: cross, after }),
    ...opened.changes.map(({ change }) => change),
  ];
}

function buildDeal(
  cross: CrossRow,
  credits: readonly DealtCredit[],
  settlementId: string,
): NewDeal {
  const { price_bps: priceBps, fee_bps: feeBps, gst_bps: gstBps } = cross;
  const shares = computeShares(
    credits.map((credit) => credit.face_paise),
    { priceBps, feeBps, gstBps },
  );
  const seller = requireParty(cross.seller_desk_id, cross.seller_firm_id);
  return {
    settlementId,
    environment: cross.environment,
    scheme: cross.scheme,
    origin: cross.cross_id,
    originKind: "cross",
    buyer: requireParty(cross.buyer_desk_id, cross.buyer_firm_id),
    buyerBps: priceBps,
    isPrivate: true,
    escrow: toEscrowName(cross),
    legs: credits.flatMap((credit, at) => {
      const share = shares[at];
      if (!share) return [];
      const facePaise = credit.face_paise;
      const { credit_id: creditId, scrip_no: scripNo } = credit;
      return [{ ...share, scripNo, creditId, seller, facePaise, sellerBps: priceBps }];
    }),
  };
}

function requireParty(deskId: string | null, firmId: string | null) {
  if (deskId === null || firmId === null) throw new Error("both sides of a funded cross are known");
  return { deskId, firmId, orderId: null };
}

/** Locks the crosses of settlements before whatever the transaction asks next, such as its credits. */
export function lockCrossesOfSettlements(tx: Tx, settlementIds: readonly string[]): void {
  tx.defer(lockBySettlements(settlementIds).map(() => undefined));
}

/**
 * Ends crosses with their settlements: settled when any credit was delivered, otherwise failed.
 * Runs in the transaction that ends the settlements. Waiting for the lock is safe: a transaction
 * that holds a released cross waits for no other lock.
 */
export const followSettlements: OnEnded = async (tx, _actor, ended, now) => {
  // The buyer's side has all legs, so it ends with the settlement.
  const bought = ended.filter(({ side }) => side === "buy");
  const states = new Map(bought.map(({ settlementId, state }) => [settlementId, state]));
  if (states.size === 0) return [];
  const crosses = await tx.run(lockBySettlements([...states.keys()]));
  if (crosses.length === 0) return [];
  const moved = crosses.map((before) => {
    const isFailed = states.get(before.settlement_id ?? "") === "failed";
    const action = isFailed ? "fail" : "settle";
    const reason = isFailed ? "settlement_failed" : null;
    return { action, before, after: moveCross(before, action, { reason, now }) };
  });
  await tx.run(setCrosses(moved.map(({ after }) => after)));
  return moved.flatMap(buildCrossChanges);
};
