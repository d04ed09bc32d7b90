// A requirement is basic customs duty that a firm will have to pay on a future day: credits pay no other.
//
//   amount_paise = covered_paise (bought for it, and not failed) + uncovered_paise
//
// An order that rests for it has covered nothing yet. Five working days before the day the desk is
// told of what is uncovered.

import { Failure, unprocessable } from "../kernel/failure.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Calendar, lastDayWithin } from "../kernel/working-days.ts";

/** The fields that are declared and can be changed later. */
export type RequirementTerms = {
  readonly scheme: Scheme | null;
  readonly amount_paise: number;
  readonly due_on: IstDay;
  readonly reference: string;
};

/** A requirement has no states: it can be changed until it is deleted. */
export const requirementActions = ["update", "delete"] as const;

/** What orders have bought for a requirement. */
export type Cover = {
  /** Matched and not failed. Credits are whole, but their sum is at most what was asked for. */
  readonly coveredPaise: number;
  readonly restingPaise: number;
  readonly orderIds: readonly string[];
};

/** Orders of one requirement: those that ended without a deal count as well. */
export const ordersMax = 100;

export const nothingBought: Cover = { coveredPaise: 0, restingPaise: 0, orderIds: [] };

/** A requirement can be lowered below what was bought for it. */
export function findUncoveredPaise(amountPaise: number, { coveredPaise }: Cover): number {
  return Math.max(0, amountPaise - coveredPaise);
}

/** Two orders for one requirement could buy it twice, and one could buy more than is needed any more. */
export function coverRests({ orderIds }: Pick<Cover, "orderIds">): Failure {
  return new Failure("conflict", "an order for this requirement rests", {
    detail: { reason: "cover_rests", order_id: orderIds.at(-1) },
  });
}

/** The order that rests for a requirement buys what it was placed for. */
export function refuseChangeUnderCover(
  before: RequirementTerms,
  after: RequirementTerms,
  bought: Cover,
): void {
  const { coveredPaise, restingPaise } = bought;
  if (restingPaise === 0) return;
  const isLess =
    after.amount_paise < before.amount_paise && after.amount_paise < coveredPaise + restingPaise;
  if (isLess || after.scheme !== before.scheme) throw coverRests(bought);
}

/** The scheme whose credits are to cover a requirement: its own, or one of the caller's choice. */
export function chooseScheme(own: Scheme | null, wanted: Scheme | undefined): Scheme | Failure {
  const refuse = (problem: string) => unprocessable({ path: "scheme", problem });
  if (own === null) return wanted ?? refuse("is required: the requirement names none");
  return wanted === undefined || wanted === own ? own : refuse(`must be ${own}, as declared`);
}

const warningWorkingDays = 5;

/** The last due day that a desk is told of today. Duty is paid while banks and customs are open. */
export function findToldUntil(today: IstDay, calendar: Calendar): IstDay {
  return lastDayWithin(today, warningWorkingDays, "customs", calendar);
}

/** Compares days as text: YYYY-MM-DD sorts like the calendar. */
export function refusePastDay(dueOn: IstDay, today: IstDay): void {
  if (dueOn >= today) return;
  throw unprocessable({ path: "due_on", problem: `must not be before today, ${today} in IST` });
}

/** The terms after a change. Fields left out stay as they are; a null scheme removes the scheme. */
export function applyTermChanges(
  terms: RequirementTerms,
  change: Partial<RequirementTerms>,
  today: IstDay,
): RequirementTerms {
  const { scheme, amount_paise, due_on, reference } = terms;
  // A past day may stay while other fields change.
  if (change.due_on !== undefined && change.due_on !== due_on) refusePastDay(change.due_on, today);
  return {
    scheme: change.scheme === undefined ? scheme : change.scheme,
    amount_paise: change.amount_paise ?? amount_paise,
    due_on: change.due_on ?? due_on,
    reference: change.reference ?? reference,
  };
}

export function isSameTerms(one: RequirementTerms, other: RequirementTerms): boolean {
  return (
    one.scheme === other.scheme &&
    one.amount_paise === other.amount_paise &&
    one.due_on === other.due_on &&
    one.reference === other.reference
  );
}
