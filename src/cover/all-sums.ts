// The best bundle of a small set, exactly: every sum that can be reached, with the best way to reach
// it. The set is cut in two so that each half has few sums; then the two lists of sums are walked
// against each other. Credits of one face stay in one half: together they have few sums, however many
// they are.
//
// Credits join from the last in the queue to the first. So among ways of one sum and count the one
// with the credit that joins now is the earlier one, and in a half no two ways are ever compared
// credit by credit. Ways of one sum in a half can be judged on their own because all three wishes of
// rules.ts add up: sum, count, and the places taken in the queue.

import type { Budget } from "./rules.ts";

export type SmallSet = {
  /** In the order of the queue. */
  readonly faces: Float64Array;
  readonly requirement: number;
  /** A sum that is known to be reachable: less is of no interest. */
  readonly known: number;
  readonly budget: Budget;
};

/** All sums of some credits, rising and ended by Infinity, each with the best way to reach it. */
type Sums = {
  readonly sums: Float64Array;
  readonly ways: Int32Array;
  readonly length: number;
};

/** Places in the queue, rising, and the sum of all faces in the other half. */
type Half = { readonly places: readonly number[]; readonly elsewhere: number };

const noWay = -1;

/** Places in the queue of the best bundle, rising; undefined when the budget was spent before. */
export function findBestSum(set: SmallSet): readonly number[] | undefined {
  const chains = new Chains();
  const [one, other] = splitInHalves(set.faces).map(listPlaces);
  if (!one || !other) return undefined;
  const first = listSums(set, chains, { places: one, elsewhere: sumPlaces(set, other) });
  const second = first && listSums(set, chains, { places: other, elsewhere: sumPlaces(set, one) });
  return second && bestOfBoth(set, chains, [first, second]);
}

/** No more steps than this are needed to look at all sums up to a requirement. */
export function boundSteps(faces: Float64Array, requirement: number): number {
  return splitInHalves(faces).reduce((steps, kinds) => {
    const sums = boundSums(kinds, requirement);
    return steps + (2 * listPlaces(kinds).length + 1) * sums;
  }, 0);
}

/** Credits of one face. */
type Kind = { readonly face: number; readonly places: readonly number[] };

/** About as many sums in each half: the kinds with most go first, to where there are fewer by then. */
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
 * How many sums there can be: for each kind none, one, or up to all of its credits. These counts are
 * the whole points of a simplex too, so they are no more than the volume of one that is larger by a
 * credit of each kind.
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

/** Ways as chains of links, from the first credit in the queue to the last: each link adds one. */
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

/** The sums without and with one more credit, each once, from the least to the most of interest. */
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

/** The sum of the first faces by their number, up to the most that matters. */
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
