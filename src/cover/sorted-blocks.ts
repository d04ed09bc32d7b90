// Rows sorted by a key, in blocks of up to 512, so that an insert or a removal moves one block
// only. A position is the number of a block, shifted, plus an offset in the block; positions are
// valid until the next change.
//
//   order:   0      1      2        slots[order] is where the block lies in memory
//   blocks: [3 5 8][9 9 9][12 40]   lasts[order] is its last key; a binary search reads these first

import type { FaceFilter } from "./face-filter.ts";
import { type StepBudget, greatestDivisor } from "./rules.ts";

const blockBits = 9;
const blockSize = 1 << blockBits;
const inBlock = blockSize - 1;
/** A load leaves room in each block, so that the next inserts do not split it. */
const loadedSize = 448;
const mergedSizeMax = 384;
const emptySizeMax = 64;
const slotsStart = 2;

type Complement = {
  readonly sum: number;
  readonly largest: number;
  readonly filter: FaceFilter;
  readonly budget: StepBudget;
};

export class SortedBlocks {
  /** Whether row a comes before row b where their keys are equal. */
  readonly #isBefore: (a: number, b: number) => boolean;
  #keys = new Float64Array(slotsStart * blockSize);
  #rows = new Int32Array(slotsStart * blockSize);
  #sizes = new Int32Array(slotsStart);
  /** The cached sum of the keys of a slot, or -1. */
  #sums = new Float64Array(slotsStart);
  /** The cached common divisor of the keys of a slot, or 0. */
  #units = new Float64Array(slotsStart);
  #slots = new Int32Array(slotsStart);
  #lasts = new Float64Array(slotsStart);
  #free: number[] = [];
  #slotsUsed = 0;
  #blocks = 0;

  constructor(isBefore: (a: number, b: number) => boolean) {
    this.#isBefore = isBefore;
  }

  get end(): number {
    return this.#blocks * blockSize;
  }

  get bytes(): number {
    const perRow = [this.#keys, this.#rows];
    const perBlock = [this.#sizes, this.#sums, this.#units, this.#slots, this.#lasts];
    return [...perRow, ...perBlock].reduce((sum, array) => sum + array.byteLength, 0);
  }

  keyAt(position: number): number {
    return this.#keys[this.#placeAt(position)] ?? 0;
  }

  rowAt(position: number): number {
    return this.#rows[this.#placeAt(position)] ?? 0;
  }

  next(position: number): number {
    const order = position >> blockBits;
    const isLast = (position & inBlock) + 1 === this.#sizeAt(order);
    return isLast ? (order + 1) << blockBits : position + 1;
  }

  /** The position before, or -1. */
  previous(position: number): number {
    if ((position & inBlock) > 0) return position - 1;
    const order = (position >> blockBits) - 1;
    return order < 0 ? -1 : (order << blockBits) + this.#sizeAt(order) - 1;
  }

  /** The first position with a key of at least this. */
  seek(key: number): number {
    let low = 0;
    let high = this.#blocks;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#lasts[middle] ?? 0) < key) low = middle + 1;
      else high = middle;
    }
    if (low === this.#blocks) return this.end;
    const start = (this.#slots[low] ?? 0) * blockSize;
    let from = start;
    let to = start + this.#sizeAt(low);
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#keys[middle] ?? 0) < key) from = middle + 1;
      else to = middle;
    }
    return low * blockSize + (from - start);
  }

  /** The first position from this one on whose complement to the sum may exist, or the end. */
  seekComplement(position: number, { sum, largest, filter, budget }: Complement): number {
    for (let order = position >> blockBits; order < this.#blocks; order++) {
      const start = (this.#slots[order] ?? 0) << blockBits;
      const stop = start + this.#sizeAt(order);
      const from = start + (order === position >> blockBits ? position & inBlock : 0);
      for (let place = from; place < stop; place++) {
        const key = this.#keys[place] ?? 0;
        if (key <= largest && !filter.mayHave(sum - key)) continue;
        budget.spend(place - from + 1);
        return key > largest ? this.end : (order << blockBits) + place - start;
      }
      budget.spend(stop - from);
      if (budget.spent) break;
    }
    return this.end;
  }

  /** How many rows lie from one position up to another. */
  count(from: number, to: number): number {
    if (to <= from) return 0;
    const last = to >> blockBits;
    let count = (to & inBlock) - (from & inBlock);
    for (let order = from >> blockBits; order < last; order++) count += this.#sizeAt(order);
    return count;
  }

  /** The exact sum of the keys in [from, to); sums of whole blocks are cached. */
  sum(from: number, to: number): bigint {
    let sum = 0n;
    let position = from;
    while (position < to) {
      const order = position >> blockBits;
      const isWhole = (position & inBlock) === 0 && position + this.#sizeAt(order) <= to;
      sum += isWhole ? this.#sumBlock(order) : BigInt(this.keyAt(position));
      position = isWhole ? (order + 1) << blockBits : this.next(position);
    }
    return sum;
  }

  /** The common divisor of all keys; stops early once it has fallen to `least`. */
  unit(least: number): number {
    let unit = 0;
    for (let order = 0; order < this.#blocks && unit !== least; order++) {
      unit = greatestDivisor(unit, this.#findUnit(order));
    }
    return unit;
  }

  /** Loads rows that are sorted already. */
  load(rows: Int32Array, keys: Float64Array | Int32Array | Uint16Array): void {
    const blocks = Math.ceil(rows.length / loadedSize);
    this.#resize(Math.max(slotsStart, Math.ceil(blocks * 1.05)));
    this.#blocks = this.#slotsUsed = blocks;
    this.#free = [];
    for (let order = 0; order < blocks; order++) {
      const part = rows.subarray(order * loadedSize, (order + 1) * loadedSize);
      const start = order * blockSize;
      this.#rows.set(part, start);
      for (let at = 0; at < part.length; at++) {
        this.#keys[start + at] = keys[part[at] ?? 0] ?? 0;
      }
      this.#slots[order] = order;
      this.#sizes[order] = part.length;
      this.#settle(order);
    }
  }

  insert(row: number, key: number): void {
    if (this.#blocks === 0) this.#addBlock(0);
    let order = Math.min(this.#findOrder(row, key), this.#blocks - 1);
    if (this.#sizeAt(order) === blockSize) {
      this.#split(order);
      order = Math.min(this.#findOrder(row, key), this.#blocks - 1);
    }
    const start = (this.#slots[order] ?? 0) * blockSize;
    const size = this.#sizeAt(order);
    const place = this.#placeIn(order, row, key);
    this.#keys.copyWithin(place + 1, place, start + size);
    this.#rows.copyWithin(place + 1, place, start + size);
    this.#keys[place] = key;
    this.#rows[place] = row;
    this.#sizes[this.#slots[order] ?? 0] = size + 1;
    this.#settle(order);
  }

  remove(row: number, key: number): void {
    const order = this.#findOrder(row, key);
    const place = order < this.#blocks ? this.#placeIn(order, row, key) : -1;
    if (this.#rows[place] !== row) throw new Error("only a row that is here can be removed");
    const size = this.#sizeAt(order);
    const stop = (this.#slots[order] ?? 0) * blockSize + size;
    this.#keys.copyWithin(place, place + 1, stop);
    this.#rows.copyWithin(place, place + 1, stop);
    this.#sizes[this.#slots[order] ?? 0] = size - 1;
    if (size === 1) return this.#dropBlock(order);
    this.#settle(order);
    if (size <= emptySizeMax) this.#merge(order);
  }

  /** The first block whose last row is not before this one. */
  #findOrder(row: number, key: number): number {
    let low = 0;
    let high = this.#blocks;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const last = (this.#slots[middle] ?? 0) * blockSize + this.#sizeAt(middle) - 1;
      if (this.#isPlaceBefore(last, row, key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #placeIn(order: number, row: number, key: number): number {
    let from = (this.#slots[order] ?? 0) * blockSize;
    let to = from + this.#sizeAt(order);
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#isPlaceBefore(middle, row, key)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #isPlaceBefore(place: number, row: number, key: number): boolean {
    const there = this.#keys[place] ?? 0;
    return there === key ? this.#isBefore(this.#rows[place] ?? 0, row) : there < key;
  }

  #split(order: number): void {
    this.#addBlock(order + 1);
    const from = (this.#slots[order] ?? 0) * blockSize;
    const to = (this.#slots[order + 1] ?? 0) * blockSize;
    const half = blockSize / 2;
    this.#keys.copyWithin(to, from + half, from + blockSize);
    this.#rows.copyWithin(to, from + half, from + blockSize);
    this.#sizes[this.#slots[order] ?? 0] = half;
    this.#sizes[this.#slots[order + 1] ?? 0] = half;
    this.#settle(order);
    this.#settle(order + 1);
  }

  /** Merges a small block into the one before it, if that has room. */
  #merge(order: number): void {
    if (order === 0 || order >= this.#blocks) return;
    const size = this.#sizeAt(order);
    const before = this.#sizeAt(order - 1);
    if (size + before > mergedSizeMax) return;
    const from = (this.#slots[order] ?? 0) * blockSize;
    const to = (this.#slots[order - 1] ?? 0) * blockSize + before;
    this.#keys.copyWithin(to, from, from + size);
    this.#rows.copyWithin(to, from, from + size);
    this.#sizes[this.#slots[order - 1] ?? 0] = size + before;
    this.#dropBlock(order);
    this.#settle(order - 1);
  }

  #addBlock(order: number): void {
    if (this.#free.length === 0 && this.#slotsUsed === this.#slots.length) {
      this.#resize(Math.ceil(this.#slotsUsed * 1.25) + 1);
    }
    const slot = this.#free.pop() ?? this.#slotsUsed++;
    this.#slots.copyWithin(order + 1, order, this.#blocks);
    this.#lasts.copyWithin(order + 1, order, this.#blocks);
    this.#slots[order] = slot;
    this.#sizes[slot] = 0;
    this.#blocks++;
  }

  #dropBlock(order: number): void {
    this.#free.push(this.#slots[order] ?? 0);
    this.#slots.copyWithin(order, order + 1, this.#blocks);
    this.#lasts.copyWithin(order, order + 1, this.#blocks);
    this.#blocks--;
  }

  /** Updates the last key and drops the cached values of a changed block. */
  #settle(order: number): void {
    const slot = this.#slots[order] ?? 0;
    this.#lasts[order] = this.#keys[slot * blockSize + (this.#sizes[slot] ?? 0) - 1] ?? 0;
    this.#sums[slot] = -1;
    this.#units[slot] = 0;
  }

  #sumBlock(order: number): bigint {
    const slot = this.#slots[order] ?? 0;
    const known = this.#sums[slot] ?? -1;
    if (known >= 0) return BigInt(known);
    const start = slot * blockSize;
    const keys = this.#keys.subarray(start, start + (this.#sizes[slot] ?? 0));
    const sum = keys.reduce((total, key) => total + key, 0);
    if (!Number.isSafeInteger(sum)) return keys.reduce((total, key) => total + BigInt(key), 0n);
    this.#sums[slot] = sum;
    return BigInt(sum);
  }

  #findUnit(order: number): number {
    const slot = this.#slots[order] ?? 0;
    const known = this.#units[slot] ?? 0;
    if (known > 0) return known;
    const start = slot << blockBits;
    const keys = this.#keys.subarray(start, start + (this.#sizes[slot] ?? 0));
    const unit = keys.reduce(greatestDivisor, 0);
    this.#units[slot] = unit;
    return unit;
  }

  #sizeAt(order: number): number {
    return this.#sizes[this.#slots[order] ?? 0] ?? 0;
  }

  #placeAt(position: number): number {
    return ((this.#slots[position >> blockBits] ?? 0) << blockBits) | (position & inBlock);
  }

  #resize(slots: number): void {
    this.#keys = copied(this.#keys, new Float64Array(slots * blockSize));
    this.#rows = copied(this.#rows, new Int32Array(slots * blockSize));
    this.#sizes = copied(this.#sizes, new Int32Array(slots));
    this.#sums = copied(this.#sums, new Float64Array(slots));
    this.#units = copied(this.#units, new Float64Array(slots));
    this.#slots = copied(this.#slots, new Int32Array(slots));
    this.#lasts = copied(this.#lasts, new Float64Array(slots));
  }
}

function copied<T extends Float64Array | Int32Array>(from: T, to: T): T {
  to.set(from.subarray(0, Math.min(from.length, to.length)));
  return to;
}
