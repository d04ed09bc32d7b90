// Asks customs to transfer legs, and applies answers to them, whether they come from customs, a
// deadline, the operator or news about a credit. For a set of settlements, in the transaction of the
// answer:
//
//   decide     the new state of each leg, then of its settlement
//   crosses    end with their settlements; they are locked before credits
//   credits    delivered ones go to their buyers, the others are released
//   payouts    a seller is paid once all its legs in the settlement are answered; until then its
//              proceeds are retained by a pending entry, so that it cannot spend them
//   commission is paid to the desk of each client whose credit was delivered
//   defaults   of who was late become its dues, before its payouts are scheduled
//   books      in one call: entries of delivered legs are posted, those of failed ones voided, and
//              what a seller owes is set off from its proceeds
//   orders     without any delivered credit fail; they are locked after the books
//
// The caller records the returned changes last. The credit and the money of a leg change hands in
// this one transaction: delivery against payment.

import {
  beginTransfers,
  deliverCredits,
  lockReservedCredits,
  type ReservedCredit,
  unwindCredits,
} from "../credits/settle-credits.ts";
import { findIecs } from "../firms/find-firms.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { sumPaise } from "../kernel/money.ts";
import type { Side } from "../kernel/scheme.ts";
import { assertWritten, balanceMoved, refuseMoved } from "../ledger/rules.ts";
import { writeBooks, type WrittenBooks } from "../ledger/write-books.ts";
import { askOutside, dropQuestions } from "../outside/ask.ts";
import {
  type DealScenario,
  type TransferScenario,
  transferScenarios,
} from "../outside/scenario-rules.ts";
import { takeScenarioFor, takeScenarios } from "../outside/scenarios.ts";
import { schedulePayouts } from "../payouts/schedule-payouts.ts";
import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { payCommissions } from "./commissions.ts";
import {
  type Answers,
  buildEarnings,
  buildResolutions,
  buildRetentions,
  type DecidedLegs,
  decideLegs,
  listCommissionedLegs,
  listTaxableLegs,
  buildSteppedChanges,
  type SteppedDeal,
} from "./decide-legs.ts";
import { listOrderIds } from "./move-settlement.ts";
import { isAtCustoms, isOpenLeg, isUnpaid, type LegState } from "./rules.ts";
import {
  type LegRow,
  setLegs,
  setSettlements,
  setSteppedLegs,
  type SettlementRow,
} from "./store.ts";
import { findWithheld, taxDelivered, type TaxedLegs } from "../taxes/tax-legs.ts";
import { rememberUnpaid, toUnpaidBuyer } from "./unpaid-deals.ts";
import { listDefaulters, raiseDefaults } from "./defaults.ts";

/** A client's side of which every leg is answered; legs of other sides may still be open. */
export type EndedSide = {
  readonly environment: Environment;
  readonly settlementId: string;
  readonly side: Side;
  readonly state: "settled" | "failed";
  /** The orders of this side without a delivered credit in this settlement. */
  readonly undeliveredOrderIds: readonly string[];
};

/** A room's reaction to ended sides; it returns its changes, which are recorded last. */
export type OnEnded = (
  tx: Tx,
  actor: Actor,
  ended: readonly EndedSide[],
  now: Date,
) => Promise<readonly Change[]>;

/** The reactions of rooms above this one, injected because this room must not import them. */
export type SettlementHooks = {
  readonly crosses: OnEnded;
  readonly orders: OnEnded;
  /** Called before credits are locked: crosses come before credits in the order of locks. */
  readonly lockCrosses: (tx: Tx, settlementIds: readonly string[]) => void;
};

/** A settlement and the legs that customs is asked about. */
type AskedTransfer = {
  readonly settlement: SettlementRow;
  readonly asked: readonly LegRow[];
};

/** The IECs of the firms, for customs. */
type Iecs = ReadonlyMap<string, string | null>;

export function findTransferIecs(
  environment: Environment,
  transfers: readonly AskedTransfer[],
  now: Date,
): Query<Iecs> {
  if (transfers.length === 0) return known(new Map());
  const firmIds = transfers.flatMap(({ settlement, asked }) => [
    settlement.buyer_firm_id,
    ...asked.map((leg) => leg.seller_firm_id),
  ]);
  return findIecs(environment, [...new Set(firmIds)], now);
}

/** Takes a scenario for each of these deals of the sandbox, of its first desk that has one. */
export function takeDealScenarios<Wanted extends DealScenario>(
  environment: Environment,
  deals: readonly Parties[],
  wanted: readonly Wanted[],
): Query<(settlementId: string) => Wanted | null> {
  const deskIds = deals.flatMap(listDeskIds);
  return takeScenarios(environment, { deskIds, wanted }).map((scenarios) => {
    const byDeal = new Map(
      deals.map((deal) => [
        deal.settlement.settlement_id,
        takeScenarioFor(scenarios, ...listDeskIds(deal)),
      ]),
    );
    return (settlementId) => byDeal.get(settlementId) ?? null;
  });
}

/** A settlement and the legs of those that sell in it. */
type Parties = { readonly settlement: SettlementRow; readonly legs: readonly LegRow[] };

export function listDeskIds({ settlement, legs }: Parties): string[] {
  return [...legs.map((leg) => leg.seller_desk_id), settlement.buyer_desk_id];
}

/**
 * Asks customs what became of the credits, with one question per credit. In live it is asked once the
 * holders are told, since its report may show a transfer before anybody says so; the simulated customs
 * is asked once both parties have done their part.
 */
export function askCustoms(
  environment: Environment,
  transfers: readonly AskedTransfer[],
  { iecs, findScenario }: { readonly iecs: Iecs; readonly findScenario: FindScenario },
  now: Date,
): Query<void> {
  return askOutside(
    transfers.flatMap(({ settlement, asked }) =>
      asked.map((leg) => ({
        environment,
        deskId: leg.seller_desk_id,
        port: "registry" as const,
        kind: "credit_transfer" as const,
        subjectId: toLegSubject(leg),
        facts: {
          settlement_id: leg.settlement_id,
          scrip_no: leg.scrip_no,
          face_paise: leg.face_paise,
          seller_iec: iecs.get(leg.seller_firm_id) ?? null,
          buyer_iec: iecs.get(settlement.buyer_firm_id) ?? null,
          scenario: findScenario(leg),
        },
      })),
    ),
    now,
  );
}

type FindScenario = (leg: LegRow) => TransferScenario | null;

/** The state in which customs is asked about a leg. */
const askedIn = { live: "to_initiate", sandbox: "transferring" } as const satisfies Record<
  Environment,
  LegState
>;

/** The legs of a deal that customs is to be asked about after they took these steps. */
export function listAsked({ after, legs, legsBefore }: SteppedDeal): LegRow[] {
  const state = askedIn[after.environment];
  const before = new Map(legsBefore.map((leg) => [leg.ordinal, leg.state]));
  return legs.filter(
    (leg) => leg.state === state && before.get(leg.ordinal) !== state && leg.missing_at === null,
  );
}

/**
 * Stores the steps that parties took. Crosses are locked; a credit whose transfer begins goes from its
 * order to the deal. Returns the changes, which the caller records last.
 */
export async function storeSteps(
  tx: Tx,
  environment: Environment,
  deals: readonly SteppedDeal[],
  { reserved, now }: { readonly reserved?: ReadonlyMap<string, string>; readonly now: Date },
): Promise<readonly Change[]> {
  if (deals.length === 0) return [];
  tx.defer(setSettlements(deals.map(({ after }) => after)));
  await setSteppedLegs(
    tx,
    deals.flatMap(({ legs }) => legs.filter((leg) => isOpenLeg(leg.state))),
  );
  await beginAtCustoms(
    tx,
    environment,
    deals.flatMap((deal) => listBegun(deal).map((leg) => toReservation(deal.after, leg))),
    { reserved, now },
  );
  const transfers = deals.map((deal) => ({ settlement: deal.after, asked: listAsked(deal) }));
  const asking = transfers.filter(({ asked }) => asked.length > 0);
  const iecs = await tx.run(findTransferIecs(environment, asking, now));
  const findScenario: FindScenario = ({ scenario }) =>
    transferScenarios.find((one) => one === scenario) ?? null;
  await tx.run(askCustoms(environment, asking, { iecs, findScenario }, now));
  return deals.flatMap((deal) => buildSteppedChanges(deal, now));
}

/** The legs whose transfer may be open now and could not before. */
function listBegun({ legs, legsBefore }: SteppedDeal): LegRow[] {
  const before = new Map(legsBefore.map((leg) => [leg.ordinal, leg.state]));
  return legs.filter(
    (leg) => isAtCustoms(leg.state) && !isAtCustoms(before.get(leg.ordinal) ?? "pending"),
  );
}

/** Moves reserved credits to their deals. */
async function beginAtCustoms(
  tx: Tx,
  environment: Environment,
  held: readonly ReservedCredit[],
  { reserved, now }: { reserved?: ReadonlyMap<string, string> | undefined; now: Date },
): Promise<void> {
  if (held.length === 0) return;
  const creditIds = reserved ?? (await lockReservedCredits(tx, environment, held));
  const taken = held.map(({ scripNo, reservedFor }) => {
    const creditId = creditIds.get(scripNo);
    if (creditId === undefined) throw new Error(`${scripNo} is not reserved for its deal`);
    return { creditId, reservedFor };
  });
  await tx.run(beginTransfers(taken, now));
}

/** What customs has transferred before anybody said so begins first. Crosses are locked. */
export async function beginUnannounced(
  tx: Tx,
  environment: Environment,
  answers: readonly Answers[],
  now: Date,
): Promise<void> {
  const held = answers.flatMap(({ settlement, legs, outcomes }) =>
    legs
      .filter((leg) => leg.state === "to_initiate")
      .filter((leg) => outcomes.get(leg.scrip_no)?.move === "deliver")
      .map((leg) => toReservation(settlement, leg)),
  );
  await beginAtCustoms(tx, environment, held, { now });
}

type Conclusion = {
  readonly environment: Environment;
  readonly answers: readonly Answers[];
  readonly actor: Actor;
  readonly settlementHooks: SettlementHooks;
  /** The subjects of the questions that the transaction answers: none of them is open. */
  readonly said?: { readonly has: (subject: string) => boolean };
  readonly now: Date;
};

export async function concludeLegs(tx: Tx, conclusion: Conclusion): Promise<readonly Change[]> {
  const { environment, actor, settlementHooks, now } = conclusion;
  const decided = conclusion.answers
    .filter(({ outcomes }) => outcomes.size > 0)
    .map((answers) => decideLegs(answers, now));
  if (decided.length === 0) return [];
  tx.defer(setLegs(decided.flatMap(({ answered }) => answered)));
  tx.defer(
    setSettlements(decided.map(({ rows }) => rows.at(-1)).filter((row) => row !== undefined)),
  );
  const unpaid = decided.filter(({ before, answered }) => isUnpaid(before, answered));
  await rememberUnpaid(
    tx,
    environment,
    [...unpaid.map(({ before }) => toUnpaidBuyer(before)), ...listDefaulters(decided)],
    now,
  );
  const ended = decided.flatMap(listEndedSides);
  const crosses = ended.length > 0 ? await settlementHooks.crosses(tx, actor, ended, now) : [];
  const credits = await moveCredits(tx, environment, decided, now);
  const taxed = await taxLegs(tx, environment, decided, now);
  await raiseDefaults(tx, decided, now);
  const earnings = decided.flatMap((one) => buildEarnings(one, taxed.withheld));
  const payouts = await schedulePayouts(tx, earnings, now);
  const earned = decided.flatMap(listCommissionedLegs);
  const commissions = await payCommissions(tx, environment, earned);
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
  refuseMoved(written.entries);
  assertWritten(written.entries);
  assertSetOff(payouts, written);
  const answered = decided.flatMap((one) => one.answered.map(toLegSubject));
  await dropQuestions(tx, {
    credit_transfer: answered.filter((subject) => !conclusion.said?.has(subject)),
    deal_funding: decided.filter(isUnfundedEnd).map(({ before }) => before.settlement_id),
    credit_holding: credits.refutedIds,
  });
  const orders = ended.length > 0 ? await settlementHooks.orders(tx, actor, ended, now) : [];
  const own = decided.flatMap(({ changes }) => changes);
  return [...credits.changes, ...own, ...payouts.changes, ...orders, ...crosses];
}

/**
 * Refuses where a seller's dues changed after its payouts were decided: whatever was kept back must
 * have paid dues, and nobody who still owes may be paid.
 */
function assertSetOff(
  { payouts, setOffByFirm }: Awaited<ReturnType<typeof schedulePayouts>>,
  { setOffs, owing }: WrittenBooks,
): void {
  if (payouts.some(({ firm_id }) => owing.has(firm_id))) throw balanceMoved();
  for (const [firmId, planned] of setOffByFirm) {
    const own = setOffs.filter((each) => each.firmId === firmId && each.from === "firm_cash");
    if (sumPaise(own.map(({ paise }) => paise)) < planned) throw balanceMoved();
  }
}

/** The subject of the question to customs about a leg. */
export function toLegSubject({ settlement_id, ordinal }: LegRow): string {
  return `${settlement_id}:${ordinal}`;
}

/** The credit of a leg and what it is reserved for: the selling order, or else the deal's origin. */
export function toReservation(settlement: SettlementRow, leg: LegRow) {
  return { scripNo: leg.scrip_no, reservedFor: leg.seller_order_id ?? settlement.origin };
}

/** The taxes of what is delivered now, and what was withheld from what was delivered before. */
async function taxLegs(
  tx: Tx,
  environment: Environment,
  decided: readonly DecidedLegs[],
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

async function moveCredits(
  tx: Tx,
  environment: Environment,
  decided: readonly DecidedLegs[],
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

/** Whether the bank is no longer asked about the money of a deal: funding one ends the question too. */
function isUnfundedEnd({ before, rows }: DecidedLegs): boolean {
  return before.state === "pending" && rows.at(-1)?.due_at === null;
}

function listEndedSides({ before, ended }: DecidedLegs): EndedSide[] {
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
