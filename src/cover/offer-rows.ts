// Offers in typed-array columns: a few dozen bytes each instead of an object with strings. A scrip
// number is stored as bytes padded with zeros, so that byte order is text order.

import type { Offer } from "./rules.ts";

export const scripNoBytes = 25;
const rowsStart = 64;
const dayMax = 2 ** 31;
const limitMaxBps = 65_535;
const nobody = -1;

/** Offers in queue order, as arrays that can be sent to a thread. */
export type OfferColumns = {
  readonly faces: Float64Array;
  readonly days: Int32Array;
  readonly limits: Uint16Array;
  /** Codes of the sellers' PANs. */
  readonly sellers: Int32Array;
};

/** An index as a scrip number: padded to this many digits, so that text order is index order. */
const placeDigits = 9;
const zero = "0".charCodeAt(0);

export class OfferRows {
  faces = new Float64Array(rowsStart);
  days = new Int32Array(rowsStart);
  limits = new Uint16Array(rowsStart);
  sellers = new Int32Array(rowsStart);
  scripNos = new Uint8Array(rowsStart * scripNoBytes);
  /** Hash table with open addressing: row + 1 by scrip number, 0 for empty. */
  #buckets = new Int32Array(rowsStart * 2);
  #orderIds = new Map<number, string>();
  #sellerIds = new Map<string, number>();
  #sellerNames: string[] = [];
  #free: number[] = [];
  #used = 0;
  readonly #written = new Uint8Array(scripNoBytes);

  get size(): number {
    return this.#used - this.#free.length;
  }

  get bytes(): number {
    const { faces, days, limits, sellers, scripNos } = this;
    const arrays = [faces, days, limits, sellers, scripNos, this.#buckets];
    return arrays.reduce((sum, array) => sum + array.byteLength, 0);
  }

  reserve(rows: number): void {
    if (rows > this.faces.length) this.#resize(rows);
  }

  /** The row of a scrip number, or -1. */
  find(scripNo: string): number {
    return this.#write(scripNo) ? (this.#buckets[this.#findBucket()] ?? 0) - 1 : -1;
  }

  /** Throws when an offer cannot be stored; called before any change. */
  check({ scrip_no, face_paise, expires_on, limit_bps }: Offer): void {
    const isFace = Number.isSafeInteger(face_paise) && face_paise > 0;
    const isDay = Number.isInteger(expires_on) && Math.abs(expires_on) < dayMax;
    const isLimit = Number.isInteger(limit_bps) && limit_bps >= 0 && limit_bps <= limitMaxBps;
    if (isFace && isDay && isLimit && this.#write(scrip_no)) return;
    throw new Error(`no offer can be like that of ${scrip_no}`);
  }

  /** Adds a checked offer whose scrip number is not present. */
  add(offer: Offer): number {
    this.#write(offer.scrip_no);
    const row = this.#free.pop() ?? this.#used++;
    if (row === this.faces.length) this.#resize(Math.ceil(row * 1.5));
    this.scripNos.set(this.#written, row * scripNoBytes);
    this.#buckets[this.#findBucket()] = row + 1;
    this.faces[row] = offer.face_paise;
    this.days[row] = offer.expires_on;
    this.limits[row] = offer.limit_bps;
    this.sellers[row] = this.#internSeller(offer.seller);
    if (offer.order_id !== null) this.#orderIds.set(row, offer.order_id);
    return row;
  }

  /** Replaces all rows by columns; the index of an offer is its row and its scrip number. */
  take({ faces, days, limits, sellers }: OfferColumns): void {
    this.clear();
    this.#sellerIds.clear();
    this.#sellerNames = [];
    this.reserve(faces.length);
    this.faces.set(faces);
    this.days.set(days);
    this.limits.set(limits);
    this.sellers.set(sellers);
    for (const code of new Set(sellers)) {
      this.#sellerIds.set(String(code), code);
      this.#sellerNames[code] = String(code);
    }
    for (let row = 0; row < faces.length; row++) this.#numberByPlace(row);
    this.#used = faces.length;
  }

  drop(row: number): void {
    this.#written.set(this.scripNos.subarray(row * scripNoBytes, (row + 1) * scripNoBytes));
    this.#emptyBucket(this.#findBucket());
    this.#orderIds.delete(row);
    this.#free.push(row);
  }

  clear(): void {
    this.#buckets.fill(0);
    this.#orderIds.clear();
    this.#free = [];
    this.#used = 0;
  }

  offer(row: number): Offer {
    return {
      scrip_no: this.#scripNo(row),
      face_paise: this.faces[row] ?? 0,
      expires_on: this.days[row] ?? 0,
      limit_bps: this.limits[row] ?? 0,
      seller: this.#sellerNames[this.sellers[row] ?? 0] ?? "",
      order_id: this.#orderIds.get(row) ?? null,
    };
  }

  /** The code of a PAN in the sellers column. */
  seller(pan: string | undefined): number {
    return (pan === undefined ? undefined : this.#sellerIds.get(pan)) ?? nobody;
  }

  /** Queue order: expiry, then scrip number. */
  readonly isBefore = (a: number, b: number): boolean => {
    const days = (this.days[a] ?? 0) - (this.days[b] ?? 0);
    return days === 0 ? this.isLower(a, b) : days < 0;
  };

  /** The order of scrip numbers. */
  readonly isLower = (a: number, b: number): boolean => {
    const { scripNos } = this;
    const ofB = (b - a) * scripNoBytes;
    for (let at = a * scripNoBytes; at < (a + 1) * scripNoBytes; at++) {
      const difference = (scripNos[at] ?? 0) - (scripNos[at + ofB] ?? 0);
      if (difference !== 0) return difference < 0;
    }
    return false;
  };

  #numberByPlace(row: number): void {
    this.#written.fill(0);
    for (let digit = placeDigits - 1, left = row; digit >= 0; digit--) {
      const tens = Math.floor(left / 10);
      this.#written[digit] = zero + left - 10 * tens;
      left = tens;
    }
    this.scripNos.set(this.#written, row * scripNoBytes);
    this.#buckets[this.#findBucket()] = row + 1;
  }

  #scripNo(row: number): string {
    const start = row * scripNoBytes;
    const stop = this.scripNos.indexOf(0, start);
    const isFull = stop < 0 || stop > start + scripNoBytes;
    const bytes = this.scripNos.subarray(start, isFull ? start + scripNoBytes : stop);
    return String.fromCharCode(...bytes);
  }

  #internSeller(pan: string): number {
    const known = this.#sellerIds.get(pan);
    if (known !== undefined) return known;
    this.#sellerIds.set(pan, this.#sellerNames.length);
    return this.#sellerNames.push(pan) - 1;
  }

  /** Writes a scrip number to the compare buffer; false when it is not storable. */
  #write(scripNo: string): boolean {
    if (scripNo.length === 0 || scripNo.length > scripNoBytes) return false;
    this.#written.fill(0);
    for (let at = 0; at < scripNo.length; at++) {
      const code = scripNo.charCodeAt(at);
      if (code === 0 || code > 127) return false;
      this.#written[at] = code;
    }
    return true;
  }

  /** The bucket of the scrip number in the compare buffer, or the empty one it would take. */
  #findBucket(): number {
    const mask = this.#buckets.length - 1;
    let bucket = hashScripNo(this.#written, 0) & mask;
    while (this.#buckets[bucket] !== 0) {
      if (this.#isWritten((this.#buckets[bucket] ?? 0) - 1)) return bucket;
      bucket = (bucket + 1) & mask;
    }
    return bucket;
  }

  #isWritten(row: number): boolean {
    const start = row * scripNoBytes;
    for (let at = 0; at < scripNoBytes; at++) {
      if (this.scripNos[start + at] !== this.#written[at]) return false;
    }
    return true;
  }

  /** Empties a bucket by backward shift deletion. */
  #emptyBucket(emptied: number): void {
    const mask = this.#buckets.length - 1;
    let hole = emptied;
    for (let at = (hole + 1) & mask; this.#buckets[at] !== 0; at = (at + 1) & mask) {
      const home = hashScripNo(this.scripNos, ((this.#buckets[at] ?? 0) - 1) * scripNoBytes) & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      this.#buckets[hole] = this.#buckets[at] ?? 0;
      hole = at;
    }
    this.#buckets[hole] = 0;
  }

  #resize(rows: number): void {
    this.faces = resized(this.faces, new Float64Array(rows));
    this.days = resized(this.days, new Int32Array(rows));
    this.limits = resized(this.limits, new Uint16Array(rows));
    this.sellers = resized(this.sellers, new Int32Array(rows));
    this.scripNos = resized(this.scripNos, new Uint8Array(rows * scripNoBytes));
    const buckets = 2 ** Math.ceil(Math.log2(rows * 1.5));
    if (buckets <= this.#buckets.length) return;
    const filled = this.#buckets.filter((row) => row !== 0);
    this.#buckets = new Int32Array(buckets);
    for (const row of filled) {
      let bucket = hashScripNo(this.scripNos, (row - 1) * scripNoBytes) & (buckets - 1);
      while (this.#buckets[bucket] !== 0) bucket = (bucket + 1) & (buckets - 1);
      this.#buckets[bucket] = row;
    }
  }
}

/** FNV-1a over a padded scrip number, mixed again because only the low bits are used. */
function hashScripNo(bytes: Uint8Array, start: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < start + scripNoBytes; at++) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}

function resized<T extends Float64Array | Int32Array | Uint16Array | Uint8Array>(
  from: T,
  to: T,
): T {
  to.set(from);
  return to;
}
