// The answers under way. A Set would do, but for what it leaves behind: one that is added to and
// deleted from all the time makes itself anew every hundred calls, and each table that it leaves
// points at the next and at what it held. Once one of them is in the old part of the heap, all that
// come after it follow with every answer in them, and collecting them takes a tenth of each request.

import type { ServerResponse } from "node:http";

const place = Symbol("place");

type Placed = ServerResponse & { [place]?: number | undefined };

export class InFlight {
  readonly #answers: (ServerResponse | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#answers.length - this.#free.length;
  }

  add(answer: Placed): void {
    const at = this.#free.pop() ?? this.#answers.length;
    this.#answers[at] = answer;
    answer[place] = at;
  }

  delete(answer: Placed): void {
    const at = answer[place];
    if (at === undefined) return;
    answer[place] = undefined;
    this.#answers[at] = undefined;
    this.#free.push(at);
  }

  forEach(does: (answer: ServerResponse) => void): void {
    for (const answer of this.#answers) if (answer) does(answer);
  }
}
