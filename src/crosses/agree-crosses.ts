// Agreement is the moment a cross takes hold: both firms may deal, they are two companies, and the
// seller's credits are reserved for the cross, all of them or none.

import { type HeldCredit, lockOffered, reserveCredits } from "../credits/reserve-credits.ts";
import { notSellableReasonOf } from "../credits/rules.ts";
import { refusalToTrade } from "../firms/rules.ts";
import { tradingFirms, type TradingFirm } from "../firms/trading-firms.ts";
import type { Caller } from "../kernel/caller.ts";
import { istDay } from "../kernel/time.ts";
import { spendKeyLimits } from "../keys/spend-key-limits.ts";
import type { Tx } from "../platform/postgres.ts";
import { counterpartyUnavailable, creditUnavailable, samePan } from "./refusals.ts";
import type { CrossRow } from "./store.ts";

/**
 * Reserves what the caller's crosses are to deliver; both sides and the credits of each are known. A
 * firm of another desk is refused without saying why. No cross takes hold but through here, so here
 * is where the key's limits stand, unless the deal was counted for this key as it was proposed.
 */
export async function reserveForCrosses(
  tx: Tx,
  caller: Pick<Caller, "keyId" | "deskId" | "environment">,
  {
    crosses,
    isCounted,
    pricedAt,
    now,
  }: {
    readonly crosses: readonly CrossRow[];
    readonly isCounted: boolean;
    /**
     * When the credits were looked at for the terms; null where nobody has. A holding that began later
     * may have another life than the one that was priced.
     */
    readonly pricedAt: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  const { environment, deskId } = caller;
  const firms = await tradingFirms(tx, [...new Set(crosses.flatMap(firmIdsOf))]);
  const deals = isCounted ? [] : crosses.map((cross) => cross.face_paise);
  await spendKeyLimits(tx, caller, { deals, now });
  for (const cross of crosses) refuseFirms(cross, { firms, deskId, now });
  const credits = await lockOffered(
    tx,
    environment,
    crosses.flatMap((cross) => cross.scrip_nos),
  );
  const taken = new Set<string>();
  const reservations = crosses.flatMap((cross) => {
    const own = cross.scrip_nos.map((scripNo) => credits.get(scripNo));
    const seller = firms.get(cross.seller_firm_id ?? "");
    const free = own.filter((credit) => isFree(credit, { cross, seller, taken, pricedAt, now }));
    const face = free.reduce((sum, credit) => sum + credit.face_paise, 0);
    if (free.length !== own.length || face !== cross.face_paise) throw creditUnavailable();
    for (const credit of free) taken.add(credit.credit_id);
    return free.map(({ credit_id }) => ({ creditId: credit_id, reservedFor: cross.cross_id }));
  });
  await reserveCredits(tx, reservations, now);
}

function firmIdsOf({ seller_firm_id, buyer_firm_id }: CrossRow): string[] {
  return [seller_firm_id, buyer_firm_id].filter((firmId) => firmId !== null);
}

function refuseFirms(
  cross: CrossRow,
  {
    firms,
    deskId,
    now,
  }: {
    readonly firms: ReadonlyMap<string, TradingFirm>;
    readonly deskId: string;
    readonly now: Date;
  },
): void {
  const [seller, buyer] = [cross.seller_firm_id, cross.buyer_firm_id].map((firmId) =>
    firms.get(firmId ?? ""),
  );
  if (!seller || !buyer) throw new Error("both sides of an agreed cross are known");
  for (const firm of [seller, buyer]) {
    const refusal = refusalToTrade(firm, now);
    if (refusal) throw firm.desk_id === deskId ? refusal : counterpartyUnavailable();
  }
  if (seller.pan !== null && seller.pan === buyer.pan) throw samePan("terms_hash");
}

type Looking = {
  readonly cross: CrossRow;
  readonly seller: TradingFirm | undefined;
  readonly taken: ReadonlySet<string>;
  readonly pricedAt: Date | null;
  readonly now: Date;
};

function isFree(
  credit: HeldCredit | undefined,
  { cross, seller, taken, pricedAt, now }: Looking,
): credit is HeldCredit {
  if (!credit || credit.firm_id !== cross.seller_firm_id || taken.has(credit.credit_id))
    return false;
  if (credit.scheme !== cross.scheme) return false;
  if (pricedAt !== null && credit.created_at > pricedAt) return false;
  const firmState = seller?.connection_state ?? "";
  return notSellableReasonOf(credit, { firmState, today: istDay(now) }) === null;
}
