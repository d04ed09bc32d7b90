// Gauges that are read from the database when somebody asks for metrics.

import { measureStatements } from "./bankbook/watch-deadlines.ts";
import { countUnsentCheckpoints } from "./journal/checkpoints.ts";
import { ledgerIsSound } from "./ledger/check-ledger.ts";
import { measureNotices } from "./notices/read-notices.ts";
import { countWaitingApprovals } from "./operators/list-approvals.ts";
import { measureBusiness } from "./overview/measure-business.ts";
import type { Context } from "./platform/context.ts";
import { measureOnDemand, type Metrics } from "./platform/metrics.ts";
import { measureDeliveries } from "./webhooks/read-deliveries.ts";

export function measureService(ctx: Context, metrics: Metrics): void {
  measureOnDemand(metrics, {
    name: "scripdesk_ledger_sound",
    help: "1 while the last check of the ledger found nothing and is recent, 0 otherwise",
    read: async () => Number(await ledgerIsSound(ctx.db, ctx.now())),
  });
  measureOnDemand(metrics, {
    name: "scripdesk_audit_checkpoints_waiting",
    help: "Checkpoints of the audit trail that have not gone out yet",
    read: async () => await countUnsentCheckpoints(ctx),
  });
  measureOnDemand(metrics, {
    name: "scripdesk_approvals_waiting",
    help: "Proposals that wait for a second person",
    read: async () => await countWaitingApprovals(ctx),
  });
  measureStatements(ctx, metrics);
  measureDeliveries(ctx, metrics);
  measureNotices(ctx, metrics);
  measureBusiness(ctx, metrics);
}
