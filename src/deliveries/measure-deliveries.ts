import { Gauge, type Registry } from "prom-client";

import type { Context } from "../platform/context.ts";
import { findBacklog } from "./store-lists.ts";

/** What waits, for how long, and what was given up: read from the database when it is asked for. */
export function measureDeliveries(
  { db, now, log }: Pick<Context, "db" | "now" | "log">,
  { registry }: { readonly registry: Registry },
): void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `scripdesk_webhook_${name}`, help, registers: [registry] });
  const due = gauge("deliveries_due", "Deliveries whose next attempt is due and not yet begun");
  const dead = gauge("deliveries_dead", "Deliveries that were given up and can be replayed");
  const unfanned = gauge(
    "events_behind",
    "Events that have not become deliveries, by subscription",
  );
  const lag: Gauge = new Gauge({
    name: "scripdesk_webhook_lag_seconds",
    help: "How long the longest due delivery has been waiting for its attempt",
    registers: [registry],
    async collect() {
      const at = now();
      const backlog = await findBacklog(db, at).catch((error: unknown) => {
        log.warn({ err: error }, "the backlog of webhooks could not be counted");
      });
      if (!backlog) return;
      due.set(backlog.due);
      dead.set(backlog.dead);
      unfanned.set(backlog.unfanned);
      const oldest = backlog.oldest_due_at ?? at;
      lag.set(Math.max(0, (at.getTime() - oldest.getTime()) / 1_000));
    },
  });
}
