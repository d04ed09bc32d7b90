import type { Context } from "../platform/context.ts";
import { measureOnDemand, type Metrics } from "../platform/metrics.ts";
import { findBacklog } from "./chain-store.ts";

/** How far the sequencer is behind. */
export function measureChain({ db, now }: Pick<Context, "db" | "now">, metrics: Metrics): void {
  measureOnDemand(metrics, {
    name: "scripdesk_audit_chain_lag_seconds",
    help: "Age of the oldest audit record that has no place in its desk's chain yet, 0 without one",
    async read() {
      const { oldest_at: oldest } = await findBacklog(db, null);
      return oldest ? Math.max(0, (now().getTime() - oldest.getTime()) / 1_000) : 0;
    },
  });
}
