// Tasks: what each party of a deal does outside, and by when.
//
//   pay        the buyer pays the house; done when the bank's line has funded the deal
//   initiate   the holder, or the house for it, initiates a credit's transfer on the customs portal
//   accept     the receiver accepts the transfer there
//
// A task is a reading of the settlement and its legs and has no row. It is waiting, late once its
// deadline has passed, done, or void where the deal ended without it. A step that customs' answer implies
// is done with it.

import { createHash } from "node:crypto";

import type { PortalParty } from "../firms/rules.ts";
import type { HouseInLaw } from "../house/rules.ts";
import type { Change } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { isHouse } from "../kernel/ids.ts";
import { wrongState } from "../kernel/lifecycle.ts";
import { type Paise, sumParts } from "../kernel/money.ts";
import type { Side } from "../kernel/scheme.ts";
import { istTimestamp } from "../kernel/time.ts";
import { endOfTime, isOpenLeg, type TaskActor, type TaskKind, type TaskStatus } from "./rules.ts";
import type { DealRows, LegRow, SettlementRow } from "./store.ts";

export type Task = {
  readonly kind: TaskKind;
  readonly side: Side;
  readonly deskId: string;
  readonly firmId: string;
  /** The credit; null for the payment. */
  readonly leg: LegRow | null;
  readonly by: TaskActor;
  readonly status: TaskStatus;
  readonly dueAt: Date | null;
  readonly doneAt: Date | null;
  /** What whoever did it gave as its reference. */
  readonly reference: string | null;
  /** What is to be paid; null for the other kinds. */
  readonly amountPaise: Paise | null;
};

/** What the parties of open deals are told of each other and of the house's bank account. */
export type PortalParties = {
  readonly byFirm: ReadonlyMap<string, PortalParty>;
  readonly bank: HouseInLaw["bank"];
};

/** A settlement and its legs, as far as tasks are read from them. */
type DealOfTasks = {
  readonly settlement: Omit<SettlementRow, "origin_kind" | "history">;
  readonly legs: readonly LegRow[];
};

/** The tasks of every side, the payment first and then leg by leg. The house pays without a task. */
export function listAllTasks({ settlement, legs }: DealOfTasks, now: Date): Task[] {
  return [
    ...(isHouse(settlement.buyer_firm_id) ? [] : [readPayment(settlement, legs, now)]),
    ...legs.flatMap((leg) => readInitiation(leg, now)),
    ...legs.flatMap((leg) => readAcceptance(settlement, leg, now)),
  ];
}

/** The tasks of the clients' sides. */
export function listTasks(deal: DealOfTasks, now: Date): Task[] {
  return listAllTasks(deal, now).filter(({ firmId }) => !isHouse(firmId));
}

export function isOpenTask({ status }: Pick<Task, "status">): boolean {
  return status === "waiting" || status === "late";
}

/** The same for the same settlement, kind and credit; it tells nothing about the deal's other legs. */
export function toTaskId(settlementId: string, { kind, leg }: Pick<Task, "kind" | "leg">): string {
  const body = settlementId.slice("stl_".length);
  if (leg === null) return `tsk_${body}_${kind}`;
  return `tsk_${body}_${kind}_${createHash("sha256").update(leg.scrip_no).digest("hex").slice(0, 12)}`;
}

/** A task as its own desk reads it, without what only the API tells. */
export function viewTask(settlementId: string, task: Task) {
  return {
    task_id: toTaskId(settlementId, task),
    kind: task.kind,
    side: task.side,
    firm_id: task.firmId,
    scrip_no: task.leg?.scrip_no ?? null,
    by: task.by,
    status: task.status,
    due_at: task.dueAt && istTimestamp(task.dueAt),
    done_at: task.doneAt && istTimestamp(task.doneAt),
    reference: task.reference,
  };
}

/**
 * What whoever does an open task enters where it is done. The portal shows both parties to each other, so
 * each is told the other's IEC and name, once the deal is paid. The bank finds a payment by the
 * settlement's id.
 */
export function instruct(
  { settlement_id, buyer_firm_id }: Pick<SettlementRow, "settlement_id" | "buyer_firm_id">,
  task: Task,
  { byFirm, bank }: PortalParties,
) {
  if (!isOpenTask(task)) return null;
  if (task.leg === null) {
    return bank && { ...bank, amount_paise: task.amountPaise ?? 0, reference: settlement_id };
  }
  const { scrip_no, face_paise, seller_firm_id } = task.leg;
  const other = byFirm.get(task.kind === "accept" ? seller_firm_id : buyer_firm_id);
  const [iec, name] = [other?.iec ?? null, other?.name ?? null];
  return task.kind === "accept"
    ? { scrip_no, face_paise, from_iec: iec, from_name: name }
    : { scrip_no, face_paise, to_iec: iec, to_name: name };
}

/**
 * The changes of tasks between two states of a deal: what waits now, and what is done. A task that opens
 * and is done in one step tells nothing.
 */
export function buildTaskChanges(before: DealRows | null, after: DealRows, now: Date): Change[] {
  const known = before ? listTasks(before, now) : [];
  return listTasks(after, now).flatMap((task) => {
    const earlier = known.find((one) => isSameTask(one, task));
    const wasOpen = earlier !== undefined && isOpenTask(earlier);
    const isOpen = isOpenTask(task);
    if (wasOpen === isOpen) return [];
    if (isOpen) return [buildTaskChange(after.settlement, { earlier, task, word: "waiting" })];
    if (task.status !== "done" || !wasOpen) return [];
    return [buildTaskChange(after.settlement, { earlier, task, word: "done" })];
  });
}

/** The changes that tell of tasks which are late by this time. */
export function buildLateChanges(deal: DealRows, late: readonly Task[]): Change[] {
  return late.map((task) =>
    buildTaskChange(deal.settlement, {
      earlier: { ...task, status: "waiting" },
      task: { ...task, status: "late" },
      word: "late",
    }),
  );
}

/** The open tasks whose deadline has passed by this time and of which nobody was told that. */
export function listLateTasks(deal: DealRows, until: Date): Task[] {
  return listTasks(deal, until).filter(
    (task) =>
      isOpenTask(task) &&
      task.dueAt !== null &&
      task.dueAt <= until &&
      (task.leg === null ? deal.settlement.pay_late_at : task.leg.late_at) === null,
  );
}

/** The earliest deadline of an open task that nobody was told is late. */
export function findNextLateAt(deal: DealRows): Date | null {
  const untold = listLateTasks(deal, endOfTime).flatMap(({ dueAt }) => dueAt?.getTime() ?? []);
  return untold.length === 0 ? null : new Date(Math.min(...untold));
}

/** The refusal of a claim that this task does not take now. */
export function taskNotOpen({ kind, status }: Pick<Task, "kind" | "status">): Failure {
  return wrongState(`the task to ${kind} is ${status}`, { state: status });
}

/** The refusal to say of a firm that it did what the house does for it. */
export function taskOfHouse(): Failure {
  return new Failure("conflict", "the house does this task by the firm's mandate", {
    detail: { reason: "task_of_house" },
  });
}

function isSameTask(one: Task, other: Task): boolean {
  return one.kind === other.kind && one.leg?.ordinal === other.leg?.ordinal;
}

function readPayment(
  settlement: DealOfTasks["settlement"],
  legs: readonly LegRow[],
  now: Date,
): Task {
  const { state, paid_at, pay_due_at } = settlement;
  const isOpen = state === "pending";
  return {
    kind: "pay",
    side: "buy",
    deskId: settlement.buyer_desk_id,
    firmId: settlement.buyer_firm_id,
    leg: null,
    by: "firm",
    status: isOpen
      ? waitingOrLate(pay_due_at, now)
      : doneUnless(state === "failed" && paid_at === null),
    dueAt: pay_due_at,
    doneAt: paid_at,
    reference: settlement.pay_reference,
    amountPaise: isOpen
      ? sumParts(legs.filter((leg) => isOpenLeg(leg.state)).map((leg) => leg.buyer_paise))
      : settlement.buyer_paise,
  };
}

function readInitiation(leg: LegRow, now: Date): Task[] {
  const isOpen = leg.state === "to_initiate" || leg.state === "missing";
  if (leg.initiate_due_at === null && leg.initiated_at === null) return [];
  return [
    {
      kind: "initiate",
      side: "sell",
      deskId: leg.seller_desk_id,
      firmId: leg.seller_firm_id,
      leg,
      by: leg.initiate_by,
      status: isOpen
        ? waitingOrLate(leg.initiate_due_at, now)
        : doneUnless(leg.initiated_at === null),
      dueAt: leg.initiate_due_at,
      doneAt: isOpen ? null : leg.initiated_at,
      reference: leg.initiate_reference,
      amountPaise: null,
    },
  ];
}

/** After a receiver has said that nothing is there, its task waits for the holder without a deadline. */
function readAcceptance(settlement: DealOfTasks["settlement"], leg: LegRow, now: Date): Task[] {
  if (leg.initiated_at === null) return [];
  const isOpen = leg.state === "to_accept" || leg.state === "missing";
  const dueAt = leg.state === "missing" ? null : leg.accept_due_at;
  return [
    {
      kind: "accept",
      side: "buy",
      deskId: settlement.buyer_desk_id,
      firmId: settlement.buyer_firm_id,
      leg,
      by: isHouse(settlement.buyer_firm_id) ? "house" : "firm",
      status: isOpen
        ? waitingOrLate(dueAt, now)
        : doneUnless(leg.state === "failed" && leg.accepted_at === null),
      dueAt,
      doneAt: leg.accepted_at ?? (leg.state === "delivered" ? leg.answered_at : null),
      reference: leg.accept_reference,
      amountPaise: null,
    },
  ];
}

function waitingOrLate(dueAt: Date | null, now: Date): "waiting" | "late" {
  return dueAt !== null && dueAt < now ? "late" : "waiting";
}

function doneUnless(isVoid: boolean): "done" | "void" {
  return isVoid ? "void" : "done";
}

type Told = {
  readonly earlier: Task | undefined;
  readonly task: Task;
  readonly word: "waiting" | "done" | "late";
};

/** The desk is told ids and amounts, and never the other side's IEC, name or account. */
function buildTaskChange(settlement: SettlementRow, { earlier, task, word }: Told): Change {
  const { settlement_id } = settlement;
  const { firm_id: _firm, reference: _reference, ...shown } = viewTask(settlement_id, task);
  const face_paise = task.leg?.face_paise ?? null;
  const after = { settlement_id, ...shown, amount_paise: task.amountPaise, face_paise };
  return {
    environment: settlement.environment,
    deskId: task.deskId,
    firmId: task.firmId,
    action: `task.${word}`,
    entity: {
      type: "task",
      id: after.task_id,
      version: settlement.version,
      href: `/v1/settlements/${settlement_id}`,
    },
    after,
    event: {
      name: `task.${word}`,
      from: earlier?.status ?? null,
      to: task.status,
      data: after,
    },
  };
}
