// Decides which credits of a group pay which of its requirements, by the criteria of rules.ts, and
// says whether the least uncovered duty is proven.
//
//   clusters  splits the group into parts that share no credit; each is solved alone
//   few       few credits: the exact search, which proves all criteria
//   own       otherwise each requirement takes credits of its own firm
//   rest      then free credits of other firms, or all credits again where that is better
//   refill    pairs of requirements are filled again while that covers more
//   bound     an assignment that covers as much as divisible credits could is proven
//
// Work is counted in steps and not in time, so that a group has the same answer on every machine. The
// generators yield between slices of work, so that the caller can stop the search.

import { StepBudget } from "../cover/rules.ts";
import { type Cluster, PartialAssignment } from "./partial-assignment.ts";
import {
  type Assignment,
  creditAt,
  isMove,
  type NettingBoard,
  none,
  requirementAt,
} from "./rules.ts";

/** The steps of the exact search, for all clusters together: enough for 14 credits. */
const fewStepsMax = 60_000_000;

/** Searches after every requirement is filled, for all clusters together. */
const searchesMax = 200;

type Slices = Generator<undefined, Assignment, undefined>;

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

// An upper bound of the cover: the maximum flow from kinds of credits to the requirements they may
// pay, each capped at the most that whole credits can cover of it. It treats credits as divisible,
// so no assignment covers more. Dinic's algorithm.

type Supply = {
  readonly face_paise: number;
  /** Indexes of the requirements that these credits may pay. */
  readonly pays: readonly number[];
};

/** Edge numbers by node; an edge and its reverse differ in the last bit. */
type Network = {
  readonly edges: readonly number[][];
  readonly to: number[];
  readonly room: number[];
};

const source = 0;
const sink = 1;

export function flowBound(supplies: readonly Supply[], caps: readonly number[]): number {
  const nodes = 2 + supplies.length + caps.length;
  const network: Network = {
    edges: Array.from({ length: nodes }, () => []),
    to: [],
    room: [],
  };
  const requirementAt = (place: number) => 2 + supplies.length + place;
  supplies.forEach(({ face_paise, pays }, at) => {
    connect(network, { from: source, to: 2 + at, room: face_paise });
    for (const place of pays) {
      connect(network, { from: 2 + at, to: requirementAt(place), room: face_paise });
    }
  });
  caps.forEach((cap, at) => connect(network, { from: requirementAt(at), to: sink, room: cap }));
  let flow = 0;
  for (;;) {
    const depths = measureDepths(network);
    if (depths[sink] === unreached) return flow;
    const nextEdge = new Int32Array(nodes);
    for (;;) {
      const pushed = push(network, { depths, nextEdge }, source, Infinity);
      if (pushed === 0) break;
      flow += pushed;
    }
  }
}

type Edge = { readonly from: number; readonly to: number; readonly room: number };

function connect({ edges, to, room }: Network, edge: Edge): void {
  edges[edge.from]?.push(to.length);
  to.push(edge.to);
  room.push(edge.room);
  edges[edge.to]?.push(to.length);
  to.push(edge.from);
  room.push(0);
}

const unreached = -1;

function measureDepths({ edges, to, room }: Network): Int32Array {
  const depths = new Int32Array(edges.length).fill(unreached);
  depths[source] = 0;
  const queue = [source];
  for (const node of queue) {
    for (const edge of edges[node] ?? []) {
      const next = to[edge] ?? 0;
      if ((room[edge] ?? 0) === 0 || depths[next] !== unreached) continue;
      depths[next] = (depths[node] ?? 0) + 1;
      queue.push(next);
    }
  }
  return depths;
}

type Phase = { readonly depths: Int32Array; readonly nextEdge: Int32Array };

/** Pushes flow along one shortest path; a dead edge is not tried again in this phase. */
function push(network: Network, phase: Phase, node: number, most: number): number {
  if (node === sink) return most;
  const edges = network.edges[node] ?? [];
  for (let at = phase.nextEdge[node] ?? 0; at < edges.length; at++) {
    phase.nextEdge[node] = at;
    const edge = edges[at] ?? 0;
    const next = network.to[edge] ?? 0;
    const room = network.room[edge] ?? 0;
    if (room === 0 || phase.depths[next] !== (phase.depths[node] ?? 0) + 1) continue;
    const pushed = push(network, phase, next, Math.min(most, room));
    if (pushed === 0) continue;
    network.room[edge] = room - pushed;
    network.room[edge ^ 1] = (network.room[edge ^ 1] ?? 0) + pushed;
    return pushed;
  }
  phase.nextEdge[node] = edges.length;
  return 0;
}

// The exact best assignment of few credits, by dynamic programming over subsets: for every subset
// of credits that the requirements can take, the fewest moves. A subset is a bit mask; the first
// credit of the queue is the lowest bit.
//
// Requirements are added one by one. The cost of a subset with one more requirement is the minimum
// over its splits: one part pays the new requirement, the rest pays the ones before.

type FewCredits = {
  /** In queue order. */
  readonly faces: readonly number[];
  readonly amounts: readonly number[];
  /** By requirement, the mask of credits that may pay it. */
  readonly payers: readonly number[];
  /** By requirement, the mask of credits that pay it only by a move. */
  readonly movers: readonly number[];
};

/** More credits take too many steps, more requirements too much memory. */
const fewCreditsMax = 16;
const fewRequirementsMax = 64;
const unreachable = 0xff;

/** Steps between two yields; about 10 ms. */
const sliceSteps = 4_000_000;

/**
 * By credit, the index of the requirement that it pays, or none: the most duty covered, then the
 * fewest moves, the fewest credits, the earliest expiry. Undefined when the budget of steps is too
 * small.
 */
function* findBestAssignment(
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

type ScoredSets = { readonly sums: Float64Array; readonly moves: Uint8Array };

function isBetter(set: number, best: number, { sums, moves }: ScoredSets): boolean {
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
