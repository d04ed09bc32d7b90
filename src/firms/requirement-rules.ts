// A requirement is customs duty that a firm will have to pay on a future day.

import { unprocessable } from "../kernel/failure.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";

/** The fields that are declared and can be changed later. */
export type RequirementTerms = {
  readonly scheme: Scheme | null;
  readonly amount_paise: number;
  readonly due_on: IstDay;
  readonly reference: string;
};

/** A requirement has no states: it can be changed until it is deleted. */
export const requirementActions = ["update", "delete"] as const;

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
