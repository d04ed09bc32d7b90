import type { Change } from "../kernel/actor.ts";
import type { Side } from "../kernel/side.ts";
import { eventOfState, otherSide } from "./rules.ts";
import type { AddressedFirm, CrossRow } from "./store.ts";

/** A firm's side of a cross, and nothing of the other's. */
export type SideOfCross = {
  readonly side: Side;
  readonly deskId: string;
  readonly firmId: string;
};

/** The firms on both sides as far as they are known. */
export function sidesOf(row: CrossRow): SideOfCross[] {
  const { seller_desk_id, seller_firm_id, buyer_desk_id, buyer_firm_id } = row;
  return [
    ...(seller_desk_id !== null && seller_firm_id !== null
      ? [{ side: "sell" as const, deskId: seller_desk_id, firmId: seller_firm_id }]
      : []),
    ...(buyer_desk_id !== null && buyer_firm_id !== null
      ? [{ side: "buy" as const, deskId: buyer_desk_id, firmId: buyer_firm_id }]
      : []),
  ];
}

/** What a side pays or gets, everything included. */
export function allInOf(row: CrossRow, side: Side): number {
  return side === "sell" ? row.seller_paise : row.buyer_paise;
}

/** Whom the other side is known as. */
export function counterpartyIecOf(row: CrossRow, side: Side): string {
  return side === "sell" ? row.buyer_iec : row.seller_iec;
}

/**
 * What every desk that has a side is told of a change of a cross: its own side. While an answer is
 * waited for, whoever could give it is told as well.
 */
export function changesOfCross({
  action,
  isTold = true,
  before,
  after,
  addressed = [],
}: {
  readonly action: string;
  /** Whether it is an event, as every change of state is. */
  readonly isTold?: boolean;
  readonly before: CrossRow | null;
  readonly after: CrossRow;
  readonly addressed?: readonly AddressedFirm[];
}): Change[] {
  const awaited = addressed
    .filter(({ iec, authorized_at }) => {
      // Whoever takes on an IEC once there is a proposal to it is told nothing of that proposal.
      return iec === after.awaited_iec && authorized_at <= after.created_at;
    })
    .map(({ desk_id, firm_id }) => ({
      side: otherSide(after.proposed_by),
      deskId: desk_id,
      firmId: firm_id,
    }));
  return [...sidesOf(after), ...awaited].map(({ side, deskId, firmId }) => ({
    environment: after.environment,
    deskId,
    firmId,
    action: `cross.${action}`,
    entity: {
      type: "cross",
      id: after.cross_id,
      version: after.version,
      href: `/v1/cross/${after.cross_id}`,
    },
    before: before && shownTo(side, before),
    after: shownTo(side, after),
    ...(isTold && {
      event: {
        name: eventOfState[after.state],
        from: before?.state ?? null,
        to: after.state,
        data: shownTo(side, after),
      },
    }),
  }));
}

function shownTo(side: Side, row: CrossRow): object {
  return {
    kind: row.kind,
    side,
    counterparty_iec: counterpartyIecOf(row, side),
    scheme: row.scheme,
    scrip_nos: row.scrip_nos,
    face_paise: row.face_paise,
    price_bps: row.price_bps,
    all_in_paise: allInOf(row, side),
    terms_hash: row.terms_hash,
    payment_ref: side === "buy" ? row.payment_ref : null,
    settlement_id: row.settlement_id,
    netting_ref: row.netting_ref,
    status: row.state,
    reason: row.reason,
  };
}
