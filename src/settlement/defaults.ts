// What a side that was late pays the other (`findFault`).
//
//   raise    when its leg ends it comes to owe it, and the books set that off from whatever it has
//            available, what goes back to a buyer first
//   pay      the other side gets it once the late one owes nothing, so that the house fronts nothing

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { environments } from "../kernel/caller.ts";
import { isHouse } from "../kernel/ids.ts";
import { assertWritten, type Account, type Entry } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import {
  noOffenders,
  type Offenders,
  workInParts,
  yieldToCallers,
} from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import type { DecidedLegs } from "./decide-legs.ts";
import { buildSideChange, listSides } from "./move-settlement.ts";
import { findSideState } from "./rules.ts";
import {
  claimCollected,
  type DealRows,
  type LegRow,
  listLegs,
  setLegs,
  setSettlements,
  type SettlementRow,
} from "./store.ts";
import type { Defaulter } from "./unpaid-deals.ts";

const setSizeMax = 100;
const defaultWorker: Actor = { kind: "worker", id: "defaults", requestId: null };

/**
 * Raises the dues of who was late. Comes before payouts are scheduled, which are less what is owed; the
 * credits and tax sums of the deals are locked.
 */
export async function raiseDefaults(
  tx: Tx,
  decided: readonly DecidedLegs[],
  now: Date,
): Promise<void> {
  const charged = decided.flatMap(({ before, answered }) =>
    answered
      .filter((leg) => leg.default_by !== null)
      .map((leg) => ({ leg, firmId: findDebtor(before, leg).firmId })),
  );
  if (charged.length === 0) return;
  const entries = charged.map(({ leg, firmId }) =>
    buildEntry(leg, "raise", { kind: "firm_dues", firmId }, { kind: "house_cash" }),
  );
  const owing = charged.map(({ leg: { environment }, firmId }) => ({ environment, firmId }));
  assertWritten((await writeBooks(tx, { entries, owing }, now)).entries);
}

/** Who was late in these deals and at what, each firm once a deal. */
export function listDefaulters(decided: readonly DecidedLegs[]): Defaulter[] {
  return decided.flatMap(({ before, answered }) => {
    const late = answered.filter((leg) => leg.default_by !== null);
    const byFirm = new Map(late.map((leg) => [findDebtor(before, leg).firmId, leg]));
    return [...byFirm.values()].map((leg) => ({
      settlement: before,
      ...findDebtor(before, leg),
      step: leg.default_by === "sell" ? ("initiate" as const) : ("accept" as const),
    }));
  });
}

/** Gives one set of the other sides what was collected for them. */
export async function payDefaults(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let isMore = false;
  for (const environment of environments) {
    const now = ctx.now();
    const done = await workInParts(offenders, (choice, note) =>
      ctx.db.transaction(async (tx) => {
        const claimed = await claimCollected(tx, environment, { limit: setSizeMax, ...choice });
        const ids = claimed.map((row) => row.settlement_id);
        note(ids);
        if (ids.length === 0) return 0;
        yieldToCallers(tx);
        const legs = Map.groupBy(await listLegs(tx, ids), (leg) => leg.settlement_id);
        const deals = claimed.map((settlement) => ({
          settlement,
          legs: legs.get(settlement.settlement_id) ?? [],
        }));
        await recordChanges(tx, defaultWorker, await pay(tx, deals, now), now);
        return claimed.length;
      }),
    );
    isMore ||= done === setSizeMax;
  }
  return isMore ? "more" : "idle";
}

async function pay(tx: Tx, deals: readonly DealRows[], now: Date): Promise<readonly Change[]> {
  const paid = deals.map(({ settlement, legs }) => {
    const isDue = (leg: LegRow) => leg.default_by !== null && leg.default_paid_at === null;
    return {
      after: { ...settlement, version: settlement.version + 1, updated_at: now },
      legs: legs.map((leg) => (isDue(leg) ? { ...leg, default_paid_at: now } : leg)),
      due: legs.filter(isDue),
    };
  });
  const entries = paid.flatMap(({ after, due }) =>
    due.map((leg) => {
      const to = { kind: "firm_cash", firmId: findCreditor(after, leg).firmId } as const;
      return buildEntry(leg, "pay", { kind: "house_cash" }, to);
    }),
  );
  assertWritten((await writeBooks(tx, { entries }, now)).entries);
  tx.defer(setSettlements(paid.map(({ after }) => after)));
  tx.defer(setLegs(paid.flatMap(({ legs }) => legs.filter((leg) => leg.default_paid_at === now))));
  return paid.flatMap(({ after, legs, due }) => {
    const firmIds = new Set(due.map((leg) => findCreditor(after, leg).firmId));
    return listSides(after, legs)
      .filter(({ firmId }) => firmIds.has(firmId))
      .map((side) => {
        const state = findSideState(after.state, side.legs);
        const event = "settlement.default_paid";
        return buildSideChange({
          action: "pay_default",
          event,
          side,
          after,
          from: state,
          to: state,
        });
      });
  });
}

type DefaultParty = { readonly deskId: string; readonly firmId: string };

function findDebtor(settlement: SettlementRow, leg: LegRow): DefaultParty {
  return leg.default_by === "sell" ? toSeller(leg) : toBuyer(settlement);
}

function findCreditor(settlement: SettlementRow, leg: LegRow): DefaultParty {
  const creditor = leg.default_by === "sell" ? toBuyer(settlement) : toSeller(leg);
  if (isHouse(creditor.firmId)) throw new Error("what is due to the house is there");
  return creditor;
}

function toSeller({ seller_desk_id: deskId, seller_firm_id: firmId }: LegRow): DefaultParty {
  return { deskId, firmId };
}

function toBuyer({ buyer_desk_id: deskId, buyer_firm_id: firmId }: SettlementRow): DefaultParty {
  return { deskId, firmId };
}

/** A leg has two entries: what the late side comes to owe, and what the other gets. */
function buildEntry(leg: LegRow, stage: "raise" | "pay", from: Account, to: Account): Entry {
  return {
    environment: leg.environment,
    kind: "default",
    subject: leg.settlement_id,
    ordinal: leg.ordinal * 2 + (stage === "raise" ? 0 : 1),
    phase: "posted",
    movements: [{ from, to, paise: leg.default_paise }],
  };
}
