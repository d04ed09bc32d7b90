// A fair queue. Desks of one environment take turns, so a desk with a hundred jobs delays the one job
// of another desk by one job. Live goes before sandbox, but after several live jobs in a row a waiting
// sandbox job has a turn, so that the sandbox is slow beside a busy live and never starves.
//
// The jobs of a desk and of an environment are bounded; a job beyond a bound is refused at once.

import { type Environment, environments } from "../../kernel/caller.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import type { OnBehalf } from "./kinds.ts";

export type QueueLimits = {
  readonly perDeskMax: number;
  readonly perEnvironmentMax: number;
};

/** After this many live jobs in a row, a waiting sandbox job is next. */
const liveTurnsInRow = 8;

export class FairQueue<Job extends { readonly by: OnBehalf }> {
  readonly #limits: QueueLimits;
  /** In the order of their turns. */
  readonly #desks: Readonly<Record<Environment, Map<string, Job[]>>> = {
    live: new Map(),
    sandbox: new Map(),
  };
  readonly #waiting = { live: 0, sandbox: 0 };
  #liveTurns = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  waiting(environment: Environment): number {
    return this.#waiting[environment];
  }

  add(job: Job): void {
    const { environment, deskId } = job.by;
    const jobs = this.#desks[environment].get(deskId) ?? [];
    const isFull = this.#waiting[environment] >= this.#limits.perEnvironmentMax;
    if (isFull || jobs.length >= this.#limits.perDeskMax) throw new Overloaded();
    jobs.push(job);
    this.#desks[environment].set(deskId, jobs);
    this.#waiting[environment] += 1;
  }

  /** False when the job was not waiting any more. */
  remove(job: Job): boolean {
    const { environment, deskId } = job.by;
    const jobs = this.#desks[environment].get(deskId) ?? [];
    const at = jobs.indexOf(job);
    if (at < 0) return false;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#desks[environment].delete(deskId);
    this.#waiting[environment] -= 1;
    return true;
  }

  /** Takes the next job; undefined when none may begin. */
  next({ sandbox }: { readonly sandbox: boolean }): Job | undefined {
    const maySandbox = sandbox && this.#waiting.sandbox > 0;
    const isSandboxTurn =
      maySandbox && (this.#waiting.live === 0 || this.#liveTurns >= liveTurnsInRow);
    if (isSandboxTurn || this.#waiting.live === 0) {
      this.#liveTurns = 0;
      return maySandbox ? this.#take("sandbox") : undefined;
    }
    this.#liveTurns += 1;
    return this.#take("live");
  }

  all(): Job[] {
    return environments.flatMap((environment) => [...this.#desks[environment].values()].flat());
  }

  #take(environment: Environment): Job | undefined {
    const desks = this.#desks[environment];
    const [first] = desks;
    if (!first) return undefined;
    const [deskId, [job, ...rest]] = first;
    desks.delete(deskId);
    if (rest.length > 0) desks.set(deskId, rest);
    this.#waiting[environment] -= 1;
    return job;
  }
}

// Turns for work that would wait for the same database lock: one piece of work at a time. Desks take turns,
// so that one that asks for much delays the others by a piece of its work each time; what is done for
// several desks together has turns of its own.

type InTurn = <Result>(by: OnBehalf, work: () => Promise<Result>) => Promise<Result>;

type WaitingTurn = { readonly by: OnBehalf; readonly begin: () => void };

/** Work beyond the limits is refused at once. */
export function takeTurns(limits: QueueLimits): InTurn {
  const queue = new FairQueue<WaitingTurn>(limits);
  let isBusy = false;
  const beginNext = () => {
    const next = queue.next({ sandbox: true });
    isBusy = next !== undefined;
    next?.begin();
  };
  return async (by, work) => {
    const { promise: turn, resolve: begin } = Promise.withResolvers<void>();
    queue.add({ by, begin });
    if (!isBusy) beginNext();
    await turn;
    try {
      return await work();
    } finally {
      beginNext();
    }
  };
}
