// What there is to choose from, before anything is chosen.

import { endingsOf, type Endings, type Start } from "./odd-faces.ts";
import { creditsMax, greatestDivisor, rupee } from "./rules.ts";
import { none, type Shelf } from "./shelf.ts";

/** Up to so many offers are looked at one by one. */
const listedMax = 4_096;

/** If the best sums cannot be met, so many are tried, and then the one in whole rupees. */
const aimsMax = 3;

export type Aim = { readonly sum: number; readonly start: Start };

export type Survey = {
  /** All usable credits, where the requirement takes them all. */
  readonly all: readonly number[] | undefined;
  /** All usable credits, where they are not too many to be listed. */
  readonly usable: readonly number[] | undefined;
  /** No sum of faces lies between it and the requirement. */
  readonly target: number;
  /** The target, and what comes next where it cannot be met, with what to start from. */
  readonly aims: readonly Aim[];
  /** Credits one of which is in every bundle that meets the target; undefined when unknown. */
  readonly needed: readonly number[] | undefined;
  /** No usable face is smaller. */
  readonly smallest: number;
  /** The sums of the largest faces by their number, up to the target. */
  readonly largestSums: readonly number[];
  /** The target cannot be met with fewer credits. */
  readonly fewestBound: number;
};

export function surveyOf(shelf: Shelf, requirement: number): Survey {
  const usable = usableOf(shelf, requirement);
  const ofUsable = usable?.reduce((unit, row) => greatestDivisor(unit, shelf.face(row)), 0);
  const unit = ofUsable || shelf.unit || 1;
  const endings = endingsOf(shelf, requirement);
  const { target, aims } = aimsOf(endings, { requirement, unit });
  const { rows, sums, isAll } = largestOf(shelf, target);
  const enough = sums.findIndex((sum) => sum >= target);
  return {
    all: isAll ? rows : undefined,
    usable,
    target,
    aims,
    needed: target % rupee === 0 ? undefined : endings.odd,
    smallest: shelf.facesEnd > 0 ? shelf.faceAt(0) : 0,
    largestSums: sums,
    fewestBound: enough < 0 ? sums.length : enough,
  };
}

type Aims = { readonly target: number; readonly aims: readonly Aim[] };

/** From the requirement down, the largest sum of each ending that some start and the unit allow. */
function aimsOf(
  { starts, odd }: Endings,
  { requirement, unit }: { readonly requirement: number; readonly unit: number },
): Aims {
  const whole = requirement - (requirement % unit);
  const aims = new Map<number, Aim>();
  for (let sum = whole; sum >= 0 && sum > whole - rupee * unit; sum -= unit) {
    const start = starts[sum % rupee];
    if (start && start.sum <= sum && !aims.has(sum % rupee)) aims.set(sum % rupee, { sum, start });
  }
  const inOrder = [...aims.values()];
  const next = inOrder.filter((aim, at) => at < aimsMax || aim.start.rows.length === 0);
  return { target: odd ? (inOrder[0]?.sum ?? 0) : whole, aims: next };
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
