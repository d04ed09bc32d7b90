// Chooses the bundle for a requirement, by the three wishes of rules.ts, and says what is proven.
//
// The target is the largest sum that the common unit of all faces, and the paise that sums can end
// in, do not rule out. In a book of some size many bundles meet it, and then the residual is proven
// by the target alone.
//
//   survey    what is usable, and the target. If everything fits, everything is the bundle.
//   all sums  few credits, or many that share few faces: every sum is looked at, and all three wishes
//             are proven
//   exact     the target with 1, 2, 3 … credits, each count refuted before the next is tried
//   complete  for requirements that need many credits: the largest first, then two, three or any
//             of a few more that meet the rest of the target exactly
//   nearest   the target is not met: all sums after all where there are not too many, otherwise
//             the best sum that was reached, with the target as the bound
//
// Work is counted in steps. When they are used up, the answer is what is known by then, and never
// less than taking the largest that fits again and again.

import { boundSteps, findBestSum } from "./all-sums.ts";
import { findExactSum, sortByQueue } from "./exact-sum.ts";
import { completeHeads, takeLargestFirst, findNearestBySums } from "./largest-first.ts";
import { OfferIndex, type Usable } from "./offer-index.ts";
import { Budget, type Bundle, type DayNumber, type Proof, stepsDefault } from "./rules.ts";
import type { Shelf } from "./shelf.ts";
import { type Survey, surveyShelf } from "./survey.ts";

/** The survey and the largest first are not part of the search's budget, but they too must end. */
const surveyStepsMax = 2_000_000;
const smallestStepsMax = 100_000;

/** So many credits are worth looking at all their sums before anything else. */
const fewCredits = 36;
const allSumsStepsMax = 1_000_000;

/** With more credits than this, counts are no longer refuted one by one. */
const exactCountMax = 5;
/** Who took less than this part of the steps was not cut short by them. */
const cutShare = 0.4;
/** The part of the steps left that one count may use. */
const shareOfCount = 3;

export type Requirement = Usable & {
  readonly requirement_paise: number;
  readonly steps?: number;
};

/** A credit of one's own, without the particulars of an offer. */
export type OwnCredit = {
  readonly scrip_no: string;
  readonly face_paise: number;
  readonly expires_on: DayNumber;
};

export function chooseBundle(index: OfferIndex, requirement: Requirement): Bundle {
  const { steps = stepsDefault } = requirement;
  const budget = new Budget(steps);
  const bundle = searchBundle(index, requirement, budget);
  const used = steps - budget.left;
  const isProven = bundle.proof.residual === "optimal" && bundle.proof.earliest === "proven";
  return { ...bundle, steps: used, isSettled: isProven || used < steps * cutShare };
}

type Searched = Omit<Bundle, "steps" | "isSettled">;

function searchBundle(index: OfferIndex, requirement: Requirement, budget: Budget): Searched {
  const { requirement_paise: wanted } = requirement;
  const steps = budget.left;
  if (!Number.isSafeInteger(wanted) || wanted < 0) throw new Error("a requirement is whole paise");
  const wide = index.shelf(requirement, new Budget(surveyStepsMax));
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

/** The smallest face that can be used; undefined where none is, or it takes too long to find. */
export function findSmallestUsable(index: OfferIndex, usable: Usable): number | undefined {
  const shelf = index.shelf(usable, new Budget(smallestStepsMax));
  if (shelf.isBare) return undefined;
  for (let at = 0; at < shelf.facesEnd && !shelf.budget.spent; at = shelf.next(at)) {
    if (shelf.isUsable(shelf.rowAt(at))) return shelf.faceAt(at);
  }
  return undefined;
}

/** The bundle for a plain list, such as one firm's own credits. */
export function chooseOwnCredits(
  credits: readonly OwnCredit[],
  requirementPaise: number,
  steps = stepsDefault,
): Bundle {
  return chooseBundle(indexOwnCredits(credits), { requirement_paise: requirementPaise, steps });
}

/** A plain list to choose from again and again. */
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

/** Few credits, or few faces however many share them. */
function hasFewSums(shelf: Shelf, { usable, isFew, target }: Survey): boolean {
  if (!usable || !isFew) return false;
  if (usable.length <= fewCredits) return true;
  const faces = Float64Array.from(usable, (row) => shelf.face(row));
  return boundSteps(faces, target) < shelf.budget.left;
}

/** Undefined when there are too many credits to look at all their sums. */
function answerByAllSums(
  shelf: Shelf,
  survey: Survey,
  known: readonly number[],
): Answer | undefined {
  // To put them in order takes a step each, and with none left nothing would come of it.
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

/** Meets the target with as few credits as possible, or says how many cannot meet it. */
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

/** Never less than the largest first, and the target where one of the aims meets it. */
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
  const proof: Proof = {
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
