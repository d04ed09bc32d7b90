// A counting Bloom filter of faces with two hashes. Nearly all lookups of a search are for faces
// that no offer has; a false positive costs a binary search, about twenty times as much.

/** Fewer buckets per face in large filters, to save memory. */
const bucketsPerFace = { few: 16, many: 4 } as const;
const fewMax = 2 ** 16;
const bitsStart = 8;
const bitsMax = 30;
/** A saturated count is never decremented, because its true value is unknown. */
const countMax = 255;

export class FaceFilter {
  #shift = 32 - bitsStart;
  #counts = new Uint8Array(2 ** bitsStart);
  #capacity = 2 ** bitsStart / bucketsPerFace.few;

  get bytes(): number {
    return this.#counts.byteLength;
  }

  /** How many faces it is sized for. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Clears it and sizes it for so many faces. */
  reset(faces: number): void {
    const perFace = faces > fewMax ? bucketsPerFace.many : bucketsPerFace.few;
    const bits = Math.ceil(Math.log2(Math.max(1, faces) * perFace));
    const clamped = Math.min(Math.max(bits, bitsStart), bitsMax);
    this.#shift = 32 - clamped;
    this.#counts = new Uint8Array(2 ** clamped);
    this.#capacity = this.#counts.length / perFace;
  }

  add(face: number): void {
    const mixed = mix(face);
    this.#count(mixed, 1);
    this.#count(mixAgain(mixed), 1);
  }

  remove(face: number): void {
    const mixed = mix(face);
    this.#count(mixed, -1);
    this.#count(mixAgain(mixed), -1);
  }

  /** False when no offer has this face. */
  mayHave(face: number): boolean {
    const mixed = mix(face);
    return (
      this.#counts[mixed >>> this.#shift] !== 0 &&
      this.#counts[mixAgain(mixed) >>> this.#shift] !== 0
    );
  }

  #count(mixed: number, more: number): void {
    const bucket = mixed >>> this.#shift;
    const count = this.#counts[bucket] ?? 0;
    if (count < countMax) this.#counts[bucket] = count + more;
  }
}

/** Both halves of a face multiplied by odd constants; the high bits are the mixed ones. */
function mix(face: number): number {
  return Math.imul(face | 0, 0x9e3779b1) + Math.imul((face / 2 ** 32) | 0, 0x85ebca6b);
}

function mixAgain(mixed: number): number {
  return Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
}
