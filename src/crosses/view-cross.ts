import { feeWithin } from "../kernel/fees.ts";
import { priceCeil } from "../kernel/money.ts";
import type { Side } from "../kernel/side.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Db } from "../platform/postgres.ts";
import { statesOfSettlements } from "../settlement/states-of-settlements.ts";
import { allInOf, counterpartyIecOf, sidesOf } from "./change-of-cross.ts";
import type { FoundCross, Party } from "./read-store.ts";
import { allowedActionsOf, otherSide, type Standing, waitingOnOf } from "./rules.ts";
import type { Cross } from "./schema.ts";

/** A side of a cross that the caller has, or could take by its answer. */
export type OwnSide = { readonly side: Side; readonly firmId: string };

/** The caller's sides, the proposing one first. */
export function ownSides(row: FoundCross, { deskId, firmId }: Party): OwnSide[] {
  const known = sidesOf(row).filter(
    (side) => side.deskId === deskId && (firmId === null || side.firmId === firmId),
  );
  const addressed =
    row.addressed_firm_id === null
      ? []
      : [{ side: otherSide(row.proposed_by), firmId: row.addressed_firm_id }];
  const isFirst = ({ side }: OwnSide) => side === row.proposed_by;
  return [...known, ...addressed].toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
}

export function standingOf(row: FoundCross, party: Party): Standing {
  const sides = ownSides(row, party).map(({ side }) => side);
  return { state: row.state, proposedBy: row.proposed_by, sides };
}

/** A cross as one party sees it: its own side, or both where both are its own. */
export function viewCross(row: FoundCross, party: Party, settlementStatus: string | null): Cross {
  const sides = ownSides(row, party);
  const [own] = sides;
  if (!own) throw new Error("a cross is shown to those who have a side in it");
  const { feePaise, gstPaise } = feeWithin(priceCeil(row.face_paise, row.fee_bps));
  const fee = { fee_paise: feePaise, gst_paise: gstPaise };
  return {
    cross_id: row.cross_id,
    kind: row.kind,
    side: own.side,
    firm_id: own.firmId,
    counterparty_iec: counterpartyIecOf(row, own.side),
    scheme: row.scheme,
    scrip_nos: [...row.scrip_nos],
    face_paise: row.face_paise,
    price_bps: row.price_bps,
    ...fee,
    all_in_paise: allInOf(row, own.side),
    sides: sides.map(({ side, firmId }) => ({
      side,
      firm_id: firmId,
      ...fee,
      all_in_paise: allInOf(row, side),
    })),
    terms_hash: row.terms_hash,
    status: row.state,
    reason: row.reason,
    waiting_on: waitingOnOf(row),
    due_at: row.due_at && istTimestamp(row.due_at),
    payment_ref: sides.some(({ side }) => side === "buy") ? row.payment_ref : null,
    settlement_id: row.settlement_id,
    settlement_status: settlementStatus,
    netting_ref: row.netting_ref,
    history: [...row.history],
    version: row.version,
    allowed_actions: allowedActionsOf(standingOf(row, party)),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

/** The same for a set; the state of a settlement is the settlement's, never copied. */
export async function viewCrosses(
  db: Db,
  rows: readonly FoundCross[],
  party: Party,
): Promise<Cross[]> {
  const states = await statesOfSettlements(
    db,
    rows.flatMap((row) => row.settlement_id ?? []),
  );
  return rows.map((row) => viewCross(row, party, states.get(row.settlement_id ?? "") ?? null));
}
