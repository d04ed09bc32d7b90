// The greedy bundle: the largest credit that fits, repeatedly. A prefix of it is a head; a head is
// completed by two or three credits that meet the sum exactly, or by any of a few credits.

import { findBestSum } from "./all-sums.ts";
import { type BundleRows, findFirstUpTo, sortByQueue } from "./exact-sum.ts";
import { creditsMax } from "./rules.ts";
import { none, type Shelf } from "./shelf.ts";

/** A sum to meet, and rows whose prefixes of at least `shortest` are the heads. */
export type Heads = { readonly sum: number; readonly rows: BundleRows; readonly shortest: number };

const completionCounts = [2, 3] as const;
const completionStepsMax = 400_000;
const headsMax = 64;

const spreadStep = 0.85;
/** Credits of a spread, and the divisor of the rest at which it starts; cheapest first. */
const spreads = [
  { count: 28, share: 1 },
  { count: 28, share: 2 },
  { count: 30, share: 4 },
  { count: 34, share: 2 },
] as const;

export function takeLargestFirst(
  shelf: Shelf,
  requirement: number,
  start: BundleRows = [],
): BundleRows {
  const taken = new Set(start);
  let left = subtractFaces(shelf, requirement, start);
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

/** A head and two or three more credits that meet the sum; short heads first. */
export function completeHeads(shelf: Shelf, aim: Heads, smallest: number): BundleRows | undefined {
  const { rows, shortest } = aim;
  const longest = Math.min(rows.length, shortest + headsMax);
  for (let total = shortest + 2; total <= longest + 3; total++) {
    for (const count of completionCounts) {
      const head = rows.slice(0, Math.max(shortest, total - count));
      if (head.length + count !== total) continue;
      const sum = subtractFaces(shelf, aim.sum, head);
      const { found } = shelf.budget.within(completionStepsMax, () =>
        findFirstUpTo(shelf, {
          count,
          sum,
          smallest,
          largest: sum,
          taken: new Set(head),
          isAny: true,
        }),
      );
      if (found) return [...head, ...found];
      if (shelf.budget.spent) return undefined;
    }
  }
  return undefined;
}

/**
 * The largest sum that a head reaches with any of about thirty credits whose faces are spread below
 * the rest. They have a billion sums, so that few rests are missed.
 */
export function findNearestBySums(shelf: Shelf, { sum, rows, shortest }: Heads): BundleRows {
  let best = rows;
  const longest = Math.min(rows.length, shortest + headsMax);
  for (const { count, share } of spreads) {
    for (let length = shortest; length <= longest; length++) {
      const missed = subtractFaces(shelf, sum, best);
      if (missed === 0 || shelf.budget.spent) return best;
      const head = rows.slice(0, length);
      const requirement = subtractFaces(shelf, sum, head);
      const spread = pickSpread(shelf, { face: requirement / share, count, head });
      const faces = Float64Array.from(spread, (row) => shelf.face(row));
      const { budget } = shelf;
      const places = findBestSum({ faces, requirement, known: requirement - missed, budget });
      const reached = [...head, ...(places ?? []).map((place) => spread[place] ?? 0)];
      if (subtractFaces(shelf, sum, reached) < missed) best = reached;
    }
  }
  return best;
}

type Spread = { readonly face: number; readonly count: number; readonly head: BundleRows };

/** Picks faces that fall geometrically, and starts again from the top for more; in queue order. */
function pickSpread(shelf: Shelf, { face, count, head }: Spread): BundleRows {
  const taken = new Set(head);
  let below = face;
  while (taken.size < head.length + count) {
    const at = shelf.floor(Math.floor(below), taken);
    const row = at === none ? none : shelf.find(shelf.faceAt(at), taken);
    if (row === none && below === face) break;
    if (row !== none) taken.add(row);
    below = row === none ? face : shelf.face(row) * spreadStep;
  }
  return sortByQueue(shelf, [...taken].slice(head.length));
}

function subtractFaces(shelf: Shelf, sum: number, rows: BundleRows): number {
  return rows.reduce((left, row) => left - shelf.face(row), sum);
}
