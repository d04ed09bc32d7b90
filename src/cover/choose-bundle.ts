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
import { findExactSum, sortByQueue } from "./exact-sum.ts";
import { completeHeads, takeLargestFirst, findNearestBySums } from "./largest-first.ts";
import { OfferIndex, type Usable } from "./offer-index.ts";
import {
  StepBudget,
  type Bundle,
  type DayNumber,
  type BundleProof,
  stepsDefault,
} from "./rules.ts";
import type { Shelf } from "./shelf.ts";
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
