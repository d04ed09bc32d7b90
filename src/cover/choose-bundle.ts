// Chooses the bundle for a requirement, by the three criteria of rules.ts, and says what is proven.
//
// The target is an upper bound of the sum: the largest sum that the common divisor of all faces,
// and the paise in which sums can end, do not rule out. In a large book many bundles meet it, which
// proves the residual.
//
//   survey    lists the usable offers and computes the target. If all of them fit, they are the bundle
//   all sums  few credits, or many of few faces: enumerates every sum, which proves all three criteria
//   exact     the target with 1, 2, 3 … credits; each count is refuted before the next is tried
//   complete  for requirements that need many credits: the largest first, then two, three or a few more
//             that meet the rest of the target exactly
//   nearest   when the target is not met: all sums where that is feasible, otherwise the best sum found,
//             with the target as the bound
//
// Work is counted in steps. When the budget is spent, the answer is the best bundle so far, which
// is never worse than taking the largest credit that fits repeatedly.

import { boundSteps, findBestSum } from "./all-sums.ts";
import { type BundleRows, findExactSum, findFirstUpTo, sortByQueue } from "./exact-sum.ts";
import { OfferIndex, type Usable } from "./offer-index.ts";
import {
  type Bundle,
  type BundleProof,
  creditsMax,
  type DayNumber,
  StepBudget,
  stepsDefault,
} from "./rules.ts";
import { none, type Shelf } from "./shelf.ts";
import { type Survey, surveyShelf } from "./survey.ts";

/** Budgets of the survey and of the largest-first pass, which are not charged to the search. */
const surveyStepsMax = 2_000_000;
const smallestStepsMax = 100_000;

/** With at most so many credits all sums are enumerated first. */
const fewCredits = 36;
const allSumsStepsMax = 1_000_000;

/** Larger counts are not tried exactly. */
const exactCountMax = 5;
/** A search that used less than this share of its steps was not cut short. */
const cutShare = 0.4;
/** One count may use the remaining steps divided by this. */
const shareOfCount = 3;

export type BundleRequest = Usable & {
  readonly requirement_paise: number;
  readonly steps?: number;
};

/** A credit of one firm, without the fields of an offer. */
export type OwnCredit = {
  readonly scrip_no: string;
  readonly face_paise: number;
  readonly expires_on: DayNumber;
};

export function chooseBundle(index: OfferIndex, requirement: BundleRequest): Bundle {
  const { steps = stepsDefault } = requirement;
  const budget = new StepBudget(steps);
  const bundle = searchBundle(index, requirement, budget);
  const used = steps - budget.left;
  const isProven = bundle.proof.residual === "optimal" && bundle.proof.earliest === "proven";
  return { ...bundle, steps: used, isSettled: isProven || used < steps * cutShare };
}

type Searched = Omit<Bundle, "steps" | "isSettled">;

function searchBundle(index: OfferIndex, requirement: BundleRequest, budget: StepBudget): Searched {
  const { requirement_paise: wanted } = requirement;
  const steps = budget.left;
  if (!Number.isSafeInteger(wanted) || wanted < 0) throw new Error("a requirement is whole paise");
  const wide = index.shelf(requirement, new StepBudget(surveyStepsMax));
  const shelf = index.shelf(requirement, budget);
  if (shelf.isBare) return toBundle(shelf, wanted, toProvenAnswer(shelf, []));
  const survey = surveyShelf(wide, wanted);
  if (survey.all) return toBundle(shelf, wanted, toProvenAnswer(shelf, survey.all));
  const ofFew =
    hasFewSums(shelf, survey) &&
    answerByAllSums(shelf, survey, takeLargestFirst(wide, survey.target));
  if (ofFew) return toBundle(shelf, wanted, ofFew);
  const exact = shelf.budget.within(steps / 2, () => answerExactly(shelf, survey)).found;
  if (exact.rows) return toBundle(shelf, wanted, exact);
  const rows = findNearestRows(shelf, survey, wide);
  const isMet = sumFaces(shelf, rows) === survey.target;
  const fewestBound = isMet ? exact.fewestBound : Math.min(1, rows.length);
  const nearest = { rows, target: survey.target, fewestBound, isEarliest: false };
  return toBundle(shelf, wanted, (!isMet && answerByAllSums(shelf, survey, rows)) || nearest);
}

/** The smallest usable face; undefined when there is none, or the budget is spent. */
export function findSmallestUsable(index: OfferIndex, usable: Usable): number | undefined {
  const shelf = index.shelf(usable, new StepBudget(smallestStepsMax));
  if (shelf.isBare) return undefined;
  for (let at = 0; at < shelf.facesEnd && !shelf.budget.spent; at = shelf.next(at)) {
    if (shelf.isUsable(shelf.rowAt(at))) return shelf.faceAt(at);
  }
  return undefined;
}

/** The bundle from a list, such as the credits of one firm. */
export function chooseOwnCredits(
  credits: readonly OwnCredit[],
  requirementPaise: number,
  steps = stepsDefault,
): Bundle {
  return chooseBundle(indexOwnCredits(credits), { requirement_paise: requirementPaise, steps });
}

/** An index of a list, to choose from several times. */
export function indexOwnCredits(credits: readonly OwnCredit[]): OfferIndex {
  const index = new OfferIndex();
  const own = { limit_bps: 0, seller: "", order_id: null };
  index.load(
    credits.map(({ scrip_no, face_paise, expires_on }) => ({
      scrip_no,
      face_paise,
      expires_on,
      ...own,
    })),
    credits.length,
  );
  return index;
}

type Answer = {
  readonly rows: readonly number[];
  /** No sum is above this one. */
  readonly target: number;
  readonly fewestBound: number;
  readonly isEarliest: boolean;
};

function toProvenAnswer(shelf: Shelf, rows: readonly number[]): Answer {
  return { rows, target: sumFaces(shelf, rows), fewestBound: rows.length, isEarliest: true };
}

/** Whether all sums can be enumerated: few credits, or few faces. */
function hasFewSums(shelf: Shelf, { usable, isFew, target }: Survey): boolean {
  if (!usable || !isFew) return false;
  if (usable.length <= fewCredits) return true;
  const faces = Float64Array.from(usable, (row) => shelf.face(row));
  return boundSteps(faces, target) < shelf.budget.left;
}

/** Undefined when there are too many sums. */
function answerByAllSums(
  shelf: Shelf,
  survey: Survey,
  known: readonly number[],
): Answer | undefined {
  // Sorting costs a step per credit; without steps left for the sums it would be wasted.
  if (!survey.usable || survey.usable.length >= shelf.budget.left) return undefined;
  shelf.budget.spend(survey.usable.length);
  const queue = sortByQueue(shelf, survey.usable);
  const { found, finished } = shelf.budget.within(allSumsStepsMax, () =>
    findBestSum({
      faces: Float64Array.from(queue, (row) => shelf.face(row)),
      requirement: survey.target,
      known: sumFaces(shelf, known),
      budget: shelf.budget,
    }),
  );
  if (!found || !finished) return undefined;
  const rows = found.map((place) => queue[place] ?? 0);
  return toProvenAnswer(shelf, rows);
}

/** Meets the target with the fewest credits, or returns a lower bound of their number. */
function answerExactly(
  shelf: Shelf,
  survey: Survey,
): Answer | { rows: undefined; fewestBound: number } {
  let fewestBound = survey.fewestBound;
  for (let count = fewestBound; count <= exactCountMax && !shelf.budget.spent; count++) {
    const wanted = { ...survey, count, sum: survey.target };
    const { rows, isProven } = findExactSum(shelf, wanted, shelf.budget.left / shareOfCount);
    if (rows) return { rows, target: survey.target, fewestBound, isEarliest: isProven };
    if (isProven && count === fewestBound) fewestBound = count + 1;
  }
  return { rows: undefined, fewestBound };
}

/** The best of largest-first and its completions; stops when an aim is met. */
function findNearestRows(shelf: Shelf, survey: Survey, wide: Shelf): readonly number[] {
  let best = takeLargestFirst(wide, survey.target);
  for (const { sum, start } of survey.aims) {
    if (sumFaces(shelf, best) >= sum) break;
    const rows = takeLargestFirst(wide, sum, start.rows);
    const heads = { sum, rows, shortest: start.rows.length };
    const met = completeHeads(shelf, heads, survey.smallest) ?? findNearestBySums(shelf, heads);
    if (sumFaces(shelf, met) > sumFaces(shelf, best)) best = met;
  }
  return best;
}

function toBundle(shelf: Shelf, wanted: number, answer: Answer): Searched {
  const rows = sortByQueue(shelf, answer.rows);
  const covered = sumFaces(shelf, rows);
  const isOptimal = covered === answer.target;
  const isFewest = isOptimal && rows.length === answer.fewestBound;
  const proof: BundleProof = {
    residual: isOptimal ? "optimal" : "bounded",
    residual_bound_paise: wanted - answer.target,
    fewest: isFewest ? "proven" : "unproven",
    fewest_bound: answer.fewestBound,
    earliest: isFewest && answer.isEarliest ? "proven" : "unproven",
  };
  return {
    offers: rows.map((row) => shelf.offer(row)),
    covered_paise: covered,
    residual_paise: wanted - covered,
    proof,
  };
}

function sumFaces(shelf: Shelf, rows: readonly number[]): number {
  return rows.reduce((sum, row) => sum + shelf.face(row), 0);
}

// The greedy bundle: the largest credit that fits, repeatedly. A prefix of it is a head; a head is
// completed by two or three credits that meet the sum exactly, or by any of a few credits.

/** A sum to meet, and rows whose prefixes of at least `shortest` are the heads. */
type Heads = { readonly sum: number; readonly rows: BundleRows; readonly shortest: number };

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

function takeLargestFirst(shelf: Shelf, requirement: number, start: BundleRows = []): BundleRows {
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
function completeHeads(shelf: Shelf, aim: Heads, smallest: number): BundleRows | undefined {
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
function findNearestBySums(shelf: Shelf, { sum, rows, shortest }: Heads): BundleRows {
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
