// The search's view of the usable offers: sorted by face, where equal faces are a run in queue
// order, and sorted by queue position. Every read costs steps of the budget. False positives of the
// face filter cost none: they depend on earlier contents, and the same offers must always give the
// same bundle.

import { coversSellerShare } from "../kernel/money.ts";
import type { FaceFilter } from "./face-filter.ts";
import type { OfferRows } from "./offer-rows.ts";
import {
  type StepBudget,
  type DayNumber,
  type DealtAt,
  type Offer,
  rupee,
  stepsPerProbe,
} from "./rules.ts";
import type { SortedBlocks } from "./sorted-blocks.ts";

export const none = -1;

/** Rows that the search has taken. */
export type Taken = ReadonlySet<number>;
const nothing: Taken = new Set();

type ShelfOptions = {
  readonly rows: OfferRows;
  readonly byFace: SortedBlocks;
  readonly byExpiry: SortedBlocks;
  readonly filter: FaceFilter;
  /** Odd faces (not whole rupees), by face. */
  readonly odd: SortedBlocks;
  readonly minDay: DayNumber;
  readonly buyer: number;
  readonly priceMaxBps: number;
  readonly priceMinBps: number;
  readonly dealtAt: DealtAt | undefined;
  /** Whether no offer is within the price range. */
  readonly isBare: boolean;
  readonly budget: StepBudget;
};

export class Shelf {
  readonly budget: StepBudget;
  readonly isBare: boolean;
  readonly #rows: OfferRows;
  readonly #byFace: SortedBlocks;
  readonly #byExpiry: SortedBlocks;
  readonly #odd: SortedBlocks;
  readonly #filter: FaceFilter;
  readonly #minDay: DayNumber;
  readonly #buyer: number;
  readonly #priceMaxBps: number;
  readonly #priceMinBps: number;
  readonly #dealtAt: DealtAt | undefined;

  constructor(options: ShelfOptions) {
    this.budget = options.budget;
    this.isBare = options.isBare;
    this.#rows = options.rows;
    this.#byFace = options.byFace;
    this.#byExpiry = options.byExpiry;
    this.#odd = options.odd;
    this.#filter = options.filter;
    this.#minDay = options.minDay;
    this.#buyer = options.buyer;
    this.#priceMaxBps = options.priceMaxBps;
    this.#priceMinBps = options.priceMinBps;
    this.#dealtAt = options.dealtAt;
  }

  get facesEnd(): number {
    return this.#byFace.end;
  }

  get queueEnd(): number {
    return this.#byExpiry.end;
  }

  face(row: number): number {
    return this.#rows.faces[row] ?? 0;
  }

  offer(row: number): Offer {
    return this.#rows.offer(row);
  }

  isBefore(a: number, b: number): boolean {
    return this.#rows.isBefore(a, b);
  }

  isUsable(row: number): boolean {
    const { days, sellers, limits } = this.#rows;
    const limit = limits[row] ?? 0;
    return (
      (days[row] ?? 0) >= this.#minDay &&
      sellers[row] !== this.#buyer &&
      limit <= this.#priceMaxBps &&
      limit >= this.#priceMinBps &&
      (limit === 0 || this.#isPaidFor(row, limit))
    );
  }

  /** A margin above the dearest limit pays for an offer that its own limit and the margin pay for. */
  #isPaidFor(row: number, limitBps: number): boolean {
    const dealtAt = this.#dealtAt;
    if (!dealtAt) return true;
    const priceBps = "price_bps" in dealtAt ? dealtAt.price_bps : limitBps + dealtAt.margin_bps;
    return coversSellerShare(this.face(row), priceBps, limitBps);
  }

  /** The first position with a face of at least this. */
  seek(facePaise: number): number {
    this.budget.spend(stepsPerProbe);
    return this.#byFace.seek(facePaise);
  }

  faceAt(position: number): number {
    return this.#byFace.keyAt(position);
  }

  rowAt(position: number): number {
    this.budget.spend(1);
    return this.#byFace.rowAt(position);
  }

  next(position: number): number {
    return this.#byFace.next(position);
  }

  /** The first position of the next larger face. */
  nextRun(position: number): number {
    const face = this.#byFace.keyAt(position);
    const next = this.#byFace.next(position);
    const isOver = next === this.#byFace.end || this.#byFace.keyAt(next) !== face;
    return isOver ? next : this.seek(face + 1);
  }

  /** The first usable row of the run that starts at a position, or none. */
  firstOfRun(position: number, taken: Taken, other = none): number {
    const face = this.#byFace.keyAt(position);
    for (let at = position; at < this.#byFace.end; at = this.#byFace.next(at)) {
      if (this.#byFace.keyAt(at) !== face || this.budget.spent) return none;
      const row = this.rowAt(at);
      if (row !== other && this.isUsable(row) && !taken.has(row)) return row;
    }
    return none;
  }

  /** False when no offer, usable or not, has this face. */
  mayHave(facePaise: number): boolean {
    return this.#filter.mayHave(facePaise);
  }

  /** The first usable row with exactly this face, or none. */
  find(facePaise: number, taken: Taken, other = none): number {
    if (!this.#filter.mayHave(facePaise)) return none;
    const position = this.#byFace.seek(facePaise);
    if (position === this.#byFace.end || this.#byFace.keyAt(position) !== facePaise) return none;
    this.budget.spend(stepsPerProbe);
    return this.firstOfRun(position, taken, other);
  }

  /** The next position, up to a largest face, whose complement to the sum may exist. */
  seekComplement(position: number, sum: number, largest: number): number {
    const { budget } = this;
    return this.#byFace.seekComplement(position, { sum, largest, filter: this.#filter, budget });
  }

  /** A position of the largest usable face up to this one, or none. */
  floor(facePaise: number, taken: Taken = nothing): number {
    return this.previous(this.seek(facePaise + 1), taken);
  }

  /** The usable position before this one, or none. */
  previous(position: number, taken: Taken = nothing): number {
    let at = this.#byFace.previous(position);
    while (at >= 0 && !this.budget.spent) {
      const row = this.rowAt(at);
      if (this.isUsable(row) && !taken.has(row)) return at;
      at = this.#byFace.previous(at);
    }
    return none;
  }

  /** Up to `most` usable odd rows, smallest first, and whether these are all. */
  oddUpTo(facePaise: number, most: number): { rows: readonly number[]; isAll: boolean } {
    const rows: number[] = [];
    for (let at = 0; at < this.#odd.end; at = this.#odd.next(at)) {
      if (this.#odd.keyAt(at) > facePaise) break;
      if (rows.length === most || this.budget.spent) return { rows, isAll: false };
      this.budget.spend(1);
      const row = this.#odd.rowAt(at);
      if (this.isUsable(row)) rows.push(row);
    }
    return { rows, isAll: true };
  }

  /** A common divisor of all faces. */
  get unit(): number {
    return this.#odd.end > 0 ? 1 : this.#byFace.unit(rupee);
  }

  /** How many offers, usable or not, have faces in [from, to]. */
  count(fromPaise: number, toPaise: number): number {
    return this.#byFace.count(this.seek(fromPaise), this.seek(toPaise + 1));
  }

  /** The first queue position with a late enough expiry. */
  get queueStart(): number {
    return this.#byExpiry.seek(this.#minDay);
  }

  queuedAt(position: number): number {
    this.budget.spend(1);
    return this.#byExpiry.rowAt(position);
  }

  nextQueued(position: number): number {
    return this.#byExpiry.next(position);
  }
}
