// Keeps one failing item from blocking a worker. A worker claims a set and works on it in one
// transaction; when that fails and nothing was committed, the set is claimed again in halves, down to
// the item that fails (the offender):
//
//   set aside   its id is logged, and the next runs leave it out: for a second at first, and twice as
//               long each time it fails again, up to a minute
//   passing     errors that end by themselves, such as a locked row or a full disk, are not noted; the
//               next run claims the item again
//
// Offenders are kept in memory, so every process finds them by itself.

import type { FastifyBaseLogger } from "fastify";

import { command, isPassing, sql, type Tx } from "./postgres.ts";
import { wasRolledBack } from "./split.ts";

const firstPauseMs = 1_000;
const pauseMaxMs = 60_000;
/** Beyond this number, the offender set aside longest ago is forgotten. */
const offendersMax = 1_000;

/** Which due items a run may claim. */
export type Choice = {
  /** The ids to claim; null for any. */
  readonly only: readonly string[] | null;
  readonly except: readonly string[];
};

export type Offenders = {
  /** The ids to leave out now. */
  ids(): readonly string[];
  note(id: string, error: unknown): void;
};

export function keepOffenders({
  worker,
  log,
  onSetAside,
}: {
  readonly worker: string;
  readonly log?: FastifyBaseLogger | undefined;
  readonly onSetAside?: ((worker: string) => void) | undefined;
}): Offenders {
  const known = new Map<string, { readonly pauseMs: number; readonly untilMs: number }>();
  return {
    ids() {
      const nowMs = performance.now();
      return [...known].flatMap(([id, { untilMs }]) => (untilMs > nowMs ? [id] : []));
    },
    note(id, error) {
      const last = known.get(id)?.pauseMs ?? firstPauseMs / 2;
      const pauseMs = Math.min(2 * last, pauseMaxMs);
      known.delete(id);
      known.set(id, { pauseMs, untilMs: performance.now() + pauseMs });
      const [oldest] = known.keys();
      if (known.size > offendersMax && oldest !== undefined) known.delete(oldest);
      log?.error({ worker, id, pause_ms: pauseMs, err: error }, "worker set something aside");
      onSetAside?.(worker);
    },
  };
}

/** For callers that run a worker's piece once. */
export function noOffenders(): Offenders {
  return keepOffenders({ worker: "once" });
}

/**
 * Runs a worker's piece in one transaction, or in parts when that fails. The piece reports the ids that
 * it has claimed before it works on them, and returns how many it has done; an item that is set aside
 * counts as done.
 */
export async function workInParts(
  offenders: Offenders,
  piece: (choice: Choice, claimed: (ids: readonly string[]) => void) => Promise<number>,
  { passes = isPassing }: { readonly passes?: (error: unknown) => boolean } = {},
): Promise<number> {
  async function part(only: readonly string[] | null): Promise<number> {
    let claimed: readonly string[] = [];
    try {
      const choice = { only, except: offenders.ids() };
      return await piece(choice, (ids) => (claimed = ids));
    } catch (error) {
      const [first] = claimed;
      if (first === undefined || !wasRolledBack(error)) throw error;
      if (claimed.length > 1) {
        const middle = Math.ceil(claimed.length / 2);
        return (await part(claimed.slice(0, middle))) + (await part(claimed.slice(middle)));
      }
      if (passes(error)) return 0;
      offenders.note(first, error);
      return 1;
    }
  }
  return await part(null);
}

/** Works on items one after the other; one that fails is set aside and does not stop the others. */
export async function workOneByOne<Item extends string>(
  offenders: Offenders,
  items: readonly Item[],
  work: (item: Item) => Promise<number>,
): Promise<number> {
  const left = new Set(offenders.ids());
  const others: unknown[] = [];
  let done = 0;
  for (const item of items) {
    if (left.has(item)) continue;
    try {
      done += await work(item);
    } catch (error) {
      if (!wasRolledBack(error)) others.push(error);
      else if (!isPassing(error)) offenders.note(item, error);
    }
  }
  if (others.length > 0) throw others[0];
  return done;
}

/** Works on items one after the other; an error of one is thrown when the others are done. */
export async function workOnEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<number>,
): Promise<number> {
  const faults: unknown[] = [];
  let done = 0;
  for (const item of items) {
    try {
      done += await work(item);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return done;
}

/**
 * A worker and a caller may lock the same rows in opposite orders. The worker's lock timeout is
 * shorter than PostgreSQL's deadlock check (1 s), so the worker gives up and not the caller.
 */
export function yieldToCallers(tx: Tx): void {
  tx.defer(command(sql`set local lock_timeout = '250ms'`));
}
