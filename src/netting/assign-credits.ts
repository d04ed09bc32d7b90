// Decides which credits of a group pay which of its requirements, by the criteria of rules.ts, and
// says whether the least uncovered duty is proven.
//
//   clusters  splits the group into parts that share no credit; each is solved alone
//   few       few credits: the exact search (exact-assignment.ts), which proves all criteria
//   own       otherwise each requirement takes credits of its own firm
//   rest      then free credits of other firms, or all credits again where that is better
//   refill    pairs of requirements are filled again while that covers more
//   bound     an assignment that covers as much as divisible credits could (flow-bound.ts) is proven
//
// Work is counted in steps and not in time, so that a group has the same answer on every machine. The
// generators yield between slices of work, so that the caller can stop the search.

import { StepBudget } from "../cover/rules.ts";
import { findBestAssignment, fewCreditsMax, fewRequirementsMax } from "./exact-assignment.ts";
import { PartialAssignment, type Cluster } from "./partial-assignment.ts";
import { flowBound, type Supply } from "./flow-bound.ts";
import {
  creditAt,
  isMove,
  none,
  type Assignment,
  type NettingBoard,
  requirementAt,
} from "./rules.ts";

/** The steps of the exact search, for all clusters together: enough for 14 credits. */
const fewStepsMax = 60_000_000;

/** Searches after every requirement is filled, for all clusters together. */
const searchesMax = 200;

export type Slices = Generator<undefined, Assignment, undefined>;

export type Effort = { readonly fewSteps?: number; readonly searches?: number };

export function* assignCredits(
  board: NettingBoard,
  { fewSteps = fewStepsMax, searches = searchesMax }: Effort = {},
): Slices {
  const paid = new Int32Array(board.credits.length).fill(none);
  const steps = new StepBudget(fewSteps);
  const left = { searches };
  let isProven = true;
  for (const cluster of findClusters(board)) {
    yield;
    const ofFew = yield* assignFew(board, cluster, steps);
    const assignment = ofFew ?? (yield* assignMany(board, cluster, left));
    for (const credit of cluster.credits) paid[credit] = assignment.paid[credit] ?? none;
    isProven &&= assignment.isProven;
  }
  return { paid, isProven };
}

/** Two requirements share a cluster when some credit could pay either. */
function findClusters({
  credits,
  requirements,
  creditKinds,
  requirementsByKind,
}: NettingBoard): readonly Cluster[] {
  const roots = requirements.map((_, place) => place);
  const findRoot = (place: number): number => {
    const above = roots[place] ?? place;
    return above === place ? place : findRoot(above);
  };
  const findAmount = (place: number) => requirements[place]?.amount_paise ?? 0;
  const smallest = new Map<number, number>();
  credits.forEach(({ face_paise }, credit) => {
    const kind = creditKinds[credit] ?? 0;
    smallest.set(kind, Math.min(face_paise, smallest.get(kind) ?? Infinity));
  });
  for (const [kind, face] of smallest) {
    const [first = 0, ...others] = (requirementsByKind[kind] ?? []).filter(
      (place) => face <= findAmount(place),
    );
    for (const other of others) roots[findRoot(other)] = findRoot(first);
  }
  const creditsByRoot = Map.groupBy(credits.keys(), (credit) => {
    const face = credits[credit]?.face_paise ?? 0;
    const reached = requirementsByKind[creditKinds[credit] ?? 0]?.find(
      (place) => face <= findAmount(place),
    );
    return reached === undefined ? none : findRoot(reached);
  });
  const requirementsByRoot = Map.groupBy(requirements.keys(), findRoot);
  return [...requirementsByRoot].flatMap(([root, ofCluster]) => {
    const held = creditsByRoot.get(root);
    return held ? [{ credits: held, requirements: ofCluster }] : [];
  });
}

/** The exact search; undefined when the cluster is too large for it. */
function* assignFew(
  board: NettingBoard,
  cluster: Cluster,
  steps: StepBudget,
): Generator<undefined, Assignment | undefined> {
  if (cluster.credits.length > fewCreditsMax) return undefined;
  if (cluster.requirements.length > fewRequirementsMax) return undefined;
  const held = cluster.credits.map((place) => creditAt(board, place));
  const owed = cluster.requirements.map((place) => requirementAt(board, place));
  const payers = cluster.requirements.map((requirement) =>
    toBitSet(cluster.credits, (credit) =>
      listPayableRequirements(board, credit).includes(requirement),
    ),
  );
  const movers = owed.map((requirement) => toBitSet(held, (credit) => isMove(credit, requirement)));
  const few = yield* findBestAssignment(
    {
      faces: held.map(({ face_paise }) => face_paise),
      amounts: owed.map(({ amount_paise }) => amount_paise),
      payers,
      movers,
    },
    steps,
  );
  if (!few) return undefined;
  const paid = new Int32Array(board.credits.length).fill(none);
  few.forEach((at, bit) => (paid[cluster.credits[bit] ?? 0] = cluster.requirements[at] ?? none));
  return { paid, isProven: true };
}

function toBitSet<Item>(items: readonly Item[], isIn: (item: Item) => boolean): number {
  return items.reduce((set, item, bit) => (isIn(item) ? set | (1 << bit) : set), 0);
}

/** Searches left. */
type Left = { searches: number };

function* assignMany(board: NettingBoard, cluster: Cluster, left: Left): Slices {
  const filling = new PartialAssignment(board, cluster);
  for (const requirement of cluster.requirements) {
    filling.fillOwn(requirement);
    yield;
  }
  for (const requirement of cluster.requirements) {
    filling.fillRest(requirement);
    yield;
  }
  const caps = new Map(cluster.requirements.map((place) => [place, filling.findCap(place)]));
  if (filling.covered < boundCover(board, cluster, caps)) {
    for (const requirement of cluster.requirements) {
      if (filling.findCovered(requirement) === caps.get(requirement)) continue;
      if (left.searches === 0) break;
      left.searches -= 1;
      caps.set(requirement, filling.searchCap(requirement));
      yield;
    }
  }
  const bound = boundCover(board, cluster, caps);
  yield* refill(filling, { caps, bound, left });
  return { paid: filling.paid(), isProven: filling.covered === bound };
}

type Caps = ReadonlyMap<number, number>;

type Refilling = { readonly caps: Caps; readonly bound: number; readonly left: Left };

/** Refills pairs until nothing improves or the bound is reached. */
function* refill(
  filling: PartialAssignment,
  { caps, bound, left }: Refilling,
): Generator<undefined> {
  for (let isBetter = true; isBetter;) {
    isBetter = false;
    for (const [first, cap] of caps) {
      for (const second of caps.keys()) {
        if (filling.covered === bound || left.searches === 0) return;
        if (filling.findCovered(first) === cap) break;
        if (second === first) continue;
        left.searches -= 1;
        if (filling.refillPair(first, second)) isBetter = true;
        yield;
      }
    }
  }
}

function boundCover(board: NettingBoard, cluster: Cluster, caps: Caps): number {
  const places = new Map(cluster.requirements.map((requirement, at) => [requirement, at]));
  const ofKinds = Map.groupBy(cluster.credits, (credit) => board.creditKinds[credit] ?? 0);
  const supplies = [...ofKinds].map(([kind, credits]): Supply => ({
    face_paise: credits.reduce((sum, at) => sum + creditAt(board, at).face_paise, 0),
    pays: (board.requirementsByKind[kind] ?? []).flatMap(
      (requirement) => places.get(requirement) ?? [],
    ),
  }));
  return flowBound(supplies, [...caps.values()]);
}

function listPayableRequirements(
  { creditKinds, requirementsByKind: ofKinds }: NettingBoard,
  credit: number,
): readonly number[] {
  return ofKinds[creditKinds[credit] ?? 0] ?? [];
}
