import type { Db } from "../platform/postgres/postgres.ts";
import {
  type EventNumber,
  findEventsNear,
  type FindEvent,
  type FoundEvent,
} from "./find-events.ts";

/**
 * Finds events by their numbers, and keeps those that it read last and their neighbours. An event never
 * changes, and what is sent next is mostly beside what was sent before, or the same for another receiver.
 */
export function keepRecentEvents(
  most: number,
): (db: Db, numbers: readonly EventNumber[]) => Promise<FindEvent> {
  const kept = new Map<string, FoundEvent>();
  const name = ({ desk_id, sequence }: EventNumber) => `${desk_id} ${sequence}`;

  function keep(events: readonly FoundEvent[]): void {
    for (const event of events) kept.set(name(event), event);
    // A map keeps its order, so the first ones were read longest ago.
    for (const oldest of kept.keys()) {
      if (kept.size <= most) return;
      kept.delete(oldest);
    }
  }

  return async (db, numbers) => {
    const known = new Map<string, FoundEvent>();
    const missing = new Map<string, EventNumber>();
    for (const number of numbers) {
      const event = kept.get(name(number));
      if (event) known.set(name(number), event);
      else missing.set(name(number), number);
    }
    if (missing.size > 0) {
      const found = await findEventsNear(db, [...missing.values()]);
      for (const event of found) known.set(name(event), event);
      keep(found);
    }
    return (number) => known.get(name(number));
  };
}
