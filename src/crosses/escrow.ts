import type { Entry, EntryName } from "../ledger/rules.ts";
import type { CrossRow } from "./store.ts";

/** What names the entry that holds the money of a cross. */
export function escrowName({ environment, cross_id }: CrossRow): EntryName {
  return { environment, kind: "cross_escrow", subject: cross_id };
}

/**
 * One pending entry holds what the buyer pays. It is never posted: what was released is held leg by
 * leg by its settlement instead, and what was not goes back.
 */
export function escrowEntry(cross: CrossRow): Entry {
  const { buyer_paise, seller_paise } = cross;
  const buyer = { kind: "firm_cash", firmId: cross.buyer_firm_id ?? "" } as const;
  const seller = { kind: "firm_cash", firmId: cross.seller_firm_id ?? "" } as const;
  const kept = buyer_paise - seller_paise;
  return {
    ...escrowName(cross),
    phase: "pending",
    movements: [
      { from: buyer, to: seller, paise: seller_paise },
      ...(kept > 0 ? [{ from: buyer, to: { kind: "house_cash" } as const, paise: kept }] : []),
    ],
  };
}
