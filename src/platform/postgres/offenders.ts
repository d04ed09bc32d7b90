// What a worker could not do. A worker claims a set and works on it in one transaction; when that fails
// and nothing was kept, the set is claimed again in halves until the offender stands alone:
//
//   set aside   with its id in the log; the next runs leave it out, for a second at first and twice as
//               long each time it fails again, so that it stops nobody behind it
//   passing     what will be over by itself, such as a row that a caller holds or a full disk: nothing
//               is noted, and the next run finds it again
//
// Each process learns for itself, and one that starts anew tries everything once.

import type { FastifyBaseLogger } from "fastify";

import { isPassing, sql, type Tx } from "./postgres.ts";
import { keptNothing } from "./split.ts";

const firstPauseMs = 1_000;
const pauseMaxMs = 60_000;
/** Whoever was set aside longest ago is forgotten when there are more. */
const offendersMax = 1_000;

/** Which of what is due a run may claim. */
export type Choice = {
  /** Null where all of it may be. */
  readonly only: readonly string[] | null;
  readonly except: readonly string[];
};

export type Offenders = {
  /** Those that are left out now. */
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

/** For who runs a worker's piece once. */
export function noOffenders(): Offenders {
  return keepOffenders({ worker: "once" });
}

/**
 * Runs a worker's piece in one transaction, or in parts of it. The piece says what it has claimed before
 * it works on it, and answers with how many it has done; whom it sets aside counts as done.
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
      if (first === undefined || !keptNothing(error)) throw error;
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

/** Works on one after the other; one that fails is set aside and keeps nobody from those behind it. */
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
      if (!keptNothing(error)) others.push(error);
      else if (!isPassing(error)) offenders.note(item, error);
    }
  }
  if (others.length > 0) throw others[0];
  return done;
}

/**
 * A worker and a caller may lock the same rows in opposite orders. The worker's lock timeout is far
 * shorter than PostgreSQL's deadlock check (1 s), so that the worker gives up and never the caller.
 */
export async function yieldToCallers(tx: Tx): Promise<void> {
  await tx.rows(sql`set local lock_timeout = '250ms'`);
}
