// Finds the bundle of a given count with exactly a given sum that is first by rule 3. There are
// several ways, and none is always the cheapest:
//
//   by queue  tries the first in the queue, then the second, and so on; ends at the first success,
//             because whatever comes later in the queue is a later bundle. Quick where successes
//             are many.
//   by face   tries every largest face that can be part of such a sum, then the next largest below
//             it, and keeps the best success. Quick where few faces are large enough.
//   by need   where every such bundle has one of a few credits, tries each of these.
//
// They take turns with a growing allowance, so that an answer costs a few times the cheapest way.
// All end with two credits whose sum is known: for each larger one, is there its complement?

import { none, type Shelf, type Taken } from "./shelf.ts";
import { shareCeil } from "./rules.ts";

const allowanceStart = 4_096;
const allowanceGrowth = 4;

export type ExactSum = {
  readonly count: number;
  readonly sum: number;
  /** The smallest usable face, and the sums of the largest ones by their number, up to the sum. */
  readonly smallest: number;
  readonly largestSums: readonly number[];
  /** Credits one of which is in every such bundle; undefined when unknown. */
  readonly needed: readonly number[] | undefined;
};

export type Found = {
  readonly rows: readonly number[] | undefined;
  /** Whether these are surely the first, or there surely are none. */
  readonly isProven: boolean;
};

/** Rows of the bundle in the order of the queue. */
type Rows = readonly number[];

export function findExactSum(shelf: Shelf, wanted: ExactSum, stepsMax: number): Found {
  if (wanted.count === 1) {
    const rows = findFirstSingle(shelf, wanted.sum, new Set());
    return { rows, isProven: !shelf.budget.spent };
  }
  const searches = wanted.needed
    ? [searchByNeed, searchByQueue, searchByFace]
    : [searchByQueue, searchByFace];
  let known: Rows | undefined;
  for (let steps = allowanceStart, used = 0; ; steps *= allowanceGrowth) {
    const allowance = Math.min(steps, Math.ceil((stepsMax - used) / searches.length));
    for (const search of searches) {
      const { found, finished } = shelf.budget.within(allowance, () => search(shelf, wanted));
      if (finished) return { rows: found, isProven: true };
      known = pickEarlier(shelf, known, found);
    }
    used += searches.length * allowance;
    if (used >= stepsMax || shelf.budget.spent) return { rows: known, isProven: false };
  }
}

function searchByQueue(shelf: Shelf, wanted: ExactSum): Rows | undefined {
  const taken = new Set<number>();
  return searchQueueFrom(shelf, { ...wanted, from: shelf.queueStart, taken });
}

type QueueFrom = ExactSum & { readonly from: number; readonly taken: Set<number> };

function searchQueueFrom(shelf: Shelf, part: QueueFrom): Rows | undefined {
  const { count, sum, smallest, largestSums, taken } = part;
  const least = sum - (largestSums[count - 1] ?? sum);
  const most = sum - smallest * (count - 1);
  // What could follow a later one of the same face could have followed the first.
  const tried = new Set<number>();
  for (let at = part.from; at < shelf.queueEnd; at = shelf.nextQueued(at)) {
    if (shelf.budget.spent) return undefined;
    const row = shelf.queuedAt(at);
    const face = shelf.face(row);
    if (face < least || face > most) continue;
    if (count === 2 && !shelf.mayHave(sum - face)) continue;
    if (tried.has(face) || !shelf.isUsable(row)) continue;
    tried.add(face);
    taken.add(row);
    const left = { ...part, count: count - 1, sum: sum - face, from: shelf.nextQueued(at) };
    const rest = findRest(shelf, left);
    taken.delete(row);
    if (rest) return sortByQueue(shelf, [row, ...rest]);
  }
  return undefined;
}

function findRest(shelf: Shelf, left: QueueFrom): Rows | undefined {
  const { count, sum, taken } = left;
  if (count > 2) return searchQueueFrom(shelf, left);
  if (count === 2) return findFirstPair(shelf, { sum, largest: sum, taken });
  return findFirstSingle(shelf, sum, taken);
}

function searchByNeed(
  shelf: Shelf,
  { count, sum, smallest, needed = [] }: ExactSum,
): Rows | undefined {
  let best: Rows | undefined;
  for (const row of needed) {
    const left = sum - shelf.face(row);
    if (left < smallest * (count - 1) || shelf.budget.spent) continue;
    const taken = new Set([row]);
    const rest = findFirstUpTo(shelf, {
      count: count - 1,
      sum: left,
      smallest,
      largest: left,
      taken,
    });
    if (rest) best = pickEarlier(shelf, best, sortByQueue(shelf, [row, ...rest]));
  }
  return best;
}

function searchByFace(shelf: Shelf, { count, sum, smallest }: ExactSum): Rows | undefined {
  return findFirstUpTo(shelf, { count, sum, smallest, largest: sum, taken: new Set() });
}

export type FirstUpTo = {
  readonly count: number;
  readonly sum: number;
  readonly smallest: number;
  /** No face above this one is tried. */
  readonly largest: number;
  readonly taken: Set<number>;
  /** Whether any bundle will do; otherwise the first by rule 3. */
  readonly isAny?: boolean;
};

/** Of those with one face only the first in the queue matters: the others are later. */
export function findFirstUpTo(shelf: Shelf, part: FirstUpTo): Rows | undefined {
  const { count, sum, smallest, taken } = part;
  if (count === 1) return findFirstSingle(shelf, sum, taken);
  if (count === 2) return findFirstPair(shelf, part);
  const largest = Math.min(part.largest, sum - smallest * (count - 1));
  let best: Rows | undefined;
  for (
    let at = shelf.seek(shareCeil(sum, count));
    at < shelf.facesEnd && shelf.faceAt(at) <= largest && !shelf.budget.spent;
    at = shelf.nextRun(at)
  ) {
    const row = shelf.firstOfRun(at, taken);
    if (row === none) continue;
    const face = shelf.face(row);
    taken.add(row);
    const rest = findFirstUpTo(shelf, {
      ...part,
      count: count - 1,
      sum: sum - face,
      largest: face,
    });
    taken.delete(row);
    if (rest) best = pickEarlier(shelf, best, sortByQueue(shelf, [row, ...rest]));
    if (rest && part.isAny) return best;
  }
  return best;
}

type Pair = {
  readonly sum: number;
  readonly largest: number;
  readonly taken: Taken;
  readonly isAny?: boolean;
};

/** The pair with this sum that is first by rule 3, neither face above the largest. */
function findFirstPair(shelf: Shelf, { sum, largest, taken, isAny }: Pair): Rows | undefined {
  const most = Math.min(largest, sum - 1);
  let best: Rows | undefined;
  let at = shelf.seekComplement(shelf.seek(shareCeil(sum, 2)), sum, most);
  while (at < shelf.facesEnd && !shelf.budget.spent) {
    const other = shelf.find(sum - shelf.faceAt(at), taken);
    const row = other === none ? none : shelf.firstOfRun(at, taken, other);
    if (row !== none) best = pickEarlier(shelf, best, sortByQueue(shelf, [row, other]));
    if (row !== none && isAny) return best;
    at = shelf.seekComplement(row === none ? shelf.next(at) : shelf.nextRun(at), sum, most);
  }
  return best;
}

function findFirstSingle(shelf: Shelf, sum: number, taken: Taken): Rows | undefined {
  const row = shelf.find(sum, taken);
  return row === none ? undefined : [row];
}

export function sortByQueue(shelf: Shelf, rows: Rows): Rows {
  return rows.toSorted((a, b) => (shelf.isBefore(a, b) ? -1 : 1));
}

/** Of two bundles of one count, in the order of the queue, the first by rule 3. */
export function pickEarlier(
  shelf: Shelf,
  a: Rows | undefined,
  b: Rows | undefined,
): Rows | undefined {
  if (!a || !b) return a ?? b;
  const at = a.findIndex((row, index) => row !== b[index]);
  if (at < 0) return a;
  return shelf.isBefore(a[at] ?? 0, b[at] ?? 0) ? a : b;
}
