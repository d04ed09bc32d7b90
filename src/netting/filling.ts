// A plan in the making: which requirement each credit of one part pays, and how requirements are
// filled with the cover search. A part is a set of requirements and the credits that could pay them;
// no credit of one part can pay a requirement of another.

import { chooseOwnCredits } from "../cover/choose-bundle.ts";
import { type Bundle, dayNumber, greatestDivisor } from "../cover/rules.ts";
import { creditAt, type GroupCredit, isMove, none, type Question, requirementAt } from "./rules.ts";

export type Part = {
  /** Places of credits and of requirements, rising. */
  readonly credits: readonly number[];
  readonly requirements: readonly number[];
};

/** What one search of the cover search may do; so many steps take a few milliseconds. */
const searchSteps = 400_000;

/** More credits than this do not make a search better: the largest, and every so many of the rest. */
const searchedMax = 2_000;

/** What may be done with some requirements: for each of them, the credits that are to pay it. */
type Bundles = ReadonlyMap<number, readonly number[]>;

export class Filling {
  readonly #question: Question;
  readonly #part: Part;
  /** By requirement, the credits that pay it. */
  readonly #bundles = new Map<number, readonly number[]>();
  readonly #covered = new Map<number, number>();
  #total = 0;
  readonly #isUsed: Uint8Array;
  readonly #pays: readonly ReadonlySet<number>[];

  constructor(question: Question, part: Part) {
    this.#question = question;
    this.#part = part;
    this.#isUsed = new Uint8Array(question.credits.length);
    this.#pays = question.paysOf.map((places) => new Set(places));
  }

  get covered(): number {
    return this.#total;
  }

  coveredOf(requirement: number): number {
    return this.#covered.get(requirement) ?? 0;
  }

  bundleOf(requirement: number): readonly number[] {
    return this.#bundles.get(requirement) ?? [];
  }

  /** By credit of the question, what it pays here. */
  paid(): Int32Array {
    const paid = new Int32Array(this.#question.credits.length).fill(none);
    for (const [requirement, bundle] of this.#bundles) {
      for (const credit of bundle) paid[credit] = requirement;
    }
    return paid;
  }

  /** Fills a requirement with credits of its own firm that pay nothing yet. */
  fillOwn(requirement: number): void {
    const own = this.#free(requirement).filter((credit) => !this.#isMove(credit, requirement));
    this.#put(new Map([[requirement, this.#choose(own, this.#amountOf(requirement))]]));
  }

  /** Fills the rest with what is free, or all of it anew where that is better. */
  fillRest(requirement: number): void {
    const amount = this.#amountOf(requirement);
    const kept = this.bundleOf(requirement);
    const room = amount - this.#sumOf(kept);
    const free = room === 0 ? [] : this.#free(requirement);
    if (free.length === 0) return;
    const added = [...kept, ...this.#choose(free, room)];
    this.#put(new Map([[requirement, added]]));
    if (this.#sumOf(added) === this.capOf(requirement)) return;
    this.#tryOut(new Map([[requirement, this.#choose([...kept, ...free], amount)]]));
  }

  /** Fills one requirement from all but what others have, then the other with what is left. */
  refillPair(first: number, second: number): boolean {
    const both = [...this.bundleOf(first), ...this.bundleOf(second)];
    const pool = (requirement: number) => [
      ...both.filter((credit) => this.#mayPay(credit, requirement)),
      ...this.#free(requirement),
    ];
    const ofFirst = this.#choose(pool(first), this.#amountOf(first));
    const taken = new Set(ofFirst);
    const left = pool(second).filter((credit) => !taken.has(credit));
    const ofSecond = this.#choose(left, this.#amountOf(second));
    return this.#tryOut(
      new Map([
        [first, ofFirst],
        [second, ofSecond],
      ]),
    );
  }

  /** The most that whole credits could cover of a requirement, as far as their common unit tells. */
  capOf(requirement: number): number {
    const amount = this.#amountOf(requirement);
    const faces = this.#payers(requirement).map((credit) => this.#faceOf(credit));
    const unit = faces.reduce(greatestDivisor, 0) || 1;
    const all = faces.reduce((sum, face) => sum + face, 0);
    return Math.min(all, amount - (amount % unit));
  }

  /** The same, as far as a search for this requirement alone tells. */
  searchedCapOf(requirement: number): number {
    const amount = this.#amountOf(requirement);
    const { proof } = this.#search(this.#payers(requirement), amount);
    return amount - proof.residual_bound_paise;
  }

  #payers(requirement: number): readonly number[] {
    const amount = this.#amountOf(requirement);
    return this.#part.credits.filter(
      (credit) => this.#faceOf(credit) <= amount && this.#mayPay(credit, requirement),
    );
  }

  #free(requirement: number): readonly number[] {
    return this.#payers(requirement).filter((credit) => this.#isUsed[credit] === 0);
  }

  /** Puts bundles in the place of those that are there when they are better, or not at all. */
  #tryOut(bundles: Bundles): boolean {
    const current = new Map(
      [...bundles.keys()].map((requirement) => [requirement, this.bundleOf(requirement)]),
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
      covered: this.#sumOf(pairs.map(({ credit }) => credit)),
      moves: pairs.filter(({ requirement, credit }) => this.#isMove(credit, requirement)).length,
      credits: pairs.length,
    };
  }

  #put(bundles: Bundles): void {
    for (const requirement of bundles.keys()) {
      for (const credit of this.bundleOf(requirement)) this.#isUsed[credit] = 0;
    }
    for (const [requirement, bundle] of bundles) {
      for (const credit of bundle) this.#isUsed[credit] = 1;
      const covered = this.#sumOf(bundle);
      this.#total += covered - this.coveredOf(requirement);
      this.#bundles.set(requirement, bundle);
      this.#covered.set(requirement, covered);
    }
  }

  #choose(credits: readonly number[], amount: number): readonly number[] {
    const fitting = credits.filter((credit) => this.#faceOf(credit) <= amount);
    if (this.#sumOf(fitting) <= amount) return fitting;
    const searched = this.#thinned(fitting);
    const places = new Map(searched.map((credit) => [this.#creditAt(credit).scrip_no, credit]));
    const { offers } = this.#search(searched, amount);
    return offers.map(({ scrip_no }) => places.get(scrip_no) ?? none);
  }

  #search(credits: readonly number[], amount: number): Bundle {
    const own = credits.map((credit) => {
      const { scrip_no, face_paise, expires_on } = this.#creditAt(credit);
      return { scrip_no, face_paise, expires_on: dayNumber(expires_on) };
    });
    return chooseOwnCredits(own, amount, searchSteps);
  }

  #thinned(credits: readonly number[]): readonly number[] {
    if (credits.length <= searchedMax) return credits;
    const byFace = credits.toSorted((a, b) => this.#faceOf(b) - this.#faceOf(a) || a - b);
    const largest = searchedMax / 2;
    const every = Math.ceil((credits.length - largest) / largest);
    return byFace.filter((_, at) => at < largest || (at - largest) % every === 0);
  }

  #mayPay(credit: number, requirement: number): boolean {
    return this.#pays[this.#question.kindOf[credit] ?? 0]?.has(requirement) ?? false;
  }

  #isMove(credit: number, requirement: number): boolean {
    return isMove(this.#creditAt(credit), requirementAt(this.#question, requirement));
  }

  #sumOf(credits: readonly number[]): number {
    return credits.reduce((sum, credit) => sum + this.#faceOf(credit), 0);
  }

  #faceOf(credit: number): number {
    return this.#creditAt(credit).face_paise;
  }

  #creditAt(place: number): GroupCredit {
    return creditAt(this.#question, place);
  }

  #amountOf(requirement: number): number {
    return requirementAt(this.#question, requirement).amount_paise;
  }
}
