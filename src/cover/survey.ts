// The survey of a search: the usable offers, the target, and bounds that later steps use.
//
// Most faces are whole rupees. Only the others, the odd faces, decide in which paise a sum can end.
// So the reachable endings are found first: for each, the smallest sum and its credits.

import { creditsMax, greatestDivisor, rupee } from "./rules.ts";
import { none, type Shelf } from "./shelf.ts";

/** Offers are listed up to this many; beyond it only if they share at most fewFaces faces. */
const listedMax = 4_096;
const fewFaces = 64;
const listStepsMax = 65_536;
/** How many of the best sums are tried, before the best in whole rupees. */
const aimsMax = 3;

/** With more odd faces nearly every ending is reachable. */
const oddMax = 128;

/** Odd credits that a bundle starts from. */
type Start = { readonly sum: number; readonly rows: readonly number[] };

type Aim = { readonly sum: number; readonly start: Start };

export type Survey = {
  /** All usable credits, if the requirement takes them all. */
  readonly all: readonly number[] | undefined;
  /** The usable credits that can be in a bundle, if they are few enough to list. */
  readonly usable: readonly number[] | undefined;
  /** Whether they have few faces. */
  readonly isFew: boolean;
  /** No sum of faces lies between the target and the requirement. */
  readonly target: number;
  /** The target and the next best sums, each with the odd credits to start from. */
  readonly aims: readonly Aim[];
  /** Every bundle that meets the target contains one of these; undefined when unknown. */
  readonly needed: readonly number[] | undefined;
  /** No usable face is smaller. */
  readonly smallest: number;
  /** Prefix sums of the largest faces, capped at the target. */
  readonly largestSums: readonly number[];
  /** A lower bound of the credits that meet the target. */
  readonly fewestBound: number;
};

/** About the steps of a survey of so many credits, which are not charged to its search. */
export function estimateSurvey(credits: number): number {
  return credits + Math.min(credits, oddMax) * rupee;
}

export function surveyShelf(shelf: Shelf, requirement: number): Survey {
  const listed = listUsable(shelf, requirement);
  const usable = listed?.rows;
  const ofUsable = usable?.reduce((unit, row) => greatestDivisor(unit, shelf.face(row)), 0);
  const unit = ofUsable || shelf.unit || 1;
  const endings = findEndings(shelf, requirement);
  const { target, aims } = findAims(endings, { requirement, unit });
  const { rows, sums, isAll } = listLargest(shelf, target);
  const enough = sums.findIndex((sum) => sum >= target);
  return {
    all: isAll ? rows : undefined,
    usable,
    isFew: listed !== undefined && listed.faces <= fewFaces,
    target,
    aims,
    needed: target % rupee === 0 ? undefined : endings.odd,
    smallest: shelf.facesEnd > 0 ? shelf.faceAt(0) : 0,
    largestSums: sums,
    fewestBound: enough < 0 ? sums.length : enough,
  };
}

type Endings = {
  /** By paise, from 0 to 99. */
  readonly starts: readonly (Start | undefined)[];
  /** All usable odd credits; undefined when there are too many. */
  readonly odd: readonly number[] | undefined;
};

function findEndings(shelf: Shelf, requirement: number): Endings {
  const { rows, isAll } = shelf.oddUpTo(requirement, oddMax);
  let links: readonly (Link | undefined)[] = [{ sum: 0, row: 0, rest: undefined }];
  for (const row of rows) links = addCredit(links, { row, face: shelf.face(row), requirement });
  const starts = Array.from({ length: rupee }, (_, ending) => toStart(links[ending]));
  return { starts, odd: isAll ? rows : undefined };
}

type Link = { readonly sum: number; readonly row: number; readonly rest: Link | undefined };

type OneMore = { readonly row: number; readonly face: number; readonly requirement: number };

function addCredit(
  links: readonly (Link | undefined)[],
  { row, face, requirement }: OneMore,
): readonly (Link | undefined)[] {
  const more = [...links];
  for (const rest of links) {
    if (!rest || rest.sum + face > requirement) continue;
    const sum = rest.sum + face;
    const known = more[sum % rupee];
    if (!known || sum < known.sum) more[sum % rupee] = { sum, row, rest };
  }
  return more;
}

function toStart(link: Link | undefined): Start | undefined {
  if (!link) return undefined;
  const rows: number[] = [];
  for (let at = link; at.rest; at = at.rest) rows.push(at.row);
  return { sum: link.sum, rows };
}

type Aims = { readonly target: number; readonly aims: readonly Aim[] };

/** From the requirement down, the largest sum of each reachable ending. */
function findAims(
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

type Listed = { readonly rows: readonly number[]; readonly faces: number };

/**
 * Of equal faces only the first of the queue are listed, as many as fit into the requirement: a
 * bundle with a later one instead would be later.
 */
function listUsable(shelf: Shelf, requirement: number): Listed | undefined {
  const facesMax = shelf.count(1, requirement) > listedMax ? fewFaces : listedMax;
  const { found, finished } = shelf.budget.within(listStepsMax, () => {
    const rows: number[] = [];
    let faces = 0;
    let at = 0;
    for (; at < shelf.facesEnd && shelf.faceAt(at) <= requirement; faces++) {
      if (faces === facesMax || rows.length > listedMax || shelf.budget.spent) return undefined;
      at = addFirst(shelf, { at, most: Math.floor(requirement / shelf.faceAt(at)), rows });
    }
    return { rows, faces };
  });
  return finished ? found : undefined;
}

type Run = { readonly at: number; readonly most: number; readonly rows: number[] };

/** Adds the first usable offers of a run of equal faces; returns the start of the next run. */
function addFirst(shelf: Shelf, run: Run): number {
  const face = shelf.faceAt(run.at);
  let { at, most } = run;
  while (at < shelf.facesEnd && shelf.faceAt(at) === face && !shelf.budget.spent) {
    if (most === 0) return shelf.seek(face + 1);
    const row = shelf.rowAt(at);
    if (shelf.isUsable(row)) {
      run.rows.push(row);
      most -= 1;
    }
    at = shelf.next(at);
  }
  return at;
}

type Largest = {
  readonly rows: readonly number[];
  readonly sums: readonly number[];
  readonly isAll: boolean;
};

/** The largest credits until their sum exceeds the target, or all of them. */
function listLargest(shelf: Shelf, target: number): Largest {
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
