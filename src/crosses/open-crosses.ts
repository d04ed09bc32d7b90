// How a cross is agreed: both firms may trade, they are two companies, and all credits of the
// seller are reserved, or none.

import { spendKeyLimits } from "../access/money-limits.ts";
import { type LockedCredit, lockOffered, reserveCredits } from "../credits/reserve-credits.ts";
import { findNotSellableReason } from "../credits/rules.ts";
import { type TradingFirm, lockTradingFirms } from "../firms/find-firms.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import type { Change } from "../kernel/actor.ts";
import type { Caller, Environment } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import { sumPaise, type Bps, type Paise } from "../kernel/money.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import type { Calendar } from "../kernel/working-days.ts";
import { findDues } from "../ledger/read-books.ts";
import { duesOutstanding } from "../ledger/rules.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { counterpartyUnavailable, creditUnavailable, samePan } from "./act-on-cross.ts";
import { buildCrossChanges } from "./read-crosses.ts";
import {
  type CrossKind,
  computeDueAt,
  feeBpsByKind,
  computeSums,
  type CrossTerms,
  hashTerms,
} from "./rules.ts";
import { type CrossRow, insertCrosses } from "./store.ts";

/** A firm of the caller's desk on one side of a cross. */
type CrossParty = { readonly firmId: string; readonly iec: string };

/** A cross between two firms of one desk. */
export type NewCross = {
  /** Generated when left out. */
  readonly crossId?: string;
  readonly kind: CrossKind;
  readonly seller: CrossParty;
  readonly buyer: CrossParty;
  readonly scheme: Scheme;
  readonly scripNos: readonly string[];
  readonly facePaise: Paise;
  readonly priceBps: Bps;
  /** The side of the firm that the caller acts for. */
  readonly proposedBy: Side;
  /** The netting run that it belongs to. */
  readonly nettingRef: string | null;
};

type OpenedCrosses = {
  /** In the order of the request. */
  readonly crosses: readonly CrossRow[];
  /** The caller records them last, with its own. */
  readonly changes: readonly Change[];
};

/**
 * Opens crosses among the firms of one desk, agreed and with their credits reserved: all or none.
 * Refused when a firm may not trade or a credit is not available.
 */
export async function openCrosses(
  tx: Tx,
  caller: Pick<Caller, "keyId" | "deskId" | "environment">,
  crosses: readonly NewCross[],
  { pricedAt, now }: { readonly pricedAt: Date; readonly now: Date },
): Promise<OpenedCrosses> {
  if (crosses.length === 0) return { crosses: [], changes: [] };
  const calendar = await readCalendar(tx);
  const rows = crosses.map(({ seller, buyer, ...cross }): CrossRow => {
    const feeBps = feeBpsByKind[cross.kind];
    return {
      ...buildCrossRow({
        crossId: cross.crossId ?? newId("crs", now),
        caller,
        terms: { ...cross, feeBps, gstBps: 0, sellerIec: seller.iec, buyerIec: buyer.iec },
        proposedBy: cross.proposedBy,
        state: "agreed",
        now,
        calendar,
      }),
      seller_desk_id: caller.deskId,
      seller_firm_id: seller.firmId,
      buyer_desk_id: caller.deskId,
      buyer_firm_id: buyer.firmId,
      netting_ref: cross.nettingRef,
    };
  });
  await reserveForCrosses(tx, caller, { crosses: rows, isCounted: false, pricedAt, now });
  await insertCrosses(tx, rows);
  const changes = rows.flatMap((after) =>
    buildCrossChanges({ action: "agree", before: null, after }),
  );
  return { crosses: rows, changes };
}

/** The row of a cross with its terms, without firms on its sides. */
export function buildCrossRow({
  crossId,
  caller: { environment, keyId },
  terms,
  proposedBy,
  state,
  now,
  calendar,
}: {
  readonly crossId: string;
  readonly caller: Pick<Caller, "environment" | "keyId">;
  readonly terms: CrossTerms;
  readonly proposedBy: Side;
  readonly state: "proposed" | "agreed";
  readonly now: Date;
  readonly calendar: Calendar;
}): CrossRow {
  const sums = computeSums(terms);
  if (!sums) throw new Error("the sums of a cross are checked before it is built");
  return {
    cross_id: crossId,
    environment,
    kind: terms.kind,
    scheme: terms.scheme,
    face_paise: terms.facePaise,
    price_bps: terms.priceBps,
    fee_bps: terms.feeBps,
    gst_bps: terms.gstBps,
    seller_paise: sums.sellerPaise,
    buyer_paise: sums.buyerPaise,
    proposed_by: proposedBy,
    proposing_key_id: keyId,
    seller_iec: terms.sellerIec,
    seller_desk_id: null,
    seller_firm_id: null,
    buyer_iec: terms.buyerIec,
    buyer_desk_id: null,
    buyer_firm_id: null,
    awaited_iec: null,
    names_credits: terms.scripNos !== null,
    scrip_nos: terms.scripNos ?? [],
    terms_hash: hashTerms(terms),
    state,
    reason: null,
    payment_ref: null,
    settlement_id: null,
    netting_ref: null,
    due_at: computeDueAt(state, environment, now, calendar),
    history: [{ status: state, at: istTimestamp(now), reason: null }],
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Reserves the credits of crosses whose sides and credits are known. A firm of another desk is
 * refused without a reason. A firm that owes hands no credits over at a price that two firms name. Every agreement passes here, so the key's limits are charged here,
 * unless the proposal has charged this key.
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
     * When the credits were priced; null when they were not. A holding that began later may have
     * another expiry than the priced one.
     */
    readonly pricedAt: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  const { environment, deskId } = caller;
  const firms = await tx.run(lockTradingFirms([...new Set(crosses.flatMap(listFirmIds))]));
  const deals = isCounted ? [] : crosses.map((cross) => cross.face_paise);
  await spendKeyLimits(tx, caller, { deals, now });
  for (const cross of crosses) refuseFirms(cross, { firms, deskId, now });
  await refuseOwingSellers(tx, environment, { crosses, firms, deskId });
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
    const face = sumPaise(free.map((credit) => credit.face_paise));
    if (free.length !== own.length || face !== cross.face_paise) throw creditUnavailable();
    for (const credit of free) taken.add(credit.credit_id);
    return free.map(({ credit_id }) => ({ creditId: credit_id, reservedFor: cross.cross_id }));
  });
  await tx.run(reserveCredits(reservations, now));
}

/** It sells them by orders, at the market's price, and the proceeds pay its dues. */
async function refuseOwingSellers(
  tx: Tx,
  environment: Environment,
  {
    crosses,
    firms,
    deskId,
  }: {
    readonly crosses: readonly CrossRow[];
    readonly firms: ReadonlyMap<string, TradingFirm>;
    readonly deskId: string;
  },
): Promise<void> {
  const sellers = [...new Set(crosses.flatMap(({ seller_firm_id }) => seller_firm_id ?? []))];
  const [owing] = await tx.run(findDues(environment, sellers));
  if (!owing) return;
  const [firmId, duesPaise] = owing;
  const isOwn = firms.get(firmId)?.desk_id === deskId;
  throw isOwn ? duesOutstanding(duesPaise) : counterpartyUnavailable();
}

function listFirmIds({ seller_firm_id, buyer_firm_id }: CrossRow): string[] {
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
    const refusal = findTradingRefusal(firm, now);
    if (refusal) throw firm.desk_id === deskId ? refusal : counterpartyUnavailable();
  }
  if (seller.pan !== null && seller.pan === buyer.pan) throw samePan("terms_hash");
}

type FreeCheck = {
  readonly cross: CrossRow;
  readonly seller: TradingFirm | undefined;
  readonly taken: ReadonlySet<string>;
  readonly pricedAt: Date | null;
  readonly now: Date;
};

function isFree(
  credit: LockedCredit | undefined,
  { cross, seller, taken, pricedAt, now }: FreeCheck,
): credit is LockedCredit {
  if (!credit || credit.firm_id !== cross.seller_firm_id || taken.has(credit.credit_id))
    return false;
  if (credit.scheme !== cross.scheme) return false;
  if (pricedAt !== null && credit.created_at > pricedAt) return false;
  const firmState = seller?.connection_state ?? "";
  return findNotSellableReason(credit, { firmState, today: istDay(now) }) === null;
}
