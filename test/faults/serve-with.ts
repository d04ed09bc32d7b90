import type { Server } from "node:http";

import { buildApp } from "../../src/app.ts";
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

/** Serves the API with a defect and without workers: the control of a fault run. */
export async function serveWith(
  defect: (ctx: Context) => Context,
  breakServer?: (server: Server) => void,
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
  const app = await buildApp({
    ctx,
    config,
    rateWindow: openLocalRateWindow(elapsedMs),
    addressWindows: localAddressWindows(elapsedMs),
    outbound: openOutbound({ allowCidrs: [] }),
    book: openBook(ctx, offerSources),
    metrics: createMetrics(ctx.db),
  });
  breakServer?.(app.server);
  const url = await app.listen({ host: "127.0.0.1", port: config.port });
  process.stdout.write(`scripdesk listens on ${url}\n`);
  process.once("SIGTERM", () => {
    void app
      .close()
      .then(() => opened.close())
      .then(() => process.exit(0));
  });
}
