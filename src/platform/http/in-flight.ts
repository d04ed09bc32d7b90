// The responses in flight, in an array with a list of free slots. A Set would do, but V8 replaces the
// table of a Set that is added to and deleted from every few hundred calls, and each old table points to
// the next one and to the responses it held. Once one of them is in the old generation, the garbage
// collector keeps and copies all later ones.
//
// Each has a seat (`seats.ts`): of all while its caller is not known, then of the caller's share. What is
// refused to strangers has none, however late they read it, and an answer that nobody reads for a while is
// broken off.
//
// A Set took 21 % more processor time for a `whoami` and 13 % more for a quote (decision statements).

import type { ServerResponse } from "node:http";

import { leaveSeat, type Share, takeSeat } from "../seats.ts";

const slot = Symbol("slot");
const seat = Symbol("seat");
const looks = Symbol("looks");

type Listed = ServerResponse & {
  [slot]?: number | undefined;
  [seat]?: Share | undefined;
  /** How often it was found made and not read. */
  [looks]?: number;
};

export class InFlight {
  readonly #answers: (ServerResponse | undefined)[] = [];
  readonly #free: number[] = [];

  add(answer: Listed): void {
    const at = this.#free.pop() ?? this.#answers.length;
    this.#answers[at] = answer;
    answer[slot] = at;
  }

  /** Takes a seat of a share instead of one that it has; false when there is none left. */
  seat(answer: Listed, share: Share): boolean {
    if (answer[slot] === undefined || answer[seat] === share) return true;
    this.leave(answer);
    if (!takeSeat(share)) return false;
    answer[seat] = share;
    return true;
  }

  /** Gives its seat to others before it is over. */
  leave(answer: Listed): void {
    if (answer[seat]) leaveSeat(answer[seat]);
    answer[seat] = undefined;
  }

  /** Breaks off what was made before so many looks and is not read yet. */
  cutUnread(looksMax: number): void {
    this.forEach((answer: Listed) => {
      if (!answer.writableEnded) return;
      answer[looks] = (answer[looks] ?? 0) + 1;
      if (answer[looks] > looksMax) answer.destroy();
    });
  }

  delete(answer: Listed): void {
    const at = answer[slot];
    if (at === undefined) return;
    answer[slot] = undefined;
    this.leave(answer);
    this.#answers[at] = undefined;
    this.#free.push(at);
  }

  forEach(does: (answer: ServerResponse) => void): void {
    for (const answer of this.#answers) if (answer) does(answer);
  }
}
