import type { Environment } from "./caller.ts";

/**
 * How far a sandbox desk's clock may be ahead: ten years, five lives of a credit. Dates stay dates, and
 * the months that are closed early are few.
 */
export const clockAheadMaxS = 315_576_000;

/** What a sandbox desk's clock shows. */
export function readDeskClock(now: Date, aheadS: number): Date {
  return new Date(now.getTime() + Math.min(aheadS, clockAheadMaxS) * 1_000);
}

/**
 * An advance of one sandbox desk's clock. It moves the desk's deadlines earlier; the clock of the
 * service, which all desks and their market share, does not change.
 */
export type ClockAdvance = {
  readonly environment: Environment;
  readonly deskId: string;
  readonly seconds: number;
  /** The number of midnights passed, for deadlines that are days. */
  readonly days: number;
  /** What was made later keeps its deadlines. */
  readonly now: Date;
};

/** Where a set of rows begins, and how many it has at most. */
export type Cursor = {
  /** The key of the last row before; empty at the beginning. */
  readonly after: string;
  readonly limit: number;
};

/** What a set moved or ended. */
export type MovedSet = {
  readonly count: number;
  /** The key of the last row; undefined when nothing is left. */
  readonly next: string | undefined;
};

/** Of keys in the order of their rows. */
export function toMovedSet(keys: readonly string[], { limit }: Cursor): MovedSet {
  return { count: keys.length, next: keys.length < limit ? undefined : keys.at(-1) };
}
