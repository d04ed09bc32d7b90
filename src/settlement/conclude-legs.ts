// What follows when legs are answered, whoever answers: customs, the clock, the operator, or news
// about a credit. For a set of settlements, in the transaction of the answer:
//
//   decide     what each leg and then its settlement becomes
//   credits    delivered ones go to their buyers, the others are let go
//   payouts    a seller is paid once all its legs in the settlement are answered
//   commission for the desk of each client whose credit was delivered
//   books      in one call: entries of delivered legs are posted, those of failed ones voided
//   tell       whoever follows settlements to their end; the changes are for the caller to record, last
//
// Credit and money of a leg change hands together, so nobody has to trust the other for a moment.

import { payCommissions } from "../commissions/pay-commissions.ts";
import type { CommissionedSide } from "../commissions/rules.ts";
import { deliverCredits, unwindCredits } from "../credits/settle-credits.ts";
import { dropQuestions } from "../inquiries/ask-outside.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { isHouse } from "../kernel/house.ts";
import { assertWritten, type Resolution } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { type Earning, schedulePayouts } from "../payouts/schedule-payouts.ts";
import type { Tx } from "../platform/postgres.ts";
import { moveSettlement } from "./move-settlement.ts";
import { changesOfSettlement, sidesOf } from "./change-of-settlement.ts";
import { moneyMovements } from "./movements.ts";
import { eventOfState, isOpenLeg, type LegOutcome, movesAfter } from "./rules.ts";
import { type LegRow, setLegs, setSettlements, type SettlementRow } from "./store.ts";

/** A settlement that is over, the orders that dealt in it, and whether anything was delivered. */
export type EndedSettlement = {
  readonly environment: Environment;
  readonly settlementId: string;
  readonly orderIds: readonly string[];
  readonly state: "settled" | "failed";
};

/** What another slice does when settlements end; it returns its changes, which are recorded last. */
export type OnEnded = (
  tx: Tx,
  actor: Actor,
  ended: readonly EndedSettlement[],
  now: Date,
) => Promise<readonly Change[]>;

/** What other slices have to say about the course of settlements. */
export type Settling = { readonly onEnded: readonly OnEnded[] };

/** A locked settlement with all its legs, and what was said about some of them, by number. */
export type Answers = {
  readonly settlement: SettlementRow;
  readonly legs: readonly LegRow[];
  readonly outcomes: ReadonlyMap<string, LegOutcome>;
};

export type Conclusion = {
  readonly environment: Environment;
  readonly answers: readonly Answers[];
  readonly actor: Actor;
  readonly settling: Settling;
  readonly now: Date;
};

export async function concludeLegs(tx: Tx, conclusion: Conclusion): Promise<readonly Change[]> {
  const { environment, actor, settling, now } = conclusion;
  const decided = conclusion.answers
    .filter(({ outcomes }) => outcomes.size > 0)
    .map((answers) => decide(answers, now));
  if (decided.length === 0) return [];
  await setLegs(
    tx,
    decided.flatMap(({ answered }) => answered),
  );
  await setSettlements(
    tx,
    decided.map(({ rows }) => rows.at(-1)).filter((row) => row !== undefined),
  );
  const credits = await moveCredits(tx, environment, decided, now);
  const payouts = await schedulePayouts(tx, decided.flatMap(earningsOf), now);
  const commissions = await payCommissions(tx, decided.flatMap(commissionsOf));
  const written = await writeBooks(
    tx,
    {
      resolutions: decided.flatMap(resolutionsOf),
      entries: [...payouts.entries, ...commissions],
    },
    now,
  );
  assertWritten(written.resolutions);
  assertWritten(written.entries);
  await dropQuestions(tx, decided.flatMap(subjectsOf));
  const changes = [...credits, ...decided.flatMap(({ changes: own }) => own), ...payouts.changes];
  const ended = decided.flatMap(endOf);
  for (const follow of ended.length > 0 ? settling.onEnded : []) {
    changes.push(...(await follow(tx, actor, ended, now)));
  }
  return changes;
}

/** What the registry is asked about a leg under. */
export function subjectOfLeg({ settlement_id, ordinal }: LegRow): string {
  return `${settlement_id}:${ordinal}`;
}

/** Whose hands the credit of a leg is in: the order that sells it, or what made the deal. */
export function holderOf(settlement: SettlementRow, leg: LegRow) {
  return { scripNo: leg.scrip_no, reservedFor: leg.seller_order_id ?? settlement.origin };
}

type Decided = {
  readonly before: SettlementRow;
  /** The settlement after each of its moves; one without a move when legs are still open. */
  readonly rows: readonly SettlementRow[];
  readonly legs: readonly LegRow[];
  /** Those of the legs that were answered now. */
  readonly answered: readonly LegRow[];
  readonly changes: readonly Change[];
};

function decide({ settlement, legs: legsBefore, outcomes }: Answers, now: Date): Decided {
  const legs = legsBefore.map((leg) => ({ ...leg, ...outcomes.get(leg.scrip_no) }));
  const answered = legs.filter((leg) => outcomes.has(leg.scrip_no));
  const moves = movesAfter(legs);
  if (moves.length === 0) {
    const after = { ...settlement, version: settlement.version + 1, updated_at: now };
    const changes = changesOfSettlement({ action: "answer", before: settlement, after, legs });
    return { before: settlement, rows: [after], legs, answered, changes };
  }
  const rows: SettlementRow[] = [];
  const changes: Change[] = [];
  for (const action of moves) {
    const before = rows.at(-1) ?? settlement;
    const reason = action === "fail" ? (legs.find((leg) => leg.reason)?.reason ?? null) : null;
    const after = moveSettlement(before, action, { reason, now });
    rows.push(after);
    const event = eventOfState[after.state];
    changes.push(...changesOfSettlement({ action, event, before, after, legs }));
  }
  return { before: settlement, rows, legs, answered, changes };
}

async function moveCredits(
  tx: Tx,
  environment: Environment,
  decided: readonly Decided[],
  now: Date,
): Promise<Change[]> {
  const moved = decided.flatMap(({ before, answered }) =>
    answered.map((leg) => ({
      state: leg.state,
      ...holderOf(before, leg),
      deskId: before.buyer_desk_id,
      firmId: before.buyer_firm_id,
      asOf: now,
    })),
  );
  const delivered = moved.filter(({ state }) => state === "delivered");
  const failed = moved.filter(({ state }) => state === "failed");
  return [
    ...(await deliverCredits(tx, environment, delivered, now)),
    ...(await unwindCredits(tx, environment, failed, now)),
  ];
}

/** What each client seller gets, once the last of its legs in the settlement is answered. */
function earningsOf({ before, legs, answered }: Decided): Earning[] {
  const answeredNow = new Set(answered.map((leg) => leg.seller_firm_id));
  return [...Map.groupBy(legs, (leg) => leg.seller_firm_id)].flatMap(([firmId, own]) => {
    if (isHouse(firmId) || !answeredNow.has(firmId)) return [];
    if (own.some((leg) => isOpenLeg(leg.state))) return [];
    const delivered = own.filter((leg) => leg.state === "delivered" && leg.seller_paise > 0);
    const [first] = delivered;
    if (!first) return [];
    return [
      {
        environment: before.environment,
        deskId: first.seller_desk_id,
        firmId,
        settlementId: before.settlement_id,
        lines: delivered.map((leg) => ({
          order_id: leg.seller_order_id ?? before.origin,
          scrip_no: leg.scrip_no,
          paise: leg.seller_paise,
        })),
      },
    ];
  });
}

/** What a cross is known by where its deals come from. */
const crossPrefix = "crs_";

/** Whose clients had credits delivered now; a desk earns nothing on its own deals, or on crosses. */
function commissionsOf({ before, answered }: Decided): CommissionedSide[] {
  if (before.origin.startsWith(crossPrefix)) return [];
  return answered
    .filter((leg) => leg.state === "delivered")
    .flatMap((leg) =>
      sidesOf(before, [leg])
        .filter(({ deskId, firmId }) => deskId !== firmId)
        .map(({ deskId, side }) => ({
          environment: leg.environment,
          settlementId: leg.settlement_id,
          legOrdinal: leg.ordinal,
          side,
          deskId,
          facePaise: leg.face_paise,
        })),
    );
}

/** The entries that hold the credit and, once it is funded, the money of a leg. */
function resolutionsOf({ before, answered }: Decided): Resolution[] {
  return answered.flatMap((leg) => {
    const as = leg.state === "delivered" ? "posted" : "voided";
    const name = {
      environment: leg.environment,
      subject: leg.settlement_id,
      ordinal: leg.ordinal,
      as,
    } as const;
    const isApart = before.money_apart && moneyMovements(leg, before.buyer_firm_id).length > 0;
    return [
      { ...name, kind: "deal_hold" as const },
      ...(isApart ? [{ ...name, kind: "deal_settlement" as const }] : []),
    ];
  });
}

/** Nobody needs to be asked any more about what has been answered. */
function subjectsOf({ before, rows, answered }: Decided): string[] {
  const hasEnded = rows.at(-1)?.due_at === null;
  return [...answered.map(subjectOfLeg), ...(hasEnded ? [before.settlement_id] : [])];
}

function endOf({ before, rows, legs }: Decided): EndedSettlement[] {
  const state = rows.at(-1)?.state;
  if (state !== "settled" && state !== "failed") return [];
  const orderIds = [before.buyer_order_id, ...legs.map((leg) => leg.seller_order_id)];
  return [
    {
      environment: before.environment,
      settlementId: before.settlement_id,
      orderIds: [...new Set(orderIds.filter((id) => id !== null))],
      state,
    },
  ];
}
