// A set that fails is split in halves until whoever is to blame stands alone. It may be, when nothing
// of it was kept: whatever was thrown before COMMIT was sent, by our code or by the database, and what
// the server refused. The error carries that knowledge from where it was thrown to where it is judged.

export type Outcome<Result> = Result | Error;

export type Attempt = {
  /** Whether these items have failed before, among others. */
  readonly isPart: boolean;
};

/** Answers each item by itself, with a result or with the Error that is its own. */
export type SetWork<Item, Result> = (
  items: readonly Item[],
  attempt: Attempt,
) => Promise<readonly Outcome<Result>[]>;

/** A set that has taken longer than this is not split any further: its callers would not wait. */
const splittingMaxMs = 3_000;

const unkept = new WeakSet();

/** Says of an error that nothing of the work that it ended was kept. */
export function noteNothingKept(error: unknown): void {
  if (typeof error === "object" && error !== null) unkept.add(error);
}

export function keptNothing(error: unknown): boolean {
  return typeof error === "object" && error !== null && unkept.has(error);
}

/** Somebody else holds rows that were not waited for, and so nothing was done with them. */
export class RowsHeld extends Error {
  constructor() {
    super("somebody else holds what this needs");
    noteNothingKept(this);
  }
}

/** Runs what keeps nothing, such as a price that is worked out: whatever it throws may be tried again. */
export async function withoutKeeping<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    noteNothingKept(error);
    throw error;
  }
}

/** The outcome of every item; a set that throws is split as long as nothing of it was kept. */
export async function workInHalves<Item, Result>(
  work: SetWork<Item, Result>,
  items: readonly Item[],
  mayRetry: (error: unknown) => boolean = keptNothing,
  { isPart }: Attempt = { isPart: false },
): Promise<readonly Outcome<Result>[]> {
  const startedMs = performance.now();

  async function half(
    part: readonly Item[],
    attempt: Attempt,
  ): Promise<readonly Outcome<Result>[]> {
    let outcomes: readonly Outcome<Result>[];
    try {
      outcomes = await work(part, attempt);
    } catch (error) {
      const isLate = performance.now() - startedMs > splittingMaxMs;
      if (part.length > 1 && !isLate && mayRetry(error)) return await inHalves(part);
      const fault = error instanceof Error ? error : new Error(String(error));
      return part.map(() => fault);
    }
    if (outcomes.length === part.length) return outcomes;
    const fault = new Error("a set must answer every item once");
    return part.map(() => fault);
  }

  async function inHalves(part: readonly Item[]): Promise<readonly Outcome<Result>[]> {
    const middle = Math.ceil(part.length / 2);
    const first = await half(part.slice(0, middle), { isPart: true });
    return [...first, ...(await half(part.slice(middle), { isPart: true }))];
  }

  return await half(items, { isPart });
}
