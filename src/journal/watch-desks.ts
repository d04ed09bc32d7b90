// Wakes readers when a desk has new events, with one statement for all readers of the process.
//
//   waiter   a reader that waits until a desk's sequence passes a number
//   look     reads the sequences of all awaited desks at once: right after a commit of this process,
//            and a few times a second for commits of other processes

import type { Database } from "../platform/postgres/postgres.ts";
import { eventsTopic } from "./event-rules.ts";
import { findLastSequences } from "./event-store.ts";

export type DeskWatch = {
  /** Resolves to the desk's last sequence once it passes `after`, or to `after` when `ended` aborts. */
  past(deskId: string, after: number, ended: AbortSignal): Promise<number>;
};

type Waiter = { readonly after: number; readonly tell: (last: number) => void };

const lookMs = 250;

export function watchDesks(db: Database): DeskWatch {
  const waiting = new Map<string, Set<Waiter>>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let again = false;

  async function look(): Promise<void> {
    const last = await findLastSequences(db, [...waiting.keys()]);
    for (const { desk_id, last_sequence } of last) {
      for (const reader of waiting.get(desk_id) ?? []) {
        if (last_sequence > reader.after) reader.tell(last_sequence);
      }
    }
  }

  function lookNow(): void {
    again = looking;
    if (looking || waiting.size === 0) return;
    looking = true;
    clearTimeout(timer);
    void look()
      .catch(() => {}) // The next look may find the database again.
      .finally(() => {
        looking = false;
        if (again) lookNow();
        else if (waiting.size > 0) timer = setTimeout(lookNow, lookMs);
      });
  }

  db.onAnnounced(eventsTopic, lookNow);
  return {
    past: (deskId, after, ended) =>
      new Promise((resolve) => {
        const readers = waiting.get(deskId) ?? new Set();
        const leave = () => tell(after);
        const reader = { after, tell };
        function tell(last: number): void {
          ended.removeEventListener("abort", leave);
          readers.delete(reader);
          if (readers.size === 0) waiting.delete(deskId);
          resolve(last);
        }
        if (ended.aborted) {
          resolve(after);
          return;
        }
        ended.addEventListener("abort", leave);
        waiting.set(deskId, readers.add(reader));
        lookNow();
      }),
  };
}
