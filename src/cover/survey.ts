// What there is to choose from, before anything is chosen.

import { creditsMax, greatestDivisor } from "./rules.ts";
import { none, type Shelf } from "./shelf.ts";

/** Up to so many offers are looked at one by one. */
const listedMax = 4_096;

export type Survey = {
  /** All usable credits, where the requirement takes them all. */
  readonly all: readonly number[] | undefined;
  /** All usable credits, where they are not too many to be listed. */
  readonly usable: readonly number[] | undefined;
  /** No sum of faces lies between it and the requirement. */
  readonly target: number;
  /** No usable face is smaller. */
  readonly smallest: number;
  /** The sums of the largest faces by their number, up to the target. */
  readonly largestSums: readonly number[];
  /** The target cannot be met with fewer credits. */
  readonly fewestBound: number;
};

export function surveyOf(shelf: Shelf, requirement: number): Survey {
  const usable = usableOf(shelf, requirement);
  const unit = usable?.reduce((unit, row) => greatestDivisor(unit, shelf.face(row)), 0);
  const target = requirement - (requirement % (unit || shelf.unit));
  const { rows, sums, isAll } = largestOf(shelf, target);
  const enough = sums.findIndex((sum) => sum >= target);
  return {
    all: isAll ? rows : undefined,
    usable,
    target,
    smallest: shelf.facesEnd > 0 ? shelf.faceAt(0) : 0,
    largestSums: sums,
    fewestBound: enough < 0 ? sums.length : enough,
  };
}

function usableOf(shelf: Shelf, requirement: number): readonly number[] | undefined {
  if (shelf.count(1, requirement) > listedMax) return undefined;
  const rows: number[] = [];
  for (let at = 0; at < shelf.facesEnd && shelf.faceAt(at) <= requirement; at = shelf.next(at)) {
    const row = shelf.rowAt(at);
    if (shelf.isUsable(row)) rows.push(row);
  }
  return rows;
}

type Largest = {
  readonly rows: readonly number[];
  readonly sums: readonly number[];
  readonly isAll: boolean;
};

/** The largest credits until they are more than the target, or until there are no more. */
function largestOf(shelf: Shelf, target: number): Largest {
  const rows: number[] = [];
  const sums = [0];
  let at = shelf.floor(target);
  while (at !== none && rows.length < creditsMax) {
    const row = shelf.rowAt(at);
    const sum = (sums.at(-1) ?? 0) + shelf.face(row);
    rows.push(row);
    sums.push(Math.min(target, sum));
    if (sum > target) return { rows, sums, isAll: false };
    at = shelf.previous(at);
  }
  return { rows, sums, isAll: at === none && !shelf.budget.spent };
}
