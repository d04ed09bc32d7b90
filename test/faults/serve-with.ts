import type { Server } from "node:http";

import { buildApp } from "../../src/app.ts";
import { buildOpsApp } from "../../src/ops-app.ts";
import { startWorker } from "../../src/platform/worker.ts";
import type { SenderShares } from "../../src/webhooks/share-rules.ts";
import { listWorkers } from "../../src/workers.ts";
import { openBook } from "../../src/trading/book.ts";
import { readConfig } from "../../src/config.ts";
import { offerSources } from "../../src/hooks.ts";
import { openContext } from "../../src/open-context.ts";
import type { Context } from "../../src/platform/context.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { openOutbound } from "../../src/platform/outbound.ts";
import { localAddressWindows } from "../../src/market/address-budgets.ts";
import { openLocalRateWindow } from "../../src/access/rate-window.ts";

type Defects = {
  readonly breakServer?: (server: Server, ctx: Context) => void;
  /** What workers and operators' listener there are besides: the senders share like this. */
  readonly shares?: SenderShares;
};

/** Serves the API with a defect, and without workers unless they have one: the control of a fault run. */
export async function serveWith(
  defect: (ctx: Context) => Context,
  { breakServer, shares }: Defects = {},
): Promise<void> {
  const config = readConfig(process.env);
  const { log } = createLog("silent");
  const opened = await openContext(config, {
    as: "service",
    create: true,
    log,
    now: () => new Date(),
  });
  const ctx = defect(opened.ctx);
  const elapsedMs = () => performance.now();
  const outbound = openOutbound({ allowCidrs: config.webhookAllowCidrs });
  const book = openBook(ctx, offerSources);
  const metrics = createMetrics(ctx.db);
  const app = await buildApp({
    ctx,
    config,
    rateWindow: openLocalRateWindow(elapsedMs),
    addressWindows: localAddressWindows(elapsedMs),
    outbound,
    book,
    metrics,
  });
  breakServer?.(app.server, ctx);
  const url = await app.listen({ host: "127.0.0.1", port: config.port });
  if (shares) {
    const webhooks = { outbound, scheduleS: config.webhookScheduleS, shares };
    const { letterhead } = config;
    for (const { wakeOn, ...work } of listWorkers(ctx, { book, webhooks, letterhead })) {
      const worker = startWorker({ ...work, log });
      if (wakeOn) ctx.db.onAnnounced(wakeOn, worker.wake);
    }
    const window = openLocalRateWindow(elapsedMs);
    const opsApp = await buildOpsApp({ ctx, metrics, window, config });
    const opsUrl = await opsApp.listen({ host: config.opsHost, port: config.opsPort ?? 0 });
    process.stdout.write(`console for operators on ${opsUrl}/console\n`);
  }
  process.stdout.write(`scripdesk listens on ${url}\n`);
  process.once("SIGTERM", () => {
    if (shares) process.exit(0);
    void app
      .close()
      .then(() => opened.close())
      .then(() => process.exit(0));
  });
}
