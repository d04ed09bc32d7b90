// A settlement is delivery of whole credits against one payment:
//
//   pending ──fund──▶ funded ──initiate──▶ transfer_initiated ──confirm──▶ transfer_confirmed ──settle──▶ settled
//      │                 │                        │                                                    │
//      └──────fail───────┴──────────fail──────────┴──▶ failed                           reversed ◀──reverse┘
//
//   the buyer     pays, at once where its balance or the house's own money covers it
//   the holder    initiates the transfer on the customs portal, or the house does by the holder's mandate;
//                 until the last holder has, the settlement is funded
//   the receiver  accepts the transfer there
//   customs       confirms or refuses each credit; a credit and its money change hands in one
//                 transaction, so confirmed and settled come together
//   the clock     ends what nobody has begun by its deadline, and nothing that may be open at customs
//
// One leg is one credit, and each step has its own deadline:
//
//   pending ──fund──▶ to_initiate ──initiate──▶ to_accept ──accept──▶ transferring ──▶ delivered or failed
//                          ▲                      │     ▲
//                          └╌╌╌╌ missing ◀──miss──┘     └── initiate, from missing
//
// Delivered legs settle, failed legs are refunded, and a settlement without a delivered leg fails. Customs
// may answer at any step from to_initiate on: its word implies the steps before.
//
// What the parties say starts the next step and proves nothing. From the moment a transfer may be open at
// customs (to_accept, missing, transferring) its leg ends only by what customs says, so that nobody gets
// both the credit and its money; past its deadline it is late, which ends nothing. What goes through
// after all is taken back (`reverse-settlement.ts`).
//
// A side that is proved late at the portal pays the other a part of the face when its leg ends
// (`findFault`): a buyer from what goes back to it, a seller, or whoever delivered after all, as dues.

import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Fee, Paise } from "../kernel/money.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { OriginKind, Side } from "../kernel/scheme.ts";
import { addWorkingDays, type Calendar, type Office } from "../kernel/working-days.ts";
import type { DealScenario } from "../outside/scenario-rules.ts";

export const settlementStates = [
  "pending",
  "funded",
  "transfer_initiated",
  "transfer_confirmed",
  "settled",
  "failed",
  "reversed",
] as const;

export type SettlementState = (typeof settlementStates)[number];

/** A deal that waits for its buyer's money. */
export type UnpaidDeal = {
  readonly dealId: string;
  readonly firmId: string;
  readonly paise: number;
  readonly dealtAt: Date;
  readonly dueAt: Date;
};

export function noSettlement(settlementId: string): Failure {
  return new Failure("not_found", `no settlement ${settlementId}`);
}

export const settlementLifecycle = {
  noun: "settlement",
  initial: ["pending", "funded"],
  states: settlementStates,
  moves: {
    fund: { from: ["pending"], to: "funded", by: "bank" },
    initiate: { from: ["funded"], to: "transfer_initiated", by: "deal" },
    confirm: { from: ["transfer_initiated"], to: "transfer_confirmed", by: "registry" },
    settle: { from: ["transfer_confirmed"], to: "settled", by: "deal" },
    fail: { from: ["pending", "funded", "transfer_initiated"], to: "failed", by: "deal" },
    reverse: { from: ["settled"], to: "reversed", by: "operator" },
  },
} as const satisfies Lifecycle<SettlementState>;

export const legStates = [
  "pending",
  "to_initiate",
  "to_accept",
  "missing",
  "transferring",
  "delivered",
  "failed",
] as const;

export type LegState = (typeof legStates)[number];

export const legLifecycle = {
  noun: "leg",
  initial: ["pending"],
  states: legStates,
  moves: {
    fund: { from: ["pending"], to: "to_initiate", by: "deal" },
    initiate: { from: ["to_initiate", "missing"], to: "to_accept" },
    accept: { from: ["to_accept", "missing"], to: "transferring" },
    miss: { from: ["to_accept"], to: "missing" },
    deliver: { from: ["to_accept", "missing", "transferring"], to: "delivered", by: "registry" },
    refuse: { from: ["to_accept", "missing", "transferring"], to: "failed", by: "registry" },
    fail: { from: ["pending", "to_initiate"], to: "failed", by: "deal" },
  },
} as const satisfies Lifecycle<LegState>;

export const dealActs = [
  "fund",
  "initiate",
  "confirm_transfer",
  "fail",
  "take_back",
  "reverse",
] as const;

export type DealAct = (typeof dealActs)[number];

/** What operators can do with a deal, where the house has transfers to initiate or not. */
export function listDealActs(
  {
    state,
    legs,
  }: { readonly state: SettlementState; readonly legs: readonly { state: LegState }[] },
  houseInitiates: boolean,
): DealAct[] {
  const { fund, fail, reverse } = settlementLifecycle.moves;
  const isPaid = state === "funded" || state === "transfer_initiated";
  const can: Readonly<Record<DealAct, boolean>> = {
    fund: fund.from.some((from) => from === state),
    initiate: isPaid && houseInitiates,
    confirm_transfer: isPaid,
    fail: fail.from.some((from) => from === state),
    take_back: legs.some((leg) => leg.state === "failed"),
    reverse: reverse.from.some((from) => from === state),
  };
  return dealActs.filter((act) => can[act]);
}

/** What has to happen one after the other; a deal that fails says at which of them. */
export const steps = ["pay", "initiate", "accept", "customs"] as const;

export type DealStep = (typeof steps)[number];

/** What a party does outside, of these steps. */
export const taskKinds = ["pay", "initiate", "accept"] as const satisfies readonly DealStep[];

export type TaskKind = (typeof taskKinds)[number];

export const taskStatuses = ["waiting", "done", "late", "void"] as const;

export type TaskStatus = (typeof taskStatuses)[number];

export const taskActors = ["firm", "house"] as const;

export type TaskActor = (typeof taskActors)[number];

/** What the simulated parties and customs do with a leg. */
export type LegScenario = DealScenario;

/** The step that each open leg waits for. */
const stepByState = {
  pending: "pay",
  to_initiate: "initiate",
  missing: "initiate",
  to_accept: "accept",
  transferring: "customs",
} as const satisfies Partial<Record<LegState, DealStep>>;

type OpenLegState = keyof typeof stepByState;

/**
 * The step that a leg waits for; undefined for one that has ended. Once its deal is paid, a leg that is
 * still pending waits for its holder, who is told as soon as customs can be asked.
 */
export function findStep(
  state: LegState,
  settlementState: SettlementState = "pending",
): DealStep | undefined {
  if (!isOpenLeg(state)) return undefined;
  return state === "pending" && settlementState !== "pending" ? "initiate" : stepByState[state];
}

/** Whether a transfer of the leg may be open at customs. */
export function isAtCustoms(state: LegState): boolean {
  return legLifecycle.moves.deliver.from.some((from) => from === state);
}

export const waitingOn = ["buyer", "seller", "customs", "bank", "none"] as const;

export type WaitingOn = (typeof waitingOn)[number];

const partyByStep = {
  pay: "buyer",
  initiate: "seller",
  accept: "buyer",
  customs: "customs",
} as const satisfies Record<DealStep, WaitingOn>;

/** The party whose move is awaited: of the leg that has come least far. */
export function findAwaitedParty(
  state: SettlementState,
  legs: readonly { readonly state: LegState }[],
): WaitingOn {
  if (state === "transfer_confirmed") return "bank";
  if (!isOpen(state)) return "none";
  if (state === "pending") return "buyer";
  const open = legs.map((leg) => findStep(leg.state, state));
  const step = steps.find((each) => open.includes(each));
  return step ? partyByStep[step] : "none";
}

/** The working days that each step may last, and the office whose calendar counts them. */
export const workingDaysFor = {
  pay: { days: 1, office: "bank" },
  initiate: { days: 1, office: "customs" },
  accept: { days: 2, office: "customs" },
  customs: { days: 2, office: "customs" },
} as const satisfies Record<DealStep, { readonly days: number; readonly office: Office }>;

/** Deadlines of the sandbox are short, so that a client's test can watch one pass. */
const sandboxSecondsFor: Readonly<Record<DealStep, number>> = {
  pay: 60,
  initiate: 60,
  accept: 30,
  customs: 30,
};

/** How long after a receiver is late the simulated customs says that nothing is pending. */
const nothingPendingMs = 60_000;
/** How long after its deadline a simulated receiver that is late accepts. */
const acceptsLateMs = 30_000;

/** The office whose working days count in a state. */
export function findOffice(state: OpenState): Office {
  return state === "pending" ? workingDaysFor.pay.office : workingDaysFor.initiate.office;
}

/** The deadline of a step that begins now. */
export function computeDueAt(
  step: DealStep,
  environment: Environment,
  now: Date,
  calendar: Calendar,
): Date {
  if (environment === "sandbox") return new Date(now.getTime() + sandboxSecondsFor[step] * 1_000);
  const { days, office } = workingDaysFor[step];
  return addWorkingDays(now, days, office, calendar);
}

/** The deadlines of a leg's steps. */
type LegDeadlines = {
  readonly state: LegState;
  readonly environment: Environment;
  readonly scenario: string | null;
  readonly initiate_due_at: Date | null;
  readonly accept_due_at: Date | null;
  readonly customs_due_at: Date | null;
};

/** Until when the step that a leg waits for must be done; null before its money is there. */
export function findLegDueAt(leg: LegDeadlines): Date | null {
  switch (findStep(leg.state)) {
    case "initiate":
      return leg.initiate_due_at;
    case "accept":
      return leg.accept_due_at;
    case "customs":
      return leg.customs_due_at;
    default:
      return null;
  }
}

/**
 * When the clock ends a leg; null where only customs may. In the sandbox the clock is the simulated
 * customs, too.
 */
export function findLegEndsAt(leg: LegDeadlines): Date | null {
  if (leg.state === "to_initiate") return leg.initiate_due_at;
  if (leg.environment === "live" || !isAtCustoms(leg.state)) return null;
  if (leg.state === "transferring") return leg.customs_due_at;
  const afterMs = leg.scenario === "accepts_late" ? acceptsLateMs : nothingPendingMs;
  const dueMs = (leg.accept_due_at ?? leg.initiate_due_at)?.getTime();
  return dueMs === undefined ? null : new Date(dueMs + afterMs);
}

/** The states that have a deadline. */
export const openStates = [
  "pending",
  "funded",
  "transfer_initiated",
] as const satisfies readonly SettlementState[];

export type OpenState = (typeof openStates)[number];

export function isOpen(state: SettlementState): state is OpenState {
  return (openStates as readonly SettlementState[]).includes(state);
}

/** Whether what is awaited has not come by its deadline. */
export function isLate(
  { state, due_at }: { readonly state: SettlementState; readonly due_at: Date | null },
  now: Date,
): boolean {
  return isOpen(state) && due_at !== null && due_at < now;
}

export function isOpenLeg(state: LegState): state is OpenLegState {
  return state in stepByState;
}

/**
 * The state of one side, from its own legs only. While one of them is open it is the settlement's.
 */
export function findSideState(
  state: SettlementState,
  legs: readonly { readonly state: LegState }[],
): SettlementState {
  if (legs.some((leg) => isOpenLeg(leg.state))) return state;
  if (!legs.some((leg) => leg.state === "delivered")) return "failed";
  return state === "reversed" ? "reversed" : "settled";
}

/** Why a settlement or a leg failed. */
export const failureReasons = [
  "timeout",
  "not_funded",
  "refused",
  "credit_suspended",
  "credit_cancelled",
  "credit_used",
  "credit_unavailable",
  "by_operator",
  "by_desk",
] as const;

export type FailureReason = (typeof failureReasons)[number];

/** The reasons of a deal that ends while it waits for its buyer's money. */
const wantsOfMoney: readonly string[] = ["timeout", "not_funded"] satisfies FailureReason[];

/** Whether legs that were answered now failed because the buyer's money was not there. */
export function isUnpaid(
  { state, origin_kind }: { readonly state: SettlementState; readonly origin_kind: OriginKind },
  answered: readonly { readonly reason: string | null }[],
): boolean {
  if (state !== "pending" || origin_kind === "cross") return false;
  return answered.some(({ reason }) => reason !== null && wantsOfMoney.includes(reason));
}

/** The move that ends a leg. */
export type LegOutcome =
  | { readonly move: "deliver"; readonly reason: null }
  | {
      readonly move: "refuse" | "fail";
      readonly reason: FailureReason;
      /** When customs showed that nothing of it is pending; the clock proves nothing. */
      readonly absentAt?: Date;
    };

/** What is known of a leg when it ends. */
type LegFacts = LegDeadlines & {
  readonly initiate_by: TaskActor;
  readonly initiated_at: Date | null;
  readonly accepted_at: Date | null;
  readonly missing_at: Date | null;
  readonly pending_from: Date | null;
  readonly pending_until: Date | null;
};

/** Later than every deadline: what the simulated customs says comes after them. */
export const endOfTime = new Date(8.64e15);

/**
 * The side that pays for being late; null where nobody was, or where nothing proves it. What is proved is
 * what customs shows: since when a transfer was pending and until when, or that there was none while it
 * was to be there. What a party says blames nobody; it counts in the sandbox only, whose portal it is. A
 * task of the house is nobody's default.
 */
export function findFault(
  leg: LegFacts,
  outcome: LegOutcome,
  { isBuyerHouse }: { readonly isBuyerHouse: boolean },
): Side | null {
  const absentAt = outcome.move === "deliver" ? undefined : outcome.absentAt;
  if (outcome.move !== "deliver" && outcome.reason !== "timeout" && !absentAt) return null;
  const { from, until } =
    leg.environment === "live" ? seeReported(leg) : seeSimulated(leg, outcome);
  // Later it may have been there and be gone because its receiver did nothing.
  const missedAt = absentAt && !isAfter(absentAt, leg.accept_due_at) ? absentAt : null;
  const began = from ?? missedAt;
  if (leg.initiate_by === "firm" && isAfter(began, leg.initiate_due_at)) return "sell";
  return !isBuyerHouse && from !== null && isAfter(until, leg.accept_due_at) ? "buy" : null;
}

function isAfter(at: Date | null, dueAt: Date | null): boolean {
  return at !== null && dueAt !== null && at > dueAt;
}

type Seen = { readonly from: Date | null; readonly until: Date | null };

function seeReported({ pending_from, pending_until }: LegFacts): Seen {
  return { from: pending_from, until: pending_until };
}

/** The parties of the sandbox do what they say, unless they contradict each other. */
function seeSimulated(leg: LegFacts, { reason }: LegOutcome): Seen {
  const waits = leg.state === "to_accept" && reason === "timeout";
  return {
    from: leg.missing_at === null ? leg.initiated_at : null,
    until: waits ? endOfTime : leg.accepted_at,
  };
}

/** Why nothing is concluded from a row of the portal's report. */
export const queueReasons = [
  "unreadable",
  "no_deal",
  "other_face",
  "other_holder",
  "other_receiver",
  "several_rows",
  "transferred_after_refund",
  "pending_after_end",
] as const;

/** A row of the portal's report that waits for a person. */
export type QueuedRow = {
  readonly row: number;
  readonly scrip_no: string | null;
  readonly reason: (typeof queueReasons)[number];
  readonly problem: string | null;
};

/** The refusal to end a deal whose transfer may be open at customs. */
export function transferOpen(settlementId: string): Failure {
  return new Failure(
    "conflict",
    `a transfer of ${settlementId} may be open at customs: give a reference that nothing is pending`,
    { detail: { reason: "transfer_open", settlement_id: settlementId } },
  );
}

/** The fee and GST within each side's money. */
export type LegFees = {
  readonly buyer_fee_paise: Paise;
  readonly buyer_gst_paise: Paise;
  readonly seller_fee_paise: Paise;
  readonly seller_gst_paise: Paise;
};

export function toSideFee(side: Side, leg: LegFees): Fee {
  return side === "sell"
    ? { feePaise: leg.seller_fee_paise, gstPaise: leg.seller_gst_paise }
    : { feePaise: leg.buyer_fee_paise, gstPaise: leg.buyer_gst_paise };
}

/**
 * The moves of a settlement in this state by its legs: it is initiated once every open one is at customs,
 * and ends when the last one is answered, in two moves where any was delivered.
 */
export function listMoves(
  state: SettlementState,
  legs: readonly { readonly state: LegState }[],
): readonly ("initiate" | "confirm" | "settle" | "fail")[] {
  const open = legs.filter((leg) => isOpenLeg(leg.state));
  const initiate = state === "funded" ? (["initiate"] as const) : [];
  if (open.length > 0) return open.every((leg) => isAtCustoms(leg.state)) ? initiate : [];
  if (!legs.some((leg) => leg.state === "delivered")) return ["fail"];
  return [...initiate, "confirm", "settle"];
}

export const eventByState = {
  pending: "settlement.created",
  funded: "settlement.funded",
  transfer_initiated: "settlement.transfer_initiated",
  transfer_confirmed: "settlement.transfer_confirmed",
  settled: "settlement.settled",
  failed: "settlement.failed",
  reversed: "settlement.reversed",
} as const satisfies Record<SettlementState, string>;
