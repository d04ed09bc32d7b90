// The service with one defect: it answers before what it did is committed. The control of the kills
// of the service, and of nothing else.

import { setTimeout as sleep } from "node:timers/promises";

import { buildApp } from "../../src/app.ts";
import { openBook } from "../../src/book/open-book.ts";
import { readConfig } from "../../src/config.ts";
import { offerSources } from "../../src/offer-sources.ts";
import { openContext } from "../../src/open-context.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { openOutbound } from "../../src/platform/outbound.ts";
import type { Database } from "../../src/platform/postgres.ts";
import { localAddressWindows } from "../../src/public/spend-budget.ts";
import { localRateWindow } from "../../src/usage/rate-window.ts";

const commitDelayMs = 250;

function hasty(db: Database): Database {
  return {
    ...db,
    transaction: async (work, options) =>
      await new Promise((resolve, reject) => {
        db.transaction(async (tx) => {
          const result = await work(tx);
          resolve(result);
          await sleep(commitDelayMs);
          return result;
        }, options).catch(reject);
      }),
  };
}

const config = readConfig(process.env);
const { log } = createLog("silent");
const opened = await openContext(config, {
  as: "service",
  create: true,
  log,
  now: () => new Date(),
});
const ctx = { ...opened.ctx, db: hasty(opened.ctx.db) };
const elapsedMs = () => performance.now();
const app = await buildApp({
  ctx,
  config,
  rateWindow: localRateWindow(elapsedMs),
  addressWindows: localAddressWindows(elapsedMs),
  outbound: openOutbound({ allowCidrs: [] }),
  book: openBook(ctx, offerSources),
  metrics: createMetrics(ctx.db),
});
const url = await app.listen({ host: "127.0.0.1", port: config.port });
process.stdout.write(`scripdesk listens on ${url}\n`);
process.once("SIGTERM", () => {
  void app
    .close()
    .then(() => opened.close())
    .then(() => process.exit(0));
});
