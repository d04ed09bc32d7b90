import type { ClockAdvance, MovedSet } from "../kernel/clock-advance.ts";
import { clockAheadMaxS } from "../kernel/clock-advance.ts";
import { Failure } from "../kernel/failure.ts";
import { dayMs, istDay } from "../kernel/time.ts";

/** Whose deadlines an advance moves, in this order. */
const movedRooms = [
  "quotes",
  "payouts",
  "settlements",
  "crosses",
  "holds",
  "credits",
  "requirements",
  "orders",
] as const;
type MovedRoom = (typeof movedRooms)[number];

/** What an advance has moved, and where its next set begins. */
export type ClockMove = {
  readonly seconds: number;
  readonly days: number;
  /** What was made later keeps its deadlines. */
  readonly begun_at: string;
  /** Null when all rooms are done. */
  readonly room: MovedRoom | null;
  readonly after: string;
  readonly brought_nearer: Readonly<Record<MovedRoom, number>>;
};

const nothingMoved: ClockMove["brought_nearer"] = {
  quotes: 0,
  payouts: 0,
  settlements: 0,
  crosses: 0,
  holds: 0,
  credits: 0,
  requirements: 0,
  orders: 0,
};

/** The move of a clock that is put forward so as to show this time. */
export function beginMove(seconds: number, shown: Date, now: Date): ClockMove {
  return {
    seconds,
    days: countMidnights(new Date(shown.getTime() - seconds * 1_000), shown),
    begun_at: now.toISOString(),
    room: movedRooms[0],
    after: "",
    brought_nearer: nothingMoved,
  };
}

/** The move after a set of its room: the next set, or the next room. */
export function continueMove(
  move: ClockMove,
  room: MovedRoom,
  { count, next }: MovedSet,
): ClockMove {
  // A move that an earlier version began names fewer rooms.
  const before = { ...nothingMoved, ...move.brought_nearer };
  const brought_nearer = { ...before, [room]: before[room] + count };
  if (next !== undefined) return { ...move, brought_nearer, after: next };
  const following = movedRooms[movedRooms.indexOf(room) + 1] ?? null;
  return { ...move, brought_nearer, room: following, after: "" };
}

export function toClockAdvance(
  { seconds, days, begun_at }: ClockMove,
  { environment, deskId }: Pick<ClockAdvance, "environment" | "deskId">,
): ClockAdvance {
  return { environment, deskId, seconds, days, now: new Date(begun_at) };
}

export function clockTooFar(aheadS: number): Failure {
  return new Failure("conflict", "a desk's clock goes at most ten years ahead of real time", {
    detail: { reason: "clock_too_far", ahead_s: aheadS, ahead_max_s: clockAheadMaxS },
  });
}

export function clockInUse(): Failure {
  return new Failure("conflict", "other calls are advancing this clock", {
    detail: { reason: "clock_in_use" },
  });
}

/** The number of IST midnights after one instant, up to another. */
function countMidnights(from: Date, to: Date): number {
  return (Date.parse(istDay(to)) - Date.parse(istDay(from))) / dayMs;
}
