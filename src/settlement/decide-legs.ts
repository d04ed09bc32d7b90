// Decides what the steps of the parties and the answers of customs change in one settlement: its legs, its
// state, its entries and the earnings of its sellers. Pure; `transfer-legs.ts` stores the decisions. In
// the sandbox the simulated parties take their steps at once.

import type { CommissionedSide, DealtFor } from "./commission-rules.ts";
import type { AnsweredQuestion } from "../outside/question-rules.ts";
import type { Change } from "../kernel/actor.ts";
import { type Paise, priceFloor, valueBeforeFee } from "../kernel/money.ts";
import { isHouse } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Calendar } from "../kernel/working-days.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Entry, EntryName, Resolution } from "../ledger/rules.ts";
import type { TaxableLeg } from "../taxes/tax-rules.ts";
import { toLegKey } from "../taxes/tax-legs.ts";
import type { Earning } from "../payouts/decide-payouts.ts";
import {
  buildSettlementChanges,
  buildSideChange,
  listSides,
  moveSettlement,
  placeDeadlines,
  type SettlementSide,
} from "./move-settlement.ts";
import { buildMoneyMovements } from "./movements.ts";
import {
  computeDueAt,
  endOfTime,
  eventByState,
  type FailureReason,
  findFault,
  findLegDueAt,
  findStep,
  isAtCustoms,
  isOpenLeg,
  legLifecycle,
  type LegOutcome,
  listMoves,
  settlementLifecycle,
  toSideFee,
} from "./rules.ts";
import { buildTaskChanges } from "./read-tasks.ts";
import type { DealRows, LegRow, SettlementRow } from "./store.ts";

/** A locked settlement with all its legs, and the outcomes of some of them by scrip number. */
export type Answers = {
  readonly settlement: SettlementRow;
  readonly legs: readonly LegRow[];
  readonly outcomes: ReadonlyMap<string, LegOutcome>;
};

/** Fails the legs for which there is a reason, of those that nobody has begun. */
export function buildFailures(
  deal: DealRows,
  reasonFor: (leg: LegRow) => FailureReason | undefined,
): Answers {
  return buildAnswers(deal, (leg) => {
    const reason = isOpenLeg(leg.state) && !isAtCustoms(leg.state) ? reasonFor(leg) : undefined;
    return reason && { move: "fail", reason };
  });
}

/** Fails open legs: the simulated customs says that nothing of them is pending. */
export function buildSimulatedEnd(
  deal: DealRows,
  reason: FailureReason,
  isMeant: (leg: LegRow) => boolean = () => true,
): Answers {
  return buildAnswers(deal, (leg) => {
    if (!isOpenLeg(leg.state) || !isMeant(leg)) return undefined;
    return {
      move: isAtCustoms(leg.state) ? "refuse" : "fail",
      reason,
      ...(reason === "timeout" && { absentAt: endOfTime }),
    };
  });
}

type TransferSaid = Pick<AnsweredQuestion<"credit_transfer">, "answer" | "as_of">;

/** Answers the legs that customs was asked about; an answered leg is not answered again. */
export function buildTransferAnswers(
  deal: DealRows,
  said: (leg: LegRow) => TransferSaid | undefined,
  now: Date,
): Answers {
  return buildAnswers(deal, (leg) => {
    const isAsked = isOpenLeg(leg.state) && leg.state !== "pending";
    const answered = isAsked ? said(leg) : undefined;
    return answered && toOutcome(answered, leg, now);
  });
}

function toOutcome({ answer, as_of: asOf }: TransferSaid, leg: LegRow, now: Date): LegOutcome {
  const dueAt = findLegDueAt(leg);
  const move = isAtCustoms(leg.state) ? "refuse" : "fail";
  switch (answer.outcome) {
    case "transferred":
      return { move: "deliver", reason: null };
    case "refused":
      return { move, reason: "refused" };
    case "suspended":
      return { move, reason: "credit_suspended" };
    case "nothing_pending":
      return {
        move,
        reason: dueAt !== null && dueAt < now ? "timeout" : "by_operator",
        absentAt: asOf,
      };
  }
}

export type DecidedLegs = {
  readonly before: SettlementRow;
  /** The settlement after each step of this answer; only its version moves while legs are open. */
  readonly rows: readonly SettlementRow[];
  readonly legs: readonly LegRow[];
  /** The legs answered now. */
  readonly answered: readonly LegRow[];
  /** The sides whose last open leg was answered now. */
  readonly ended: readonly SettlementSide[];
  readonly changes: readonly Change[];
};

export function decideLegs(
  { settlement, legs: legsBefore, outcomes }: Answers,
  now: Date,
): DecidedLegs {
  const legs = legsBefore.map((leg) => {
    const outcome = outcomes.get(leg.scrip_no);
    return outcome ? answerLeg(leg, outcome, { settlement, now }) : leg;
  });
  const answered = legs.filter((leg) => outcomes.has(leg.scrip_no));
  const wasOpen = new Set(
    legsBefore.filter((leg) => isOpenLeg(leg.state)).map((leg) => leg.scrip_no),
  );
  const open = listSides(settlement, legs)
    .filter((side) => side.legs.some((leg) => wasOpen.has(leg.scrip_no)))
    .map((side) => ({ side, moves: listSideMoves(settlement, legs, side) }));
  const rows = advanceRows(settlement, { legs, sides: open, now });
  const changes = rows.flatMap((after, at) =>
    open.flatMap(({ side, moves }) =>
      buildStepChanges(settlement, { side, moves, rows, after, at }),
    ),
  );
  const ended = open.map(({ side }) => side).filter((side) => !side.legs.some(isOpen));
  const after = { settlement: rows.at(-1) ?? settlement, legs };
  const tasks = buildTaskChanges({ settlement, legs: legsBefore }, after, now);
  return { before: settlement, rows, legs, answered, ended, changes: [...changes, ...tasks] };
}

/** A side that is over goes to its own end; one that is open stays with the settlement. */
function listSideMoves(
  { state }: SettlementRow,
  legs: readonly LegRow[],
  side: SettlementSide,
): Moves {
  return listMoves(state, side.legs.some(isOpen) ? legs : side.legs);
}

function isOpen({ state }: LegRow): boolean {
  return isOpenLeg(state);
}

/** Tax withheld from sellers, by leg key. */
type Withheld = ReadonlyMap<string, Paise>;

/** The earning of each client seller whose last leg in the settlement is answered now. */
export function buildEarnings(decided: DecidedLegs, withheld: Withheld): Earning[] {
  const { before } = decided;
  return listAnsweredSellers(decided).flatMap(({ firmId, earned, isWaiting }) => {
    const paid = earned.filter((leg) => computeProceeds(leg, withheld) > 0);
    const [first] = paid;
    if (!first || isWaiting) return [];
    return [
      {
        environment: before.environment,
        deskId: first.seller_desk_id,
        firmId,
        settlementId: before.settlement_id,
        lines: paid.map((leg) => ({
          ...toLineOrigin(before, leg),
          scrip_no: leg.scrip_no,
          paise: computeProceeds(leg, withheld),
        })),
      },
    ];
  });
}

/** Pending entries that retain a seller's proceeds until its other legs are answered. */
export function buildRetentions(decided: DecidedLegs, withheld: Withheld): Entry[] {
  return listAnsweredSellers(decided)
    .filter(({ isWaiting }) => isWaiting)
    .flatMap(({ firmId, earned }) =>
      earned
        .filter((leg) => decided.answered.includes(leg) && computeProceeds(leg, withheld) > 0)
        .map((leg) => ({
          ...toRetentionName(leg),
          phase: "pending",
          movements: [
            {
              from: { kind: "firm_cash", firmId },
              to: { kind: "external_bank" },
              paise: computeProceeds(leg, withheld),
            },
          ],
        })),
    );
}

/** A delivered credit, and the sides of it that earn commission. */
export type CommissionedLeg = {
  readonly dealt: DealtFor;
  readonly scheme: Scheme;
  readonly dealtAt: Date;
  readonly sides: readonly CommissionedSide[];
};

/** A desk earns nothing on its own deals or on crosses. */
export function listCommissionedLegs({ before, answered }: DecidedLegs): CommissionedLeg[] {
  if (before.origin_kind === "cross") return [];
  return answered
    .filter((leg) => leg.state === "delivered")
    .map((leg) => ({
      dealt: toDealtFor(before, leg),
      scheme: leg.scheme,
      dealtAt: leg.dealt_at,
      sides: listSides(before, [leg])
        .filter(({ deskId, firmId }) => deskId !== firmId)
        .map(({ deskId, side }) => ({
          environment: leg.environment,
          settlementId: leg.settlement_id,
          legOrdinal: leg.ordinal,
          side,
          deskId,
          facePaise: leg.face_paise,
        })),
    }))
    .filter(({ sides }) => sides.length > 0);
}

function toDealtFor({ buyer_firm_id: buyerFirmId }: SettlementRow, leg: LegRow): DealtFor {
  const bought = isHouse(buyerFirmId) ? "buy" : null;
  return {
    facePaise: leg.face_paise,
    buyerPaise: leg.buyer_paise,
    sellerPaise: leg.seller_paise,
    taxPaise: leg.buyer_gst_paise + leg.seller_gst_paise,
    house: isHouse(leg.seller_firm_id) ? "sell" : bought,
  };
}

/** The legs delivered now. */
export function listTaxableLegs({ before, answered }: DecidedLegs): TaxableLeg[] {
  return answered
    .filter((leg) => leg.state === "delivered")
    .map((leg) => toTaxableLeg(before, leg));
}

export function toTaxableLeg(settlement: SettlementRow, leg: LegRow): TaxableLeg {
  return {
    environment: leg.environment,
    settlementId: leg.settlement_id,
    ordinal: leg.ordinal,
    isCross: settlement.origin_kind === "cross",
    sides: listSides(settlement, [leg]).map(({ side, firmId }) => {
      const fee = toSideFee(side, leg);
      const allInPaise = side === "sell" ? leg.seller_paise : leg.buyer_paise;
      const valuePaise = valueBeforeFee(side, allInPaise, fee);
      return { side, firmId, valuePaise, allInPaise, ...fee };
    }),
  };
}

/** Posts or voids the holds of answered legs, and voids the retentions that a payout replaces. */
export function buildResolutions(decided: DecidedLegs, withheld: Withheld): Resolution[] {
  const paidOut = listAnsweredSellers(decided)
    .filter(({ isWaiting }) => !isWaiting)
    .flatMap(({ earned }) =>
      earned.filter((leg) => !decided.answered.includes(leg) && computeProceeds(leg, withheld) > 0),
    );
  return [
    ...resolveHolds(decided),
    ...paidOut.map((leg) => ({ ...toRetentionName(leg), as: "voided" as const })),
  ];
}

function buildAnswers(
  { settlement, legs }: DealRows,
  outcomeFor: (leg: LegRow) => LegOutcome | undefined,
): Answers {
  const outcomes = legs.flatMap((leg): [string, LegOutcome][] => {
    const outcome = outcomeFor(leg);
    return outcome ? [[leg.scrip_no, outcome]] : [];
  });
  return { settlement, legs, outcomes: new Map(outcomes) };
}

/** What customs has transferred, somebody has initiated. */
function answerLeg(
  leg: LegRow,
  outcome: LegOutcome,
  { settlement, now }: { readonly settlement: SettlementRow; readonly now: Date },
): LegRow {
  const { move, reason } = outcome;
  const begun = leg.state === "to_initiate" && move === "deliver";
  const from = begun ? advance(legLifecycle, leg.state, "initiate") : leg.state;
  const failed_step = findStep(leg.state, settlement.state) ?? null;
  return {
    ...leg,
    state: advance(legLifecycle, from, move),
    reason,
    answered_at: now,
    failed_step: move === "deliver" ? null : failed_step,
    initiated_at: begun ? now : leg.initiated_at,
    ...chargeLate(leg, outcome, { settlement, now }),
  };
}

/** Who pays whom for being late. What goes to the house is there once it is due. */
function chargeLate(
  leg: LegRow,
  outcome: LegOutcome,
  { settlement, now }: { readonly settlement: SettlementRow; readonly now: Date },
): Pick<LegRow, "default_by" | "default_paise" | "default_paid_at"> {
  const { default_bps, buyer_firm_id: buyerFirmId } = settlement;
  const by = findFault(leg, outcome, { isBuyerHouse: isHouse(buyerFirmId) });
  // Rounded down to the paisa.
  const paise = by === null ? 0 : priceFloor(leg.face_paise, default_bps);
  if (paise === 0) return { default_by: null, default_paise: 0, default_paid_at: null };
  const isToHouse = isHouse(by === "sell" ? buyerFirmId : leg.seller_firm_id);
  return { default_by: by, default_paise: paise, default_paid_at: isToHouse ? now : null };
}

type Moves = ReturnType<typeof listMoves>;

/** One row per step. A side can end before the settlement does: then only the version moves. */
function advanceRows(
  settlement: SettlementRow,
  {
    legs,
    sides,
    now,
  }: {
    readonly legs: readonly LegRow[];
    readonly sides: readonly { readonly moves: Moves }[];
    readonly now: Date;
  },
): SettlementRow[] {
  const rows: SettlementRow[] = [];
  const last = () => rows.at(-1) ?? settlement;
  for (const action of listMoves(settlement.state, legs)) {
    const reason = action === "fail" ? (legs.find((leg) => leg.reason)?.reason ?? null) : null;
    rows.push(moveSettlement(last(), action, { reason, now }));
  }
  const steps = Math.max(1, ...sides.map(({ moves }) => moves.length));
  while (rows.length < steps) {
    rows.push({ ...last(), version: last().version + 1, updated_at: now });
  }
  rows.push(placeDeadlines(rows.pop() ?? settlement, legs));
  return rows;
}

/** The change of a side at one step. Its moves are aligned to the end: its last with the last step. */
function buildStepChanges(
  settlement: SettlementRow,
  step: {
    readonly side: SettlementSide;
    readonly moves: Moves;
    readonly rows: readonly SettlementRow[];
    readonly after: SettlementRow;
    readonly at: number;
  },
): Change[] {
  const { side, moves, rows, after, at } = step;
  const { state } = settlement;
  const isLast = at === rows.length - 1;
  if (moves.length === 0) {
    return isLast
      ? [buildSideChange({ action: "answer", side, after, from: state, to: state })]
      : [];
  }
  const place = at - (rows.length - moves.length);
  const action = moves[place];
  if (!action) return [];
  const earlier = moves[place - 1];
  const from = earlier ? settlementLifecycle.moves[earlier].to : state;
  const { to } = settlementLifecycle.moves[action];
  return [buildSideChange({ action, event: eventByState[to], side, after, from, to })];
}

/** The client sellers with a leg answered now, their paid legs, and whether a leg is still open. */
function listAnsweredSellers({ legs, answered }: DecidedLegs) {
  return [...Map.groupBy(legs, (leg) => leg.seller_firm_id)].flatMap(([firmId, own]) => {
    if (isHouse(firmId) || !own.some((leg) => answered.includes(leg))) return [];
    const earned = own.filter((leg) => leg.state === "delivered" && leg.seller_paise > 0);
    return [{ firmId, earned, isWaiting: own.some((leg) => isOpenLeg(leg.state)) }];
  });
}

function computeProceeds(
  { settlement_id, ordinal, seller_paise }: LegRow,
  withheld: Withheld,
): Paise {
  return seller_paise - (withheld.get(toLegKey(settlement_id, ordinal)) ?? 0);
}

/** The order that sold a leg's credit, or the cross that made the deal. */
function toLineOrigin(
  { origin, origin_kind }: SettlementRow,
  { seller_order_id }: LegRow,
): Pick<Earning["lines"][number], "order_id" | "origin_kind"> {
  return seller_order_id === null
    ? { order_id: origin, origin_kind }
    : { order_id: seller_order_id, origin_kind: "order" };
}

/** The name of a retaining entry. It is never posted: the payout's entry replaces it. */
function toRetentionName({ environment, settlement_id, ordinal }: LegRow): EntryName {
  return { environment, kind: "payout", subject: settlement_id, ordinal };
}

/** The hold of the credit and, where the money came later, the separate hold of the money. */
function resolveHolds({ before, answered }: DecidedLegs): Resolution[] {
  return answered.flatMap((leg) => {
    const as = leg.state === "delivered" ? "posted" : "voided";
    const name = {
      environment: leg.environment,
      subject: leg.settlement_id,
      ordinal: leg.ordinal,
      as,
    } as const;
    const isApart = before.money_apart && buildMoneyMovements(leg, before.buyer_firm_id).length > 0;
    return [
      { ...name, kind: "deal_hold" as const },
      ...(isApart ? [{ ...name, kind: "deal_settlement" as const }] : []),
    ];
  });
}

export type When = { readonly now: Date; readonly calendar: Calendar };

/** A step and what whoever took it says of it. */
export type LegStep =
  | { readonly move: "fund" }
  | { readonly move: "initiate" | "accept"; readonly reference: string | null }
  | { readonly move: "miss"; readonly reference: string | null; readonly note: string | null };

/** A leg after a step, with the deadline of the next one; one that is missing keeps the first. */
export function stepLeg(leg: LegRow, step: LegStep, { now, calendar }: When): LegRow {
  const stepped = {
    ...leg,
    state: advance(legLifecycle, leg.state, step.move),
    late_at: null,
  };
  const due = (next: "initiate" | "accept" | "customs") =>
    computeDueAt(next, leg.environment, now, calendar);
  switch (step.move) {
    case "fund":
      return { ...stepped, initiate_due_at: due("initiate") };
    case "initiate":
      return {
        ...stepped,
        initiated_at: now,
        initiate_reference: step.reference,
        accept_due_at: due("accept"),
      };
    case "accept":
      return {
        ...stepped,
        accepted_at: now,
        accept_reference: step.reference,
        customs_due_at: due("customs"),
      };
    case "miss":
      return {
        ...stepped,
        missing_at: now,
        missing_reference: step.reference,
        missing_note: step.note,
      };
  }
}

/** Which steps of a leg happen by themselves, and under which scenario. */
export type Playing = {
  readonly initiates: boolean;
  readonly accepts: boolean;
  readonly scenario: LegRow["scenario"];
};

/** In live people do everything. */
export const byPeople: Playing = { initiates: false, accepts: false, scenario: null };

/** In the sandbox both simulated parties act, where nobody wants anything else. */
export const atOnce: Playing = { initiates: true, accepts: true, scenario: null };

/** In the sandbox the simulated parties do what their desks do not want to do themselves. */
export function playSandbox(
  settlement: SettlementRow,
  leg: LegRow,
  { scenario, manual }: { scenario: LegRow["scenario"]; manual: ReadonlySet<string> },
): Playing {
  const isSellerManual = leg.initiate_by === "firm" && manual.has(leg.seller_desk_id);
  const isBuyerManual = !isHouse(settlement.buyer_firm_id) && manual.has(settlement.buyer_desk_id);
  const isUnreliable = scenario === "never_accepts" || scenario === "accepts_late";
  return {
    initiates: scenario !== "never_initiates" && !isSellerManual,
    accepts: !isUnreliable && !isBuyerManual,
    scenario,
  };
}

/** Takes the steps of a leg that happen by themselves. */
export function playLeg(leg: LegRow, playing: Playing, when: When): LegRow {
  const told = leg.state === "pending" ? stepLeg(leg, { move: "fund" }, when) : leg;
  const begun =
    told.state === "to_initiate" && playing.initiates
      ? stepLeg(told, { move: "initiate", reference: null }, when)
      : told;
  const accepted =
    begun.state === "to_accept" && playing.accepts
      ? stepLeg(begun, { move: "accept", reference: null }, when)
      : begun;
  return { ...accepted, scenario: playing.scenario };
}

export type SteppedDeal = {
  readonly before: SettlementRow;
  readonly after: SettlementRow;
  readonly legsBefore: readonly LegRow[];
  readonly legs: readonly LegRow[];
};

/** The settlement after its legs took steps: initiated once every open one may be at customs. */
export function followLegs(
  { settlement, legs: legsBefore }: { settlement: SettlementRow; legs: readonly LegRow[] },
  legs: readonly LegRow[],
  now: Date,
): SteppedDeal {
  const begun = { ...settlement, begun: settlement.begun || settlement.state === "funded" };
  const isInitiated = listMoves(settlement.state, legs)[0] === "initiate";
  const moved = isInitiated
    ? moveSettlement(begun, "initiate", { now })
    : { ...begun, version: begun.version + 1, updated_at: now };
  return { before: settlement, after: placeDeadlines(moved, legs), legsBefore, legs };
}

/** Begins a funded deal: its parties are told, and what happens by itself is done. */
export function beginDeal(
  deal: { readonly settlement: SettlementRow; readonly legs: readonly LegRow[] },
  findPlaying: (leg: LegRow) => Playing,
  when: When,
): SteppedDeal {
  const legs = deal.legs.map((leg) =>
    isOpenLeg(leg.state) ? playLeg(leg, findPlaying(leg), when) : leg,
  );
  return followLegs(deal, legs, when.now);
}

/** What the parties are told of it. */
export function buildSteppedChanges(
  { before, after, legsBefore, legs }: SteppedDeal,
  now: Date,
): Change[] {
  const moved =
    before.state === after.state
      ? []
      : buildSettlementChanges({
          action: "initiate",
          event: eventByState[after.state],
          before,
          after,
          legs,
        });
  const tasks = buildTaskChanges(
    { settlement: before, legs: legsBefore },
    { settlement: after, legs },
    now,
  );
  return [...moved, ...tasks];
}
