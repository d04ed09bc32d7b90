// Splits a set that fails in halves, down to the item that causes the error. A set may be retried only
// when nothing of it was committed: when the error was thrown before COMMIT was sent, by our code or
// by the database, or when the server refused the COMMIT. Such errors are marked where they are thrown
// (`noteRolledBack`).

export type ItemResult<Result> = Result | Error;

export type SetAttempt = {
  /** Whether these items are part of a set that failed. */
  readonly isPart: boolean;
  /** Whether they met locked rows before and are refused if they meet them again. */
  readonly isLast?: boolean;
};

/** Returns a result or an Error for each item, in order. */
export type SetWork<Item, Result> = (
  items: readonly Item[],
  attempt: SetAttempt,
) => Promise<readonly ItemResult<Result>[]>;

/** A set that has taken longer than this is not split further: its callers would time out. */
const splittingMaxMs = 3_000;

const rolledBack = new WeakSet();

/** Marks an error: nothing of the work that it ended was committed. */
export function noteRolledBack(error: unknown): void {
  if (typeof error === "object" && error !== null) rolledBack.add(error);
}

export function wasRolledBack(error: unknown): boolean {
  return typeof error === "object" && error !== null && rolledBack.has(error);
}

/** Another transaction locks the rows; they were not waited for and nothing was changed. */
export class RowsHeld extends Error {
  constructor() {
    super("another transaction locks the rows");
    noteRolledBack(this);
  }
}

/** Runs work that writes nothing, such as pricing: a set that throws may be retried. */
export async function withoutWriting<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    noteRolledBack(error);
    throw error;
  }
}

/** Returns the outcome of every item; a set that throws is split while `mayRetry` allows it. */
export async function workInHalves<Item, Result>(
  work: SetWork<Item, Result>,
  items: readonly Item[],
  mayRetry: (error: unknown) => boolean = wasRolledBack,
  attempt: SetAttempt = { isPart: false },
): Promise<readonly ItemResult<Result>[]> {
  const startedMs = performance.now();

  async function half(
    part: readonly Item[],
    ofPart: SetAttempt,
  ): Promise<readonly ItemResult<Result>[]> {
    let outcomes: readonly ItemResult<Result>[];
    try {
      outcomes = await work(part, ofPart);
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

  async function inHalves(part: readonly Item[]): Promise<readonly ItemResult<Result>[]> {
    const middle = Math.ceil(part.length / 2);
    const first = await half(part.slice(0, middle), { isPart: true });
    return [...first, ...(await half(part.slice(middle), { isPart: true }))];
  }

  return await half(items, attempt);
}
