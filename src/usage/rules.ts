// The sliding window of one key: exactly the calls of the last 60 seconds, to the millisecond.
//
// Calls of one millisecond enter and leave together, so they are kept as one count. Memory is
// bounded by the window, not by the rate: at most 60,000 counts, and in practice one per
// millisecond in which the key called.

export const windowMs = 60_000;

export type WindowState = {
  readonly admitted: boolean;
  /** Calls in the window, this one included when it was admitted. */
  readonly used: number;
  /** Until the window is empty again if nobody calls. */
  readonly clearsInMs: number;
};

const compactAbove = 1_024;

export class SlidingWindow {
  #times: number[] = [];
  #counts: number[] = [];
  #oldest = 0;
  #used = 0;

  /** Counts a call when there is room for it. A call that is refused leaves no trace. */
  take(nowMs: number, limit: number): WindowState {
    this.#forget(nowMs);
    const admitted = this.#used < limit;
    if (admitted) this.#count(nowMs);
    return { admitted, used: this.#used, clearsInMs: this.#clearsInMs(nowMs) };
  }

  /** Takes back the latest call, which something else refused after it was counted. */
  giveBack(): void {
    const latest = this.#counts.length - 1;
    if (latest < this.#oldest) return;
    this.#used -= 1;
    const count = this.#counts[latest] ?? 0;
    if (count > 1) {
      this.#counts[latest] = count - 1;
      return;
    }
    this.#counts.pop();
    this.#times.pop();
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

  #forget(nowMs: number): void {
    while (this.#oldest < this.#times.length) {
      const time = this.#times[this.#oldest] ?? 0;
      if (nowMs - time < windowMs) break;
      this.#used -= this.#counts[this.#oldest] ?? 0;
      this.#oldest += 1;
    }
    if (this.#oldest < compactAbove || this.#oldest * 2 < this.#times.length) return;
    this.#times = this.#times.slice(this.#oldest);
    this.#counts = this.#counts.slice(this.#oldest);
    this.#oldest = 0;
  }

  #clearsInMs(nowMs: number): number {
    const latest = this.#times.at(-1);
    return latest === undefined || this.#used === 0 ? 0 : Math.max(0, latest + windowMs - nowMs);
  }
}
