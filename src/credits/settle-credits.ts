// How settlement moves the credits of deals: an order or cross reserves a credit until it is
// delivered or released.

import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { isHouse, newId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istDay } from "../kernel/time.ts";
import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { buildCreditChange } from "./read-credits.ts";
import {
  lockForTransfer,
  lockLiveByNumber,
  type Reservation,
  setInSettlement,
} from "./deal-store.ts";
import { creditLifecycle, findExpiryDueDay, isLive } from "./rules.ts";
import { type CreditRow, insertHoldings, lockOpenByNumber, setCredits } from "./store.ts";

/** A credit and the deal that reserved it. */
export type ReservedCredit = { readonly scripNo: string; readonly reservedFor: string };

/** A credit and its buyer. */
type CreditDelivery = ReservedCredit & {
  readonly deskId: string;
  readonly firmId: string;
  /** The time of the registry's answer. */
  readonly asOf: Date;
};

/** Locks the credits that are still reserved for these deals; their ids by number. */
export async function lockReservedCredits(
  tx: Tx,
  environment: Environment,
  held: readonly ReservedCredit[],
): Promise<ReadonlyMap<string, string>> {
  const holders = new Map(held.map(({ scripNo, reservedFor }) => [scripNo, reservedFor]));
  const rows = await lockForTransfer(tx, environment, [...holders.keys()]);
  return new Map(
    rows
      .filter((row) => row.reserved_for === holders.get(row.scrip_no))
      .map((row) => [row.scrip_no, row.credit_id]),
  );
}

/**
 * Moves locked credits to `in_settlement`: reserved ones, or listed ones of a deal that starts at
 * once.
 */
export function beginTransfers(taken: readonly Reservation[], now: Date): Query<void> {
  if (taken.length === 0) return known(undefined);
  return setInSettlement(taken, now).map((begun) => {
    if (begun !== taken.length) throw new Error("a locked credit stays with its deal");
  });
}

/**
 * Customs has transferred these credits: ends the seller's holdings and inserts the buyer's,
 * listed. Claims of others to these numbers are rejected; the caller drops their questions after it
 * has written the books.
 */
export async function deliverCredits(
  tx: Tx,
  environment: Environment,
  deliveries: readonly CreditDelivery[],
  now: Date,
): Promise<{ readonly changes: readonly Change[]; readonly refutedIds: readonly string[] }> {
  if (deliveries.length === 0) return { changes: [], refutedIds: [] };
  const open = await lockOpenByNumber(
    tx,
    environment,
    deliveries.map(({ scripNo }) => scripNo),
  );
  const claims = open.filter(({ state }) => state === "declared");
  const rejected = await rejectClaims(tx, claims, now);
  const live = new Map(open.filter(({ state }) => isLive(state)).map((row) => [row.scrip_no, row]));
  const sold = deliveries.map((delivery) => {
    const row = live.get(delivery.scripNo);
    if (row?.reserved_for !== delivery.reservedFor) {
      throw new Error(`${delivery.scripNo} is not reserved for the deal that delivers it`);
    }
    return { row, delivery };
  });
  const ending = sold.map(({ row, delivery }) => ({
    ...row,
    state: advance(creditLifecycle, row.state, "transfer"),
    reserved_for: null,
    as_of: delivery.asOf,
  }));
  const beginning = sold.map(({ row, delivery }) => {
    const shown = { ...row, balance_shown_on: istDay(delivery.asOf) };
    return buildHolding(shown, delivery, now);
  });
  const [ended] = await tx.pipeline([setCredits(ending, now), insertHoldings(tx, beginning)]);
  const changes = [
    ...rejected,
    ...ended.map((after) =>
      buildCreditChange({ action: "transfer", before: live.get(after.scrip_no) ?? null, after }),
    ),
    ...beginning.map(received),
  ];
  return { changes, refutedIds: claims.map((row) => row.credit_id) };
}

/** A credit of a deal that has ended, who holds it and the firm whose it becomes. */
type ReturnedCredit = {
  readonly scripNo: string;
  readonly holderFirmId: string;
  readonly deskId: string;
  readonly firmId: string;
  /** What it was dealt at: it goes back whole. Left out where customs has moved it already. */
  readonly facePaise?: number;
};

/**
 * All or none: refused when a holder no longer has a credit, has it reserved or has used a part of it.
 * With `ifHeld`, a credit that its holder no longer has is left out.
 */
export async function giveBackCredits(
  tx: Tx,
  environment: Environment,
  givenBack: readonly ReturnedCredit[],
  {
    reason,
    ifHeld = false,
    now,
  }: { readonly reason: string; readonly ifHeld?: boolean; readonly now: Date },
): Promise<Change[]> {
  const rows = await lockLiveByNumber(
    tx,
    environment,
    givenBack.map(({ scripNo }) => scripNo),
  );
  const live = new Map(rows.map((row) => [row.scrip_no, row]));
  const held = givenBack.flatMap((to) => {
    const row = live.get(to.scripNo);
    if (ifHeld && row?.firm_id !== to.holderFirmId) return [];
    if (row?.firm_id !== to.holderFirmId || row.state !== "listed") {
      throw new Failure("conflict", `${to.scripNo} is not held freely by ${to.holderFirmId}`, {
        detail: { reason: "credit_not_held", scrip_no: to.scripNo, state: row?.state ?? null },
      });
    }
    if (to.facePaise !== undefined && row.face_paise !== to.facePaise) {
      throw new Failure("conflict", `${to.scripNo} is no longer what it was dealt at`, {
        detail: {
          reason: "balance_changed",
          scrip_no: to.scripNo,
          face_paise: row.face_paise,
          dealt_face_paise: to.facePaise,
        },
      });
    }
    return [{ row, to }];
  });
  if (held.length === 0) return [];
  const ending = held.map(({ row }) => ({
    ...row,
    state: advance(creditLifecycle, row.state, "give_back"),
    reason,
    as_of: now,
  }));
  const beginning = held.map(({ row, to }) => buildHolding(row, { ...to, asOf: now }, now));
  const [ended] = await tx.pipeline([setCredits(ending, now), insertHoldings(tx, beginning)]);
  return [
    ...ended.map((after) =>
      buildCreditChange({ action: "give_back", before: live.get(after.scrip_no) ?? null, after }),
    ),
    ...beginning.map(received),
  ];
}

function received(after: CreditRow): Change {
  return buildCreditChange({
    action: "receive",
    before: null,
    after,
    ...(!isHouse(after.firm_id) && { event: "credit.listed" }),
  });
}

/**
 * Releases credits that were not delivered. Suspended credits stay suspended and are listed when
 * the suspension is lifted; cancelled and used ones stay so.
 */
export async function unwindCredits(
  tx: Tx,
  environment: Environment,
  held: readonly ReservedCredit[],
  now: Date,
): Promise<Change[]> {
  if (held.length === 0) return [];
  const before = await lockHeld(tx, environment, held);
  if (before.size === 0) return [];
  const freed = await tx.run(setCredits([...before.values()].map(freeCredit), now));
  return freed.map((after) =>
    buildCreditChange({ action: "unwind", before: before.get(after.scrip_no) ?? null, after }),
  );
}

function freeCredit(row: CreditRow): CreditRow {
  if (row.state === "suspended") {
    return { ...row, state_before_suspension: "listed", reserved_for: null };
  }
  const action = row.state === "reserved" ? "release" : "unwind";
  return { ...row, state: advance(creditLifecycle, row.state, action), reserved_for: null };
}

async function lockHeld(
  tx: Tx,
  environment: Environment,
  held: readonly ReservedCredit[],
): Promise<ReadonlyMap<string, CreditRow>> {
  const holders = new Map(held.map(({ scripNo, reservedFor }) => [scripNo, reservedFor]));
  const rows = await lockLiveByNumber(tx, environment, [...holders.keys()]);
  return new Map(
    rows
      .filter((row) => row.reserved_for === holders.get(row.scrip_no))
      .map((row) => [row.scrip_no, row]),
  );
}

async function rejectClaims(tx: Tx, rows: readonly CreditRow[], now: Date): Promise<Change[]> {
  const claims = new Map(rows.map((row) => [row.credit_id, row]));
  if (claims.size === 0) return [];
  const refuted = rows.map((row) => ({
    ...row,
    state: advance(creditLifecycle, row.state, "reject"),
    reason: "held_elsewhere",
    as_of: now,
  }));
  const rejected = await tx.run(setCredits(refuted, now));
  return rejected.map((after) =>
    buildCreditChange({ action: "reject", before: claims.get(after.credit_id) ?? null, after }),
  );
}

/** The row of the new holder. */
function buildHolding(
  row: CreditRow,
  { deskId, firmId, asOf }: Pick<CreditDelivery, "deskId" | "firmId" | "asOf">,
  now: Date,
): CreditRow {
  return {
    ...row,
    credit_id: newId("crd", now),
    desk_id: deskId,
    firm_id: firmId,
    state: "listed",
    state_before_suspension: null,
    reserved_for: null,
    reason: null,
    as_of: asOf,
    expiry_told: null,
    expiry_due_on: findExpiryDueDay(row.expires_on, null),
    version: 1,
    created_at: now,
    updated_at: now,
  };
}
