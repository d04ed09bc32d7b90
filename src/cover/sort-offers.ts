// Sorts millions of offers by LSD radix sort, one stable pass per byte. Bytes that are equal in all
// rows are skipped. A face has 53 bits: four bytes below 2^32, and three above.

import { type OfferRows, scripNoBytes } from "./offer-rows.ts";

/** Makes day numbers before 1970 non-negative. */
const dayOffset = 2 ** 31;

type SortedRows = Int32Array<ArrayBuffer>;

export type Orders = {
  /** By expiry, then scrip number. */
  readonly byExpiry: SortedRows;
  /** By face, then expiry, then scrip number. */
  readonly byFace: SortedRows;
};

export function sortOffers(offers: OfferRows, count: number): Orders {
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
export function sortByFace({ faces }: OfferRows, byExpiry: SortedRows): SortedRows {
  let rows = byExpiry;
  for (let shift = 0; shift < 32; shift += 8) {
    rows = sortedBy(rows, (row) => ((faces[row] ?? 0) >>> shift) & 255);
  }
  for (let shift = 0; shift < 24; shift += 8) {
    rows = sortedBy(rows, (row) => (((faces[row] ?? 0) / 2 ** 32) >>> shift) & 255);
  }
  return rows;
}

export function rowsUpTo(count: number): SortedRows {
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
