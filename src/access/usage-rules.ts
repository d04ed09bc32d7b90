// The sliding window of one key: exactly the calls of the last 60 seconds, to the millisecond; the
// public surface also has longer windows.
//
// Calls of one millisecond are kept as one count, so memory is bounded by the window and not by the
// rate: at most 60,000 counts.

export const windowMs = 60_000;

export type WindowState = {
  readonly admitted: boolean;
  /** The time of the call by the window's clock. */
  readonly atMs: number;
  /** Calls in the window, including this one if admitted. */
  readonly used: number;
  /** Time until the window is empty without further calls. */
  readonly clearsInMs: number;
};

/** Expired counts are removed when there are this many and they are at least half of all. */
const compactAbove = 64;

export class SlidingWindow {
  #times: number[] = [];
  #counts: number[] = [];
  #oldest = 0;
  #used = 0;
  readonly #windowMs: number;

  constructor(lengthMs = windowMs) {
    this.#windowMs = lengthMs;
  }

  /** Counts a call if there is room; a refused call is not counted. */
  take(nowMs: number, limit: number): WindowState {
    this.#forget(nowMs);
    const admitted = this.#used < limit;
    if (admitted) this.#count(nowMs);
    return this.#state(nowMs, admitted);
  }

  /**
   * Removes a call that was refused elsewhere after it was counted. It removes exactly that call:
   * another one would have left the window at another time.
   */
  giveBack(nowMs: number, takenAtMs: number): WindowState {
    this.#forget(nowMs);
    this.#uncount(takenAtMs);
    return this.#state(nowMs, false);
  }

  isEmpty(nowMs: number): boolean {
    this.#forget(nowMs);
    return this.#used === 0;
  }

  #count(nowMs: number): void {
    const latest = this.#times.length - 1;
    this.#used += 1;
    if (latest >= this.#oldest && this.#times[latest] === nowMs) {
      this.#counts[latest] = (this.#counts[latest] ?? 0) + 1;
      return;
    }
    this.#times.push(nowMs);
    this.#counts.push(1);
  }

  #uncount(atMs: number): void {
    const index = this.#times.lastIndexOf(atMs);
    if (index < this.#oldest) return;
    this.#used -= 1;
    const count = this.#counts[index] ?? 0;
    if (count > 1) {
      this.#counts[index] = count - 1;
      return;
    }
    this.#times.splice(index, 1);
    this.#counts.splice(index, 1);
  }

  #forget(nowMs: number): void {
    while (this.#oldest < this.#times.length) {
      const time = this.#times[this.#oldest] ?? 0;
      if (nowMs - time < this.#windowMs) break;
      this.#used -= this.#counts[this.#oldest] ?? 0;
      this.#oldest += 1;
    }
    if (this.#oldest < compactAbove || this.#oldest * 2 < this.#times.length) return;
    this.#times = this.#times.slice(this.#oldest);
    this.#counts = this.#counts.slice(this.#oldest);
    this.#oldest = 0;
  }

  #state(nowMs: number, admitted: boolean): WindowState {
    const latest = this.#used === 0 ? undefined : this.#times.at(-1);
    const clearsInMs = latest === undefined ? 0 : latest + this.#windowMs - nowMs;
    return { admitted, atMs: nowMs, used: this.#used, clearsInMs };
  }
}
