// Finds the earliest bundle (criterion 3 of rules.ts) of a given count with exactly a given sum.
// There are three strategies, and none is always the cheapest:
//
//   by queue  tries credits in queue order and ends at the first success, which is the earliest. Fast
//             where many bundles meet the sum
//   by face   tries the largest face of the bundle, then the next largest, and keeps the earliest
//             success. Fast where few faces are large enough
//   by need   where every such bundle contains one of a few credits, tries each of those
//
// They run in turn with a growing allowance, so that an answer costs a small multiple of the
// cheapest. Each ends with a pair of known sum, found by looking up the complement of the larger
// face.

import { none, type Shelf, type Taken } from "./shelf.ts";
import { shareCeil } from "./rules.ts";

const allowanceStart = 4_096;
const allowanceGrowth = 4;

type ExactSum = {
  readonly count: number;
  readonly sum: number;
  /** The smallest usable face, and the prefix sums of the largest faces, capped at the sum. */
  readonly smallest: number;
  readonly largestSums: readonly number[];
  /** Every such bundle contains one of these credits; undefined when unknown. */
  readonly needed: readonly number[] | undefined;
};

type SumResult = {
  readonly rows: readonly number[] | undefined;
  /** Whether the rows are proven earliest, or proven not to exist. */
  readonly isProven: boolean;
};

/** Rows of a bundle in queue order. */
export type BundleRows = readonly number[];

export function findExactSum(shelf: Shelf, wanted: ExactSum, stepsMax: number): SumResult {
  if (wanted.count === 1) {
    const rows = findFirstSingle(shelf, wanted.sum, new Set());
    return { rows, isProven: !shelf.budget.spent };
  }
  const searches = wanted.needed
    ? [searchByNeed, searchByQueue, searchByFace]
    : [searchByQueue, searchByFace];
  let known: BundleRows | undefined;
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

function searchByQueue(shelf: Shelf, wanted: ExactSum): BundleRows | undefined {
  const taken = new Set<number>();
  return searchQueueFrom(shelf, { ...wanted, from: shelf.queueStart, taken });
}

type QueueFrom = ExactSum & { readonly from: number; readonly taken: Set<number> };

function searchQueueFrom(shelf: Shelf, part: QueueFrom): BundleRows | undefined {
  const { count, sum, smallest, largestSums, taken } = part;
  const least = sum - (largestSums[count - 1] ?? sum);
  const most = sum - smallest * (count - 1);
  // Of equal faces only the first is tried: anything that completes a later one completes it too.
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

function findRest(shelf: Shelf, left: QueueFrom): BundleRows | undefined {
  const { count, sum, taken } = left;
  if (count > 2) return searchQueueFrom(shelf, left);
  if (count === 2) return findFirstPair(shelf, { sum, largest: sum, taken });
  return findFirstSingle(shelf, sum, taken);
}

function searchByNeed(
  shelf: Shelf,
  { count, sum, smallest, needed = [] }: ExactSum,
): BundleRows | undefined {
  let best: BundleRows | undefined;
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

function searchByFace(shelf: Shelf, { count, sum, smallest }: ExactSum): BundleRows | undefined {
  return findFirstUpTo(shelf, { count, sum, smallest, largest: sum, taken: new Set() });
}

type FirstUpTo = {
  readonly count: number;
  readonly sum: number;
  readonly smallest: number;
  /** Larger faces are not tried. */
  readonly largest: number;
  readonly taken: Set<number>;
  /** Whether any bundle will do; otherwise the earliest is wanted. */
  readonly isAny?: boolean;
};

/** Of equal faces only the first in the queue is tried. */
export function findFirstUpTo(shelf: Shelf, part: FirstUpTo): BundleRows | undefined {
  const { count, sum, smallest, taken } = part;
  if (count === 1) return findFirstSingle(shelf, sum, taken);
  if (count === 2) return findFirstPair(shelf, part);
  const largest = Math.min(part.largest, sum - smallest * (count - 1));
  let best: BundleRows | undefined;
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

/** The earliest pair with this sum, neither face above `largest`. */
function findFirstPair(shelf: Shelf, { sum, largest, taken, isAny }: Pair): BundleRows | undefined {
  const most = Math.min(largest, sum - 1);
  let best: BundleRows | undefined;
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

function findFirstSingle(shelf: Shelf, sum: number, taken: Taken): BundleRows | undefined {
  const row = shelf.find(sum, taken);
  return row === none ? undefined : [row];
}

export function sortByQueue(shelf: Shelf, rows: BundleRows): BundleRows {
  return rows.toSorted((a, b) => (shelf.isBefore(a, b) ? -1 : 1));
}

/** The earlier of two bundles of one count, both in queue order. */
function pickEarlier(
  shelf: Shelf,
  a: BundleRows | undefined,
  b: BundleRows | undefined,
): BundleRows | undefined {
  if (!a || !b) return a ?? b;
  const at = a.findIndex((row, index) => row !== b[index]);
  if (at < 0) return a;
  return shelf.isBefore(a[at] ?? 0, b[at] ?? 0) ? a : b;
}
