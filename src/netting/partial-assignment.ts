// A partial assignment of one cluster, and how its requirements are filled with the cover search. A
// cluster is a set of requirements and the credits that could pay them; no credit can pay
// requirements of two clusters.

import { chooseOwnCredits } from "../cover/choose-bundle.ts";
import { type Bundle, greatestDivisor } from "../cover/rules.ts";
import { dayNumber } from "../kernel/time.ts";
import {
  type NettingBoard,
  creditAt,
  type GroupCredit,
  isMove,
  none,
  requirementAt,
} from "./rules.ts";

export type Cluster = {
  /** Indexes of credits and of requirements, rising. */
  readonly credits: readonly number[];
  readonly requirements: readonly number[];
};

/** Steps of one cover search; a few milliseconds. */
const searchSteps = 400_000;

/** A search gets at most this many credits: the largest, and a sample of the others. */
const searchedMax = 2_000;

/** By requirement, the credits that pay it. */
type Bundles = ReadonlyMap<number, readonly number[]>;

/** Credits that may pay the same requirements. */
type Kind = {
  readonly credits: readonly number[];
  readonly pays: ReadonlySet<number>;
  readonly face_paise: number;
  /** The greatest common divisor of their faces. */
  readonly unit_paise: number;
};

export class PartialAssignment {
  readonly #board: NettingBoard;
  readonly #faces: Float64Array;
  readonly #days: Float64Array;
  /** By requirement, the credits that pay it. */
  readonly #bundles = new Map<number, readonly number[]>();
  readonly #covered = new Map<number, number>();
  #total = 0;
  readonly #isUsed: Uint8Array;
  readonly #kinds: readonly Kind[];
  readonly #byFirm: ReadonlyMap<string, readonly number[]>;

  constructor(board: NettingBoard, cluster: Cluster) {
    this.#board = board;
    this.#faces = Float64Array.from(board.credits, ({ face_paise }) => face_paise);
    this.#days = Float64Array.from(board.credits, ({ expires_on }) => dayNumber(expires_on));
    this.#byFirm = Map.groupBy(cluster.credits, (credit) => this.#creditAt(credit).firm_id);
    this.#isUsed = new Uint8Array(board.credits.length);
    const byKind = Map.groupBy(cluster.credits, (credit) => board.creditKinds[credit] ?? 0);
    this.#kinds = [...byKind].map(([kind, credits]) => {
      const faces = credits.map((credit) => this.#face(credit));
      return {
        credits,
        pays: new Set(board.requirementsByKind[kind]),
        face_paise: faces.reduce((sum, face) => sum + face, 0),
        unit_paise: faces.reduce(greatestDivisor, 0),
      };
    });
  }

  get covered(): number {
    return this.#total;
  }

  findCovered(requirement: number): number {
    return this.#covered.get(requirement) ?? 0;
  }

  findBundle(requirement: number): readonly number[] {
    return this.#bundles.get(requirement) ?? [];
  }

  /** By credit of the board, the requirement that it pays, or none. */
  paid(): Int32Array {
    const paid = new Int32Array(this.#board.credits.length).fill(none);
    for (const [requirement, bundle] of this.#bundles) {
      for (const credit of bundle) paid[credit] = requirement;
    }
    return paid;
  }

  /** Fills a requirement with credits of its own firm that pay nothing yet. */
  fillOwn(requirement: number): void {
    const { firm_id } = requirementAt(this.#board, requirement);
    const own = (this.#byFirm.get(firm_id) ?? []).filter(
      (credit) => this.#isFree(credit) && this.#mayPay(credit, requirement),
    );
    this.#put(new Map([[requirement, this.#choose(own, this.#amount(requirement))]]));
  }

  /** Fills the remainder with free credits, or the whole requirement again where that is better. */
  fillRest(requirement: number): void {
    const amount = this.#amount(requirement);
    const cap = this.findCap(requirement);
    const kept = this.findBundle(requirement);
    if (this.findCovered(requirement) === cap) return;
    const free = this.#free(requirement);
    const added = [...kept, ...this.#choose(free, amount - this.findCovered(requirement))];
    this.#put(new Map([[requirement, added]]));
    if (this.findCovered(requirement) === cap) return;
    this.#tryOut(new Map([[requirement, this.#choose([...kept, ...free], amount)]]));
  }

  /** Refills two requirements from their own and the free credits; keeps it if it is better. */
  refillPair(first: number, second: number): boolean {
    const both = new Set([...this.findBundle(first), ...this.findBundle(second)]);
    const pool = (requirement: number) =>
      this.#payers(requirement).filter((credit) => both.has(credit) || this.#isFree(credit));
    const ofFirst = this.#choose(pool(first), this.#amount(first));
    const taken = new Set(ofFirst);
    const left = pool(second).filter((credit) => !taken.has(credit));
    const ofSecond = this.#choose(left, this.#amount(second));
    return this.#tryOut(
      new Map([
        [first, ofFirst],
        [second, ofSecond],
      ]),
    );
  }

  /** An upper bound of the cover of a requirement, by the common divisor of the faces. */
  findCap(requirement: number): number {
    const amount = this.#amount(requirement);
    const kinds = this.#kinds.filter(({ pays }) => pays.has(requirement));
    const unit = kinds.map(({ unit_paise }) => unit_paise).reduce(greatestDivisor, 0) || 1;
    const all = kinds.reduce((sum, { face_paise }) => sum + face_paise, 0);
    return Math.min(all, amount - (amount % unit));
  }

  /** A tighter bound, by a search for this requirement alone. */
  searchCap(requirement: number): number {
    const amount = this.#amount(requirement);
    const { proof } = this.#search(this.#payers(requirement), amount);
    return amount - proof.residual_bound_paise;
  }

  #payers(requirement: number): readonly number[] {
    const amount = this.#amount(requirement);
    return this.#kinds
      .filter(({ pays }) => pays.has(requirement))
      .flatMap(({ credits }) => credits.filter((credit) => this.#face(credit) <= amount));
  }

  #free(requirement: number): readonly number[] {
    return this.#payers(requirement).filter((credit) => this.#isFree(credit));
  }

  /** Replaces bundles if the new ones are better; returns whether it did. */
  #tryOut(bundles: Bundles): boolean {
    const current = new Map(
      [...bundles.keys()].map((requirement) => [requirement, this.findBundle(requirement)]),
    );
    if (!this.#isBetter(bundles, current)) return false;
    this.#put(bundles);
    return true;
  }

  #isBetter(bundles: Bundles, than: Bundles): boolean {
    const a = this.#judge(bundles);
    const b = this.#judge(than);
    if (a.covered !== b.covered) return a.covered > b.covered;
    if (a.moves !== b.moves) return a.moves < b.moves;
    return a.credits < b.credits;
  }

  #judge(bundles: Bundles) {
    const pairs = [...bundles].flatMap(([requirement, credits]) =>
      credits.map((credit) => ({ requirement, credit })),
    );
    return {
      covered: this.#sumFaces(pairs.map(({ credit }) => credit)),
      moves: pairs.filter(({ requirement, credit }) => this.#isMove(credit, requirement)).length,
      credits: pairs.length,
    };
  }

  #put(bundles: Bundles): void {
    for (const requirement of bundles.keys()) {
      for (const credit of this.findBundle(requirement)) this.#isUsed[credit] = 0;
    }
    for (const [requirement, bundle] of bundles) {
      for (const credit of bundle) this.#isUsed[credit] = 1;
      const covered = this.#sumFaces(bundle);
      this.#total += covered - this.findCovered(requirement);
      this.#bundles.set(requirement, bundle);
      this.#covered.set(requirement, covered);
    }
  }

  #choose(credits: readonly number[], amount: number): readonly number[] {
    const fitting = credits.filter((credit) => this.#face(credit) <= amount);
    if (this.#sumFaces(fitting) <= amount) return fitting;
    const searched = this.#thinned(fitting);
    const places = new Map(searched.map((credit) => [this.#creditAt(credit).scrip_no, credit]));
    const { offers } = this.#search(searched, amount);
    return offers.map(({ scrip_no }) => places.get(scrip_no) ?? none);
  }

  #search(credits: readonly number[], amount: number): Bundle {
    const own = credits.map((credit) => ({
      scrip_no: this.#creditAt(credit).scrip_no,
      face_paise: this.#face(credit),
      expires_on: this.#days[credit] ?? 0,
    }));
    return chooseOwnCredits(own, amount, searchSteps);
  }

  #thinned(credits: readonly number[]): readonly number[] {
    if (credits.length <= searchedMax) return credits;
    const byFace = credits.toSorted((a, b) => this.#face(b) - this.#face(a) || a - b);
    const largest = searchedMax / 2;
    const every = Math.ceil((credits.length - largest) / largest);
    return byFace.filter((_, at) => at < largest || (at - largest) % every === 0);
  }

  #mayPay(credit: number, requirement: number): boolean {
    return (
      this.#board.requirementsByKind[this.#board.creditKinds[credit] ?? 0]?.includes(requirement) ??
      false
    );
  }

  #isFree(credit: number): boolean {
    return this.#isUsed[credit] === 0;
  }

  #isMove(credit: number, requirement: number): boolean {
    return isMove(this.#creditAt(credit), requirementAt(this.#board, requirement));
  }

  #sumFaces(credits: readonly number[]): number {
    return credits.reduce((sum, credit) => sum + this.#face(credit), 0);
  }

  #face(credit: number): number {
    return this.#faces[credit] ?? 0;
  }

  #creditAt(place: number): GroupCredit {
    return creditAt(this.#board, place);
  }

  #amount(requirement: number): number {
    return requirementAt(this.#board, requirement).amount_paise;
  }
}
