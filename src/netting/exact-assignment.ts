// The exact best assignment of few credits, by dynamic programming over subsets: for every subset
// of credits that the requirements can take, the fewest moves. A subset is a bit mask; the first
// credit of the queue is the lowest bit.
//
// Requirements are added one by one. The cost of a subset with one more requirement is the minimum
// over its splits: one part pays the new requirement, the rest pays the ones before.

import type { StepBudget } from "../cover/rules.ts";
import { none } from "./rules.ts";

export type FewCredits = {
  /** In queue order. */
  readonly faces: readonly number[];
  readonly amounts: readonly number[];
  /** By requirement, the mask of credits that may pay it. */
  readonly payers: readonly number[];
  /** By requirement, the mask of credits that pay it only by a move. */
  readonly movers: readonly number[];
};

/** More credits take too many steps, more requirements too much memory. */
export const fewCreditsMax = 16;
export const fewRequirementsMax = 64;
const unreachable = 0xff;

/** Steps between two yields; about 10 ms. */
const sliceSteps = 4_000_000;

/**
 * By credit, the index of the requirement that it pays, or none: the most duty covered, then the
 * fewest moves, the fewest credits, the earliest expiry. Undefined when the budget of steps is too
 * small.
 */
export function* findBestAssignment(
  few: FewCredits,
  budget: StepBudget,
): Generator<undefined, Int32Array | undefined> {
  const sums = sumSubsets(few.faces);
  const steps = countSteps(few, sums, budget.left);
  if (steps > budget.left) return undefined;
  budget.spend(steps);
  let moves = new Uint8Array(sums.length).fill(unreachable);
  moves[0] = 0;
  const parts: Int32Array[] = [];
  let before = 0;
  for (const [at, payers] of few.payers.entries()) {
    const joined = yield* addRequirement({ few, at, sums, moves, before });
    moves = joined.moves;
    parts.push(joined.parts);
    before |= payers;
  }
  return traceAssignment(few, parts, findBestSet(sums, moves));
}

/** By subset, the sum of its faces. */
function sumSubsets(faces: readonly number[]): Float64Array {
  const sums = new Float64Array(1 << faces.length);
  faces.forEach((face, at) => {
    const size = 1 << at;
    for (let set = 0; set < size; set++) sums[size + set] = (sums[set] ?? 0) + face;
  });
  return sums;
}

/** The number of steps that the search will take; stops counting above the maximum. */
function countSteps(few: FewCredits, sums: Float64Array, stepsMax: number): number {
  let steps = 0;
  let before = 0;
  few.payers.forEach((payers, at) => {
    const amount = few.amounts[at] ?? 0;
    for (let part = payers; part > 0 && steps <= stepsMax; part = (part - 1) & payers) {
      steps += 1;
      if ((sums[part] ?? 0) <= amount) steps += 2 ** countBits(before & ~part);
    }
    before |= payers;
  });
  return steps;
}

type Joining = {
  readonly few: FewCredits;
  readonly at: number;
  readonly sums: Float64Array;
  /** By subset, the fewest moves with the requirements before this one. */
  readonly moves: Uint8Array;
  /** The mask of credits that those requirements may use. */
  readonly before: number;
};

type Joined = { readonly moves: Uint8Array<ArrayBuffer>; readonly parts: Int32Array };

/** The fewest moves by subset with this requirement, and the part of each subset that pays it. */
function* addRequirement({ few, at, sums, moves, before }: Joining): Generator<undefined, Joined> {
  const amount = few.amounts[at] ?? 0;
  const payers = few.payers[at] ?? 0;
  const movers = few.movers[at] ?? 0;
  const fewest = Uint8Array.from(moves);
  const parts = new Int32Array(moves.length);
  let steps = 0;
  for (let part = payers; part > 0; part = (part - 1) & payers) {
    if ((sums[part] ?? 0) > amount) continue;
    const moved = countBits(part & movers);
    const others = before & ~part;
    for (let rest = others; ; rest = (rest - 1) & others) {
      const known = moves[rest] ?? unreachable;
      const set = rest | part;
      if (known !== unreachable && known + moved < (fewest[set] ?? 0)) {
        fewest[set] = known + moved;
        parts[set] = part;
      }
      if (rest === 0) break;
    }
    steps += 2 ** countBits(others);
    if (steps < sliceSteps) continue;
    steps = 0;
    yield;
  }
  return { moves: fewest, parts };
}

function findBestSet(sums: Float64Array, moves: Uint8Array): number {
  let best = 0;
  for (let set = 1; set < sums.length; set++) {
    if (moves[set] !== unreachable && isBetter(set, best, { sums, moves })) best = set;
  }
  return best;
}

type Judged = { readonly sums: Float64Array; readonly moves: Uint8Array };

function isBetter(set: number, best: number, { sums, moves }: Judged): boolean {
  const more = (sums[set] ?? 0) - (sums[best] ?? 0);
  if (more !== 0) return more > 0;
  const moved = (moves[set] ?? 0) - (moves[best] ?? 0);
  if (moved !== 0) return moved < 0;
  const counted = countBits(set) - countBits(best);
  if (counted !== 0) return counted < 0;
  // The lowest bit in which they differ is the first difference in the queue.
  const apart = set ^ best;
  return (apart & -apart & set) !== 0;
}

function traceAssignment(few: FewCredits, parts: readonly Int32Array[], best: number): Int32Array {
  const paid = new Int32Array(few.faces.length).fill(none);
  let set = best;
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at]?.[set] ?? 0;
    few.faces.forEach((_, credit) => {
      if ((part >> credit) & 1) paid[credit] = at;
    });
    set &= ~part;
  }
  return paid;
}

function countBits(set: number): number {
  let count = 0;
  for (let left = set; left !== 0; left &= left - 1) count++;
  return count;
}
