// Taking the largest that fits, again and again, and what can be made of it: the first so many of
// these are a head, and a head is completed by two or three credits.

import { bestOfAllSums } from "./all-sums.ts";
import { firstUpTo, queued } from "./exact-sum.ts";
import { creditsMax } from "./rules.ts";
import { none, type Shelf } from "./shelf.ts";
import type { Survey } from "./survey.ts";

type Rows = readonly number[];

const completionCounts = [2, 3] as const;
const completionStepsMax = 400_000;
const headsMax = 64;

const spreadCount = 30;
const spreadStep = 0.85;
/** Where a spread begins: at the rest of the target, at a half of it, at a quarter. */
const spreadShares = [1, 2, 4] as const;

export function largestFirst(shelf: Shelf, requirement: number): Rows {
  const taken = new Set<number>();
  let left = requirement;
  while (taken.size < creditsMax) {
    const at = shelf.floor(left, taken);
    if (at === none) break;
    const row = shelf.find(shelf.faceAt(at), taken);
    if (row === none) break;
    taken.add(row);
    left -= shelf.face(row);
  }
  return [...taken];
}

/** A head and two or three more whose sum is the target, with few credits before many. */
export function completeHeads(shelf: Shelf, survey: Survey, greedy: Rows): Rows | undefined {
  const { target, smallest } = survey;
  const countMax = Math.min(greedy.length, headsMax + survey.fewestBound) + 3;
  for (let total = survey.fewestBound; total <= countMax; total++) {
    for (const count of completionCounts) {
      const head = greedy.slice(0, Math.max(0, total - count));
      if (head.length + count !== total) continue;
      const sum = left(shelf, target, head);
      const { found } = shelf.budget.within(completionStepsMax, () =>
        firstUpTo(shelf, { count, sum, smallest, largest: sum, taken: new Set(head), isAny: true }),
      );
      if (found) return [...head, ...found];
      if (shelf.budget.spent) return undefined;
    }
  }
  return undefined;
}

/**
 * The largest sum that heads reach with any of a few credits whose faces are spread below the rest
 * of the target. Thirty of them have a billion sums, so that few targets are missed.
 */
export function nearestBySums(shelf: Shelf, target: number, greedy: Rows): Rows {
  let best = greedy;
  let missed = left(shelf, target, greedy);
  for (let length = 0; length <= Math.min(greedy.length, headsMax); length++) {
    const head = greedy.slice(0, length);
    const requirement = left(shelf, target, head);
    for (const share of spreadShares) {
      if (missed === 0 || shelf.budget.spent) return best;
      const spread = spreadBelow(shelf, requirement / share, head);
      const known = requirement - missed;
      const faces = Float64Array.from(spread, (row) => shelf.face(row));
      const found = bestOfAllSums({ faces, requirement, known, budget: shelf.budget });
      const rows = [...head, ...(found ?? []).map((place) => spread[place] ?? 0)];
      if (left(shelf, target, rows) < missed) best = rows;
      missed = left(shelf, target, best);
    }
  }
  return best;
}

/** Goes down in steps, and again for what it passed over; in the order of the queue. */
function spreadBelow(shelf: Shelf, facePaise: number, head: Rows): Rows {
  const taken = new Set(head);
  let face = facePaise;
  while (taken.size < head.length + spreadCount) {
    const at = shelf.floor(Math.floor(face), taken);
    const row = at === none ? none : shelf.find(shelf.faceAt(at), taken);
    if (row === none && face === facePaise) break;
    if (row !== none) taken.add(row);
    face = row === none ? facePaise : shelf.face(row) * spreadStep;
  }
  return queued(shelf, [...taken].slice(head.length));
}

function left(shelf: Shelf, target: number, rows: Rows): number {
  return rows.reduce((sum, row) => sum - shelf.face(row), target);
}
