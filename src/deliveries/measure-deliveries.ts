import { Gauge, type Registry } from "prom-client";

import type { Context } from "../platform/context.ts";
import { type Backlog, findBacklog } from "./store-lists.ts";

/** What waits, for how long, and what was given up: read from the database when it is asked for. */
export function measureDeliveries(
  { db, now, log }: Pick<Context, "db" | "now" | "log">,
  { registry }: { readonly registry: Registry },
): void {
  let reading: Promise<Backlog | undefined> | undefined;

  /** All gauges of one look share one statement. */
  async function look(): Promise<Backlog | undefined> {
    reading ??= findBacklog(db, now())
      .catch((error: unknown) => {
        log.warn({ err: error }, "the backlog of webhooks could not be counted");
        return undefined;
      })
      .finally(() => (reading = undefined));
    return await reading;
  }

  function gauge(name: string, help: string, valueOf: (backlog: Backlog) => number): void {
    const made: Gauge = new Gauge({
      name: `scripdesk_webhook_${name}`,
      help,
      registers: [registry],
      async collect() {
        const backlog = await look();
        if (backlog) made.set(valueOf(backlog));
      },
    });
  }

  gauge("deliveries_due", "Deliveries whose next attempt is due and not begun", ({ due }) => due);
  gauge("deliveries_dead", "Deliveries that were given up", ({ dead }) => dead);
  gauge(
    "events_behind",
    "Events that have not become deliveries yet, counted for each subscription",
    ({ unfanned }) => unfanned,
  );
  gauge(
    "lag_seconds",
    "How long the delivery that is due longest has been waiting for its attempt",
    ({ oldest_due_at: oldest }) => (oldest ? (now().getTime() - oldest.getTime()) / 1_000 : 0),
  );
}
