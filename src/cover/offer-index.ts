// The offers of one environment and scheme in memory, indexed by face and by expiry. The database is
// authoritative: a bundle from here is locked there before it is dealt.

import { FaceFilter } from "./face-filter.ts";
import { type OfferColumns, OfferRows, scripNoBytes } from "./offer-rows.ts";
import { type DayNumber, type DealtAt, type Offer, rupee, StepBudget } from "./rules.ts";
import { Shelf } from "./shelf.ts";
import { SortedBlocks } from "./sorted-blocks.ts";

/** The offers that one buyer can use. */
export type Usable = {
  /** The first expiry that is late enough. */
  readonly min_day?: DayNumber;
  /** The PAN whose own credits are left out. */
  readonly buyer?: string;
  /** The highest limit that can be paid. */
  readonly price_max_bps?: number;
  /** The lowest limit: 1 leaves out what the house holds. */
  readonly price_min_bps?: number;
  /** What a resting sell must be paid for by; without it the limit alone decides. */
  readonly dealt_at?: DealtAt;
};

/** Offers in queue order, with the row of each. */
type RowColumns = OfferColumns & { readonly rows: Int32Array };

type Depth = { readonly count: number; readonly face_paise: bigint };

export class OfferIndex {
  readonly #rows = new OfferRows();
  readonly #byFace = new SortedBlocks(this.#rows.isBefore);
  readonly #byExpiry = new SortedBlocks(this.#rows.isLower);
  readonly #filter = new FaceFilter();
  /** Odd faces (not whole rupees), by face. */
  readonly #odd = new SortedBlocks(this.#rows.isBefore);
  /** Offers of resting sells, by limit: answers quickly whether any is within a price range. */
  readonly #byLimit = new SortedBlocks(this.#rows.isBefore);
  /** The columns last made for a thread; dropped at the next change. */
  #columns: RowColumns | undefined;

  get size(): number {
    return this.#rows.size;
  }

  get bytes(): number {
    return (
      this.#rows.bytes +
      this.#byFace.bytes +
      this.#byExpiry.bytes +
      this.#odd.bytes +
      this.#byLimit.bytes +
      this.#filter.bytes
    );
  }

  /** Replaces everything; of offers with one scrip number the last counts. */
  load(offers: Iterable<Offer>, expected = 0): void {
    this.#rows.clear();
    this.#columns = undefined;
    this.#rows.reserve(expected);
    for (const offer of offers) {
      this.#rows.check(offer);
      const known = this.#rows.find(offer.scrip_no);
      if (known >= 0) this.#rows.drop(known);
      this.#rows.add(offer);
    }
    this.#arrange(sortOffers(this.#rows, this.size));
  }

  /** Replaces everything by columns; the scrip number of an offer is then its index in them. */
  loadColumns(columns: OfferColumns): void {
    this.#columns = undefined;
    this.#rows.take(columns);
    const byExpiry = rowsUpTo(this.size);
    this.#arrange({ byExpiry, byFace: sortByFace(this.#rows, byExpiry) });
  }

  /** Adds an offer, or replaces the one with its scrip number. */
  put(offer: Offer): void {
    this.#rows.check(offer);
    this.remove(offer.scrip_no);
    this.#columns = undefined;
    const row = this.#rows.add(offer);
    this.#byFace.insert(row, offer.face_paise);
    this.#byExpiry.insert(row, offer.expires_on);
    if (offer.face_paise % rupee !== 0) this.#odd.insert(row, offer.face_paise);
    if (offer.limit_bps > 0) this.#byLimit.insert(row, offer.limit_bps);
    this.#filter.add(offer.face_paise);
    if (this.size > this.#filter.capacity) this.#widenFilter();
  }

  /** Whether there was such an offer. */
  remove(scripNo: string): boolean {
    const row = this.#rows.find(scripNo);
    if (row < 0) return false;
    this.#columns = undefined;
    const face = this.#faceAt(row);
    this.#byFace.remove(row, face);
    this.#byExpiry.remove(row, this.#rows.days[row] ?? 0);
    this.#filter.remove(face);
    if (face % rupee !== 0) this.#odd.remove(row, face);
    const limit = this.#rows.limits[row] ?? 0;
    if (limit > 0) this.#byLimit.remove(row, limit);
    this.#rows.drop(row);
    return true;
  }

  find(scripNo: string): Offer | undefined {
    const row = this.#rows.find(scripNo);
    return row < 0 ? undefined : this.#rows.offer(row);
  }

  /** These offers, if all of them are present and usable. */
  findAll(scripNos: readonly string[], usable: Usable): readonly Offer[] | undefined {
    const shelf = this.shelf(usable, new StepBudget(0));
    const rows = scripNos.map((scripNo) => this.#rows.find(scripNo));
    const isHere = (row: number) => row >= 0 && shelf.isUsable(row);
    return rows.every(isHere) ? rows.map((row) => this.#rows.offer(row)) : undefined;
  }

  /** How many offers have at most this face. */
  countUpTo(facePaise: number): number {
    return this.#byFace.count(0, this.#byFace.seek(facePaise + 1));
  }

  /**
   * Offers up to a face as columns; undefined when there are more than `most`. Cached until a
   * change.
   */
  columns(facePaise: number, most: number): RowColumns | undefined {
    const count = this.countUpTo(facePaise);
    if (count > most) return undefined;
    if (this.#columns?.rows.length === count) return this.#columns;
    const { faces, days, limits, sellers } = this.#rows;
    const made = {
      rows: new Int32Array(count),
      faces: new Float64Array(count),
      days: new Int32Array(count),
      limits: new Uint16Array(count),
      sellers: new Int32Array(count),
    };
    const { end } = this.#byExpiry;
    let place = 0;
    for (let at = 0; at < end; at = this.#byExpiry.next(at)) {
      const row = this.#byExpiry.rowAt(at);
      const face = faces[row] ?? 0;
      if (face > facePaise) continue;
      made.rows[place] = row;
      made.faces[place] = face;
      made.days[place] = days[row] ?? 0;
      made.limits[place] = limits[row] ?? 0;
      made.sellers[place] = sellers[row] ?? 0;
      place += 1;
    }
    this.#columns = made;
    return made;
  }

  /** The code of a PAN in the sellers column. */
  sellerCode(pan: string): number {
    return this.#rows.seller(pan);
  }

  numberAt(row: number): string {
    return this.#rows.offer(row).scrip_no;
  }

  /** Count and sum of faces in [from, to); uses block sums. */
  depth(fromPaise: number, toPaise: number): Depth {
    const from = this.#byFace.seek(fromPaise);
    const to = this.#byFace.seek(toPaise);
    return { count: this.#byFace.count(from, to), face_paise: this.#byFace.sum(from, to) };
  }

  /** A view of the usable offers for one search; invalid after the next change of the index. */
  shelf(usable: Usable, budget: StepBudget): Shelf {
    const { price_max_bps: priceMaxBps = Infinity, price_min_bps: priceMinBps = 0 } = usable;
    return new Shelf({
      rows: this.#rows,
      byFace: this.#byFace,
      byExpiry: this.#byExpiry,
      filter: this.#filter,
      odd: this.#odd,
      minDay: usable.min_day ?? -Infinity,
      buyer: this.#rows.seller(usable.buyer),
      priceMaxBps,
      priceMinBps,
      dealtAt: usable.dealt_at,
      isBare: priceMinBps > 0 && !this.#hasLimit(priceMinBps, priceMaxBps),
      budget,
    });
  }

  #hasLimit(fromBps: number, toBps: number): boolean {
    const at = this.#byLimit.seek(fromBps);
    return at < this.#byLimit.end && this.#byLimit.keyAt(at) <= toBps;
  }

  #arrange({ byFace, byExpiry }: Orders): void {
    this.#byFace.load(byFace, this.#rows.faces);
    this.#byExpiry.load(byExpiry, this.#rows.days);
    const isOdd = (row: number) => this.#faceAt(row) % rupee !== 0;
    this.#odd.load(byFace.filter(isOdd), this.#rows.faces);
    const { limits } = this.#rows;
    const limited = byExpiry.filter((row) => (limits[row] ?? 0) > 0);
    this.#byLimit.load(
      limited.toSorted((a, b) => (limits[a] ?? 0) - (limits[b] ?? 0)),
      limits,
    );
    this.#filter.reset(this.size);
    for (const row of byFace) this.#filter.add(this.#faceAt(row));
  }

  #widenFilter(): void {
    this.#filter.reset(this.size * 2);
    const { end } = this.#byFace;
    for (let at = 0; at < end; at = this.#byFace.next(at)) this.#filter.add(this.#byFace.keyAt(at));
  }

  #faceAt(row: number): number {
    return this.#rows.faces[row] ?? 0;
  }
}

// Sorts millions of offers by LSD radix sort, one stable pass per byte. Bytes that are equal in all
// rows are skipped. A face has 53 bits: four bytes below 2^32, and three above.

/** Makes day numbers before 1970 non-negative. */
const dayOffset = 2 ** 31;

type SortedRows = Int32Array<ArrayBuffer>;

type Orders = {
  /** By expiry, then scrip number. */
  readonly byExpiry: SortedRows;
  /** By face, then expiry, then scrip number. */
  readonly byFace: SortedRows;
};

function sortOffers(offers: OfferRows, count: number): Orders {
  let rows = rowsUpTo(count);
  for (const byte of differingBytes(offers, count).toReversed()) {
    rows = sortedBy(rows, (row) => offers.scripNos[row * scripNoBytes + byte] ?? 0);
  }
  for (let shift = 0; shift < 32; shift += 8) {
    rows = sortedBy(rows, (row) => (((offers.days[row] ?? 0) + dayOffset) >>> shift) & 255);
  }
  return { byExpiry: rows, byFace: sortByFace(offers, rows) };
}

/** Sorts rows that are in queue order by face. */
function sortByFace({ faces }: OfferRows, byExpiry: SortedRows): SortedRows {
  let rows = byExpiry;
  for (let shift = 0; shift < 32; shift += 8) {
    rows = sortedBy(rows, (row) => ((faces[row] ?? 0) >>> shift) & 255);
  }
  for (let shift = 0; shift < 24; shift += 8) {
    rows = sortedBy(rows, (row) => (((faces[row] ?? 0) / 2 ** 32) >>> shift) & 255);
  }
  return rows;
}

function rowsUpTo(count: number): SortedRows {
  return new Int32Array(count).map((_, row) => row);
}

/** The byte positions of scrip numbers that differ between rows. */
function differingBytes({ scripNos }: OfferRows, count: number): number[] {
  const differs = new Uint8Array(scripNoBytes);
  for (let row = 1; row < count; row++) {
    for (let byte = 0; byte < scripNoBytes; byte++) {
      if (scripNos[row * scripNoBytes + byte] !== scripNos[byte]) differs[byte] = 1;
    }
  }
  return Array.from(differs.keys()).filter((byte) => differs[byte] === 1);
}

function sortedBy(rows: SortedRows, pickByte: (row: number) => number): SortedRows {
  const starts = new Int32Array(257);
  const bytes = new Uint8Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    const byte = pickByte(rows[at] ?? 0);
    bytes[at] = byte;
    starts[byte + 1] = (starts[byte + 1] ?? 0) + 1;
  }
  if (starts.includes(rows.length, 1)) return rows;
  for (let byte = 0; byte < 256; byte++) {
    starts[byte + 1] = (starts[byte + 1] ?? 0) + (starts[byte] ?? 0);
  }
  const sorted = new Int32Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    const byte = bytes[at] ?? 0;
    sorted[starts[byte] ?? 0] = rows[at] ?? 0;
    starts[byte] = (starts[byte] ?? 0) + 1;
  }
  return sorted;
}
