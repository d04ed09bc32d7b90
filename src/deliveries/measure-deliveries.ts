import type { Context } from "../platform/context.ts";
import { measureOnDemand, type Metrics } from "../platform/metrics.ts";
import { type Backlog, findBacklog } from "./lists-store.ts";

/** What waits, for how long, and what was given up: read from the database when it is asked for. */
export function measureDeliveries(
  { db, now }: Pick<Context, "db" | "now">,
  metrics: Metrics,
): void {
  let reading: Promise<Backlog> | undefined;

  /** All gauges of one look share one statement. */
  async function look(): Promise<Backlog> {
    reading ??= findBacklog(db, now()).finally(() => (reading = undefined));
    return await reading;
  }

  function measure(name: string, help: string, valueOf: (backlog: Backlog) => number): void {
    measureOnDemand(metrics, {
      name: `scripdesk_webhook_${name}`,
      help,
      read: async () => valueOf(await look()),
    });
  }

  measure("deliveries_due", "Deliveries whose next attempt is due and not begun", ({ due }) => due);
  measure("deliveries_dead", "Deliveries that were given up", ({ dead }) => dead);
  measure(
    "events_behind",
    "Events that have not become deliveries yet, counted for each subscription",
    ({ unfanned }) => unfanned,
  );
  measure(
    "lag_seconds",
    "How long the delivery that is due longest has been waiting for its attempt",
    ({ oldest_due_at: oldest }) => (oldest ? (now().getTime() - oldest.getTime()) / 1_000 : 0),
  );
}
