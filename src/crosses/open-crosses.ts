import { readCalendar } from "../calendar/read-calendar.ts";
import type { Change } from "../kernel/actor.ts";
import type { Caller } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import type { Bps, Paise } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Side } from "../kernel/side.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Calendar } from "../kernel/working-days.ts";
import type { Tx } from "../platform/postgres.ts";
import { reserveForCrosses } from "./agree-crosses.ts";
import { changesOfCross } from "./change-of-cross.ts";
import { type CrossKind, dueAtOf, feeBpsOf, sumsOf, type Terms, termsHashOf } from "./rules.ts";
import { type CrossRow, insertCrosses } from "./store.ts";

/** A firm of the caller's desk on one side of a cross. */
export type CrossParty = { readonly firmId: string; readonly iec: string };

/** What a desk agrees on between two of its own firms. */
export type NewCross = {
  /** Made here unless the caller has told it already. */
  readonly crossId?: string;
  readonly kind: CrossKind;
  readonly seller: CrossParty;
  readonly buyer: CrossParty;
  readonly scheme: Scheme;
  readonly scripNos: readonly string[];
  readonly facePaise: Paise;
  readonly priceBps: Bps;
  /** The side that is acted for first. */
  readonly proposedBy: Side;
  /** The netting that it is a part of. */
  readonly nettingRef: string | null;
};

export type OpenedCrosses = {
  /** In the order they were asked for. */
  readonly crosses: readonly CrossRow[];
  /** For the caller to record with its own, last. */
  readonly changes: readonly Change[];
};

/**
 * Crosses among the firms of one desk, agreed as they are made, with their credits reserved: all of
 * them or none. Refused as a whole when a firm may not deal or a credit is not to be had.
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
    const feeBps = feeBpsOf[cross.kind];
    return {
      ...newCrossRow({
        crossId: cross.crossId ?? newId("crs", now),
        caller,
        terms: { ...cross, feeBps, sellerIec: seller.iec, buyerIec: buyer.iec },
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
  const changes = rows.flatMap((after) => changesOfCross({ action: "agree", before: null, after }));
  return { crosses: rows, changes };
}

/** A cross with its terms and nobody on its sides yet. */
export function newCrossRow({
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
  readonly terms: Terms;
  readonly proposedBy: Side;
  readonly state: "proposed" | "agreed";
  readonly now: Date;
  readonly calendar: Calendar;
}): CrossRow {
  const sums = sumsOf(terms);
  if (!sums) throw new Error("what a cross is worth was looked at before");
  return {
    cross_id: crossId,
    environment,
    kind: terms.kind,
    scheme: terms.scheme,
    face_paise: terms.facePaise,
    price_bps: terms.priceBps,
    fee_bps: terms.feeBps,
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
    terms_hash: termsHashOf(terms),
    state,
    reason: null,
    payment_ref: null,
    settlement_id: null,
    netting_ref: null,
    due_at: dueAtOf(state, environment, now, calendar),
    history: [{ status: state, at: istTimestamp(now), reason: null }],
    version: 1,
    created_at: now,
    updated_at: now,
  };
}
