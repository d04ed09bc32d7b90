// Says at once of most faces that no offer has them: a small count for each of many buckets that
// faces are hashed to. Nearly all questions of a search are about faces that nobody offers.

const bucketsPerFace = 4;
const bitsStart = 8;
const bitsMax = 30;
/** A count that has come this far stays, because nobody knows any more what it should be. */
const countMax = 255;

export class FaceFilter {
  #shift = 32 - bitsStart;
  #counts = new Uint8Array(2 ** bitsStart);

  get bytes(): number {
    return this.#counts.byteLength;
  }

  /** How many faces it is made for. */
  get capacity(): number {
    return this.#counts.length / bucketsPerFace;
  }

  /** Begins anew, with room for so many faces. */
  reset(faces: number): void {
    const bits = Math.ceil(Math.log2(Math.max(1, faces) * bucketsPerFace));
    const clamped = Math.min(Math.max(bits, bitsStart), bitsMax);
    this.#shift = 32 - clamped;
    this.#counts = new Uint8Array(2 ** clamped);
  }

  add(face: number): void {
    const bucket = bucketOf(face) >>> this.#shift;
    const count = this.#counts[bucket] ?? 0;
    if (count < countMax) this.#counts[bucket] = count + 1;
  }

  remove(face: number): void {
    const bucket = bucketOf(face) >>> this.#shift;
    const count = this.#counts[bucket] ?? 0;
    if (count < countMax) this.#counts[bucket] = count - 1;
  }

  /** False when no offer has this face. */
  mayHave(face: number): boolean {
    return this.#counts[bucketOf(face) >>> this.#shift] !== 0;
  }
}

/** Both halves of a face multiplied by odd constants; the high bits are the mixed ones. */
function bucketOf(face: number): number {
  return Math.imul(face | 0, 0x9e3779b1) + Math.imul((face / 2 ** 32) | 0, 0x85ebca6b);
}
