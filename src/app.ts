// The application: the edge, then every capability. Reading this file top to bottom is reading what
// the service does.

import { admitCallers, readmitter } from "./admit.ts";
import type { Config } from "./config.ts";
import { creditRoutes } from "./credits/routes.ts";
import { creditLifecycle } from "./credits/rules.ts";
import { deliveryRoutes } from "./deliveries/routes.ts";
import { deliveryLifecycle } from "./deliveries/rules.ts";
import { eventRoutes } from "./events/routes.ts";
import type { Offboarding } from "./firms/offboard-firm.ts";
import { firmRoutes } from "./firms/routes.ts";
import { firmLifecycle } from "./firms/rules.ts";
import { groupRoutes } from "./groups/routes.ts";
import { authenticator } from "./keys/authenticate.ts";
import { keyRoutes } from "./keys/routes.ts";
import { keyLifecycle } from "./keys/rules.ts";
import { metaRoutes } from "./meta/routes.ts";
import { offboarding as everySlice } from "./offboarding.ts";
import type { Context } from "./platform/context.ts";
import { docsPrefix, serveDocs } from "./platform/docs-page.ts";
import { healthRoutes } from "./platform/health.ts";
import { type App, createServer } from "./platform/http.ts";
import { logRequests } from "./platform/log.ts";
import { measureRequests, type Metrics } from "./platform/metrics.ts";
import { describeApi, serveOpenApi } from "./platform/openapi.ts";
import type { Outbound } from "./platform/outbound.ts";
import { openStreams } from "./platform/sse.ts";
import { requirementRoutes } from "./requirements/routes.ts";
import { meter } from "./usage/meter-calls.ts";
import type { RateWindow } from "./usage/rate-window.ts";
import { usageRoutes } from "./usage/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import { webhookLifecycle } from "./webhooks/rules.ts";

export type AppOptions = {
  readonly ctx: Context;
  readonly config: Pick<Config, "trustProxy" | "tls" | "inFlightMax">;
  readonly rateWindow: RateWindow;
  readonly metrics: Metrics;
  readonly outbound: Outbound;
  /** What other slices say about a firm that leaves; all of them unless a test says otherwise. */
  readonly offboarding?: Offboarding | undefined;
};

export async function buildApp({
  ctx,
  config,
  rateWindow,
  metrics,
  outbound,
  offboarding = everySlice,
}: AppOptions): Promise<App> {
  const app = createServer({ ...config, log: ctx.log, now: ctx.now, pagesUnder: docsPrefix });
  measureRequests(app, metrics);
  logRequests(app);
  const authenticate = authenticator(ctx, metrics);
  admitCallers(app, authenticate, meter(ctx, rateWindow, metrics));
  const streams = openStreams(app, { isStillGood: readmitter(authenticate) });
  await describeApi(app);

  healthRoutes(app, ctx);
  serveOpenApi(app);
  metaRoutes(app, [
    keyLifecycle,
    firmLifecycle,
    creditLifecycle,
    webhookLifecycle,
    deliveryLifecycle,
  ]);
  keyRoutes(app, ctx);
  usageRoutes(app, ctx);
  firmRoutes(app, ctx, offboarding);
  groupRoutes(app, ctx);
  requirementRoutes(app, ctx);
  creditRoutes(app, ctx);
  eventRoutes(app, ctx, streams);
  webhookRoutes(app, ctx, outbound);
  deliveryRoutes(app, ctx);
  await serveDocs(app);
  return app;
}
