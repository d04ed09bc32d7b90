// What follows when legs are answered, whoever answers: customs, the clock, the operator, or news
// about a credit. For a set of settlements, in the transaction of the answer:
//
//   decide     what each leg and then its settlement becomes
//   crosses    end as their settlements do; they are locked before credits
//   credits    delivered ones go to their buyers, the others are let go
//   payouts    a seller is paid once all its legs in the settlement are answered; until then what it
//              has got is kept back, so that it is there to be paid
//   commission for the desk of each client whose credit was delivered
//   books      in one call: entries of delivered legs are posted, those of failed ones voided
//   orders     fail of which nothing was delivered; they are locked after the books
//
// The changes are for the caller to record, last.
//
// Credit and money of a leg change hands together, so nobody has to trust the other for a moment.

import { payCommissions } from "./commissions.ts";
import { deliverCredits, unwindCredits } from "../credits/settle-credits.ts";
import { dropQuestions } from "../outside/ask.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { assertWritten } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { schedulePayouts } from "../payouts/schedule-payouts.ts";
import { type TaxedLegs, taxDelivered, findWithheld } from "./tax-legs.ts";
import type { Side } from "../kernel/scheme.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { listOrderIds } from "./move-settlement.ts";
import {
  type Answers,
  listCommissionedSides,
  type Decided,
  decideLegs,
  buildEarnings,
  buildRetentions,
  buildResolutions,
  listTaxableLegs,
} from "./decide-legs.ts";
import { type LegRow, setLegs, setSettlements, type SettlementRow } from "./store.ts";

/** A client's side that is over: all its legs are answered, whatever becomes of those of others. */
export type EndedSide = {
  readonly environment: Environment;
  readonly settlementId: string;
  readonly side: Side;
  readonly state: "settled" | "failed";
  /** The orders that it dealt by and of which nothing was delivered here. */
  readonly undeliveredOrderIds: readonly string[];
};

/** What another slice does when sides end; it returns its changes, which are recorded last. */
export type OnEnded = (
  tx: Tx,
  actor: Actor,
  ended: readonly EndedSide[],
  now: Date,
) => Promise<readonly Change[]>;

/** What other slices have to say about the course of settlements. */
export type SettlementHooks = {
  readonly crosses: OnEnded;
  readonly orders: OnEnded;
  /** Whoever locks credits before it concludes legs locks the crosses of their settlements first. */
  readonly lockCrosses: (tx: Tx, settlementIds: readonly string[]) => Promise<void>;
};

export type Conclusion = {
  readonly environment: Environment;
  readonly answers: readonly Answers[];
  readonly actor: Actor;
  readonly settlementHooks: SettlementHooks;
  readonly now: Date;
};

export async function concludeLegs(tx: Tx, conclusion: Conclusion): Promise<readonly Change[]> {
  const { environment, actor, settlementHooks, now } = conclusion;
  const decided = conclusion.answers
    .filter(({ outcomes }) => outcomes.size > 0)
    .map((answers) => decideLegs(answers, now));
  if (decided.length === 0) return [];
  await setLegs(
    tx,
    decided.flatMap(({ answered }) => answered),
  );
  await setSettlements(
    tx,
    decided.map(({ rows }) => rows.at(-1)).filter((row) => row !== undefined),
  );
  const ended = decided.flatMap(listEndedSides);
  const crosses = ended.length > 0 ? await settlementHooks.crosses(tx, actor, ended, now) : [];
  const credits = await moveCredits(tx, environment, decided, now);
  const taxed = await taxLegs(tx, environment, decided, now);
  const earnings = decided.flatMap((one) => buildEarnings(one, taxed.withheld));
  const payouts = await schedulePayouts(tx, earnings, now);
  const commissions = await payCommissions(tx, decided.flatMap(listCommissionedSides));
  const written = await writeBooks(
    tx,
    {
      resolutions: decided.flatMap((one) => buildResolutions(one, taxed.withheld)),
      entries: [
        ...taxed.entries,
        ...payouts.entries,
        ...decided.flatMap((one) => buildRetentions(one, taxed.withheld)),
        ...commissions,
      ],
    },
    now,
  );
  assertWritten(written.resolutions);
  assertWritten(written.entries);
  await dropQuestions(tx, [...decided.flatMap(listAnsweredSubjects), ...credits.refutedIds]);
  const orders = ended.length > 0 ? await settlementHooks.orders(tx, actor, ended, now) : [];
  const own = decided.flatMap(({ changes }) => changes);
  return [...credits.changes, ...own, ...payouts.changes, ...orders, ...crosses];
}

/** The taxes of what is delivered now, and what was withheld from what was delivered before. */
async function taxLegs(
  tx: Tx,
  environment: Environment,
  decided: readonly Decided[],
  now: Date,
): Promise<TaxedLegs> {
  const taxed = await taxDelivered(tx, environment, decided.flatMap(listTaxableLegs), now);
  const earlier = decided.filter(({ legs, answered }) =>
    legs.some((leg) => leg.state === "delivered" && !answered.includes(leg)),
  );
  const before = await findWithheld(
    tx,
    earlier.map((one) => one.before.settlement_id),
  );
  return { entries: taxed.entries, withheld: new Map([...before, ...taxed.withheld]) };
}

/** What the registry is asked about a leg under. */
export function toLegSubject({ settlement_id, ordinal }: LegRow): string {
  return `${settlement_id}:${ordinal}`;
}

/** Whose hands the credit of a leg is in: the order that sells it, or what made the deal. */
export function toReservation(settlement: SettlementRow, leg: LegRow) {
  return { scripNo: leg.scrip_no, reservedFor: leg.seller_order_id ?? settlement.origin };
}

async function moveCredits(
  tx: Tx,
  environment: Environment,
  decided: readonly Decided[],
  now: Date,
): Promise<{ readonly changes: readonly Change[]; readonly refutedIds: readonly string[] }> {
  const moved = decided.flatMap(({ before, answered }) =>
    answered.map((leg) => ({
      state: leg.state,
      ...toReservation(before, leg),
      deskId: before.buyer_desk_id,
      firmId: before.buyer_firm_id,
      asOf: now,
    })),
  );
  const delivered = moved.filter(({ state }) => state === "delivered");
  const failed = moved.filter(({ state }) => state === "failed");
  const { changes, refutedIds } = await deliverCredits(tx, environment, delivered, now);
  const unwound = await unwindCredits(tx, environment, failed, now);
  return { changes: [...changes, ...unwound], refutedIds };
}

/** Nobody needs to be asked any more about what has been answered. */
function listAnsweredSubjects({ before, rows, answered }: Decided): string[] {
  const hasEnded = rows.at(-1)?.due_at === null;
  return [...answered.map(toLegSubject), ...(hasEnded ? [before.settlement_id] : [])];
}

function listEndedSides({ before, ended }: Decided): EndedSide[] {
  return ended.map((side) => {
    const delivered = side.legs.filter((leg) => leg.state === "delivered");
    const paidFor = listOrderIds({ ...side, legs: delivered }, before);
    const isSettled = delivered.length > 0;
    return {
      environment: before.environment,
      settlementId: before.settlement_id,
      side: side.side,
      state: isSettled ? "settled" : "failed",
      undeliveredOrderIds: listOrderIds(side, before).filter(
        (id) => !isSettled || !paidFor.includes(id),
      ),
    };
  });
}
