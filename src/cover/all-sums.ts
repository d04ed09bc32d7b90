// The exact best bundle of a small set, by meet in the middle: every sum of each half, with the
// best way to reach it; then two pointers walk the two sorted lists. Credits of one face stay in
// one half, because together they have few sums.
//
// Credits are added from the last of the queue to the first. So of two ways with one sum and count,
// the one with the credit that is added now is the earlier one, and ways are never compared credit
// by credit. Each half can be optimised alone because all three criteria of rules.ts are additive.

import type { StepBudget } from "./rules.ts";

type SmallSet = {
  /** In queue order. */
  readonly faces: Float64Array;
  readonly requirement: number;
  /** A sum that is known to be reachable; smaller sums are skipped. */
  readonly known: number;
  readonly budget: StepBudget;
};

/** All sums of some credits, rising, with Infinity as a sentinel, each with its best way. */
type Sums = {
  readonly sums: Float64Array;
  readonly ways: Int32Array;
  readonly length: number;
};

/** Positions in the queue, rising, and the sum of all faces in the other half. */
type Half = { readonly places: readonly number[]; readonly elsewhere: number };

const noWay = -1;

/** Queue positions of the best bundle, rising; undefined when the budget is spent. */
export function findBestSum(set: SmallSet): readonly number[] | undefined {
  const chains = new Chains();
  const [one, other] = splitInHalves(set.faces).map(listPlaces);
  if (!one || !other) return undefined;
  const first = listSums(set, chains, { places: one, elsewhere: sumPlaces(set, other) });
  const second = first && listSums(set, chains, { places: other, elsewhere: sumPlaces(set, one) });
  return second && bestOfBoth(set, chains, [first, second]);
}

/** An upper bound of the steps that all sums up to a requirement take. */
export function boundSteps(faces: Float64Array, requirement: number): number {
  return splitInHalves(faces).reduce((steps, kinds) => {
    const sums = boundSums(kinds, requirement);
    return steps + (2 * listPlaces(kinds).length + 1) * sums;
  }, 0);
}

/** Credits of one face. */
type Kind = { readonly face: number; readonly places: readonly number[] };

/** Balances the number of sums: the largest kinds first, each to the smaller half. */
function splitInHalves(faces: Float64Array): readonly (readonly Kind[])[] {
  const byFace = Map.groupBy(faces.keys(), (place) => faces[place] ?? 0);
  const kinds = Array.from(byFace, ([face, places]) => ({ face, places }));
  const one = { kinds: [] as Kind[], sums: 1 };
  const other = { kinds: [] as Kind[], sums: 1 };
  for (const kind of kinds.toSorted((a, b) => b.places.length - a.places.length)) {
    const half = one.sums <= other.sums ? one : other;
    half.kinds.push(kind);
    half.sums *= kind.places.length + 1;
  }
  return [one.kinds, other.kinds];
}

/**
 * An upper bound of the number of sums: the product of the counts per kind, or the volume of the
 * simplex that contains all counts whose sum is within the requirement, whichever is smaller.
 */
function boundSums(kinds: readonly Kind[], requirement: number): number {
  const most = kinds.reduce((sum, { face }) => sum + face, requirement);
  const ways = kinds.reduce((product, { places }) => product * (places.length + 1), 1);
  const volume = kinds.reduce((product, { face }, at) => (product * most) / face / (at + 1), 1);
  return Math.min(ways, volume);
}

function listPlaces(kinds: readonly Kind[]): readonly number[] {
  return kinds.flatMap(({ places }) => places).toSorted(byPlace);
}

function byPlace(a: number, b: number): number {
  return a - b;
}

/** Ways as linked lists in typed arrays: each link adds one credit in front. */
class Chains {
  #places = new Int32Array(1_024);
  #rests = new Int32Array(1_024);
  #counts = new Int32Array(1_024);
  #used = 0;

  add(place: number, rest: number): number {
    if (this.#used === this.#places.length) {
      this.#places = doubled(this.#places);
      this.#rests = doubled(this.#rests);
      this.#counts = doubled(this.#counts);
    }
    this.#places[this.#used] = place;
    this.#rests[this.#used] = rest;
    this.#counts[this.#used] = this.count(rest) + 1;
    return this.#used++;
  }

  count(way: number): number {
    return way === noWay ? 0 : (this.#counts[way] ?? 0);
  }

  places(way: number): number[] {
    const places: number[] = [];
    for (let at = way; at !== noWay; at = this.#rests[at] ?? noWay) {
      places.push(this.#places[at] ?? 0);
    }
    return places;
  }
}

function listSums(set: SmallSet, chains: Chains, half: Half): Sums | undefined {
  const { faces, requirement, known, budget } = set;
  let list: Sums = {
    sums: Float64Array.of(0, Infinity),
    ways: Int32Array.of(noWay),
    length: 1,
  };
  const ahead = sumPrefixes(set, half.places);
  for (let at = half.places.length - 1; at >= 0; at--) {
    budget.spend(2 * list.length);
    if (budget.spent) return undefined;
    const place = half.places[at] ?? 0;
    const least = known - half.elsewhere - (ahead[at] ?? 0);
    list = addCredit(list, chains, { place, face: faces[place] ?? 0, least, most: requirement });
  }
  return list;
}

type Joining = {
  readonly place: number;
  readonly face: number;
  readonly least: number;
  readonly most: number;
};

/** Merges the sums without and with one more credit, from `least` to `most`. */
function addCredit(list: Sums, chains: Chains, { place, face, least, most }: Joining): Sums {
  const { sums, ways, length } = list;
  const merged = new Float64Array(2 * length + 1);
  const mergedWays = new Int32Array(2 * length);
  let size = 0;
  let without = 0;
  let joining = 0;
  while ((sums[without] ?? 0) < least) without++;
  while ((sums[joining] ?? 0) + face < least) joining++;
  for (;;) {
    const kept = sums[without] ?? 0;
    const taken = (sums[joining] ?? 0) + face;
    const sum = Math.min(kept, taken);
    if (sum > most) break;
    merged[size] = sum;
    const way = ways[without] ?? noWay;
    const rest = ways[joining] ?? noWay;
    const isTaken = taken < kept || (taken === kept && chains.count(rest) < chains.count(way));
    mergedWays[size++] = isTaken ? chains.add(place, rest) : way;
    if (kept === sum) without++;
    if (taken === sum) joining++;
  }
  merged[size] = Infinity;
  return { sums: merged, ways: mergedWays, length: size };
}

function bestOfBoth(
  { requirement, budget }: SmallSet,
  chains: Chains,
  [first, second]: readonly [Sums, Sums],
): readonly number[] {
  budget.spend(first.length + second.length);
  let best = { sum: -1, count: 0, places: [] as readonly number[] };
  let other = second.length - 1;
  for (let at = 0; at < first.length && !budget.spent; at++) {
    const sum = first.sums[at] ?? 0;
    while (other >= 0 && sum + (second.sums[other] ?? 0) > requirement) other--;
    if (other < 0) break;
    const both = sum + (second.sums[other] ?? 0);
    if (both < best.sum) continue;
    const way = first.ways[at] ?? noWay;
    const rest = second.ways[other] ?? noWay;
    const count = chains.count(way) + chains.count(rest);
    if (both === best.sum && count > best.count) continue;
    budget.spend(count);
    const places = [...chains.places(way), ...chains.places(rest)].toSorted(byPlace);
    const isBetter = both > best.sum || count < best.count || isEarlier(places, best.places);
    if (isBetter) best = { sum: both, count, places };
  }
  return best.places;
}

function isEarlier(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((place, index) => place !== b[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

/** Prefix sums of the faces, capped at the requirement. */
function sumPrefixes({ faces, requirement }: SmallSet, places: readonly number[]): Float64Array {
  const totals = new Float64Array(places.length + 1);
  places.forEach((place, at) => {
    totals[at + 1] = Math.min(requirement, (totals[at] ?? 0) + (faces[place] ?? 0));
  });
  return totals;
}

function sumPlaces(set: SmallSet, places: readonly number[]): number {
  return sumPrefixes(set, places).at(-1) ?? 0;
}

function doubled(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
