// The offers of one environment and scheme, in memory: what can be sold, by face and by expiry.
// The truth stays in the database; whoever takes a bundle from here locks its credits there.

import { OfferRows } from "./offer-rows.ts";
import { type Budget, type DayNumber, type Offer } from "./rules.ts";
import { Shelf } from "./shelf.ts";
import { sortOffers } from "./sort-offers.ts";
import { SortedBlocks } from "./sorted-blocks.ts";

const rupee = 100;

/** Which offers can be used by one buyer. */
export type Usable = {
  /** The first expiry that is late enough. */
  readonly min_day?: DayNumber;
  /** The PAN whose own credits are left out. */
  readonly buyer?: string;
  /** The highest limit that can be paid. */
  readonly price_max_bps?: number;
};

export type Depth = { readonly count: number; readonly face_paise: bigint };

export class OfferIndex {
  readonly #rows = new OfferRows();
  readonly #byFace = new SortedBlocks(this.#rows.isBefore);
  readonly #byExpiry = new SortedBlocks(this.#rows.isLower);
  /** How many faces are no whole rupees. */
  #odd = 0;

  get size(): number {
    return this.#rows.size;
  }

  get bytes(): number {
    return this.#rows.bytes + this.#byFace.bytes + this.#byExpiry.bytes;
  }

  /** Replaces everything; of offers with one scrip number the last counts. */
  load(offers: Iterable<Offer>, expected = 0): void {
    this.#rows.clear();
    this.#rows.reserve(expected);
    this.#odd = 0;
    for (const offer of offers) {
      this.#rows.check(offer);
      const known = this.#rows.find(offer.scrip_no);
      if (known >= 0) this.#count(this.#faceOf(known), -1);
      if (known >= 0) this.#rows.drop(known);
      this.#rows.add(offer);
      this.#count(offer.face_paise, 1);
    }
    const { byFace, byExpiry } = sortOffers(this.#rows, this.#rows.size);
    this.#byFace.load(byFace, (row) => this.#faceOf(row));
    this.#byExpiry.load(byExpiry, (row) => this.#dayOf(row));
  }

  /** Adds an offer, or replaces the one with its scrip number. */
  put(offer: Offer): void {
    this.#rows.check(offer);
    this.remove(offer.scrip_no);
    const row = this.#rows.add(offer);
    this.#byFace.insert(row, this.#faceOf(row));
    this.#byExpiry.insert(row, this.#dayOf(row));
    this.#count(offer.face_paise, 1);
  }

  /** Whether there was such an offer. */
  remove(scripNo: string): boolean {
    const row = this.#rows.find(scripNo);
    if (row < 0) return false;
    this.#byFace.remove(row, this.#faceOf(row));
    this.#byExpiry.remove(row, this.#dayOf(row));
    this.#count(this.#faceOf(row), -1);
    this.#rows.drop(row);
    return true;
  }

  find(scripNo: string): Offer | undefined {
    const row = this.#rows.find(scripNo);
    return row < 0 ? undefined : this.#rows.offer(row);
  }

  /** What lies from one face up to and without another; reads sums of blocks, not every offer. */
  depth(fromPaise: number, toPaise: number): Depth {
    const from = this.#byFace.seek(fromPaise);
    const to = this.#byFace.seek(toPaise);
    return { count: this.#byFace.count(from, to), face_paise: this.#byFace.sum(from, to) };
  }

  /** The offers that can be used, for one search; it ends with the next change of the index. */
  shelf(usable: Usable, budget: Budget): Shelf {
    return new Shelf({
      rows: this.#rows,
      byFace: this.#byFace,
      byExpiry: this.#byExpiry,
      unit: this.#odd > 0 ? 1 : rupee,
      minDay: usable.min_day ?? -Infinity,
      buyer: this.#rows.seller(usable.buyer),
      priceMaxBps: usable.price_max_bps ?? Infinity,
      budget,
    });
  }

  #count(facePaise: number, change: 1 | -1): void {
    if (facePaise % rupee !== 0) this.#odd += change;
  }

  #faceOf(row: number): number {
    return this.#rows.faces[row] ?? 0;
  }

  #dayOf(row: number): DayNumber {
    return this.#rows.days[row] ?? 0;
  }
}
