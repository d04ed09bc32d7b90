// The application: the edge, then every capability. Reading this file top to bottom is reading what
// the service does.

import { admitCallers, admitVisitors } from "./admit.ts";
import { auditRoutes } from "./audit/routes.ts";
import { keepExported } from "./checkpoints/make-checkpoints.ts";
import type { Book } from "./book/open-book.ts";
import type { Config } from "./config.ts";
import { creditRoutes } from "./credits/routes.ts";
import { creditLifecycle } from "./credits/rules.ts";
import { crossRoutes } from "./crosses/routes.ts";
import { crossLifecycle } from "./crosses/rules.ts";
import { deliveryRoutes } from "./deliveries/routes.ts";
import { deliveryLifecycle } from "./deliveries/rules.ts";
import { earningRoutes } from "./earnings/routes.ts";
import { eventRoutes } from "./events/routes.ts";
import type { Offboarding } from "./firms/offboard-firm.ts";
import { firmRoutes } from "./firms/routes.ts";
import { firmLifecycle } from "./firms/rules.ts";
import { noteMove } from "./groups/note-move.ts";
import { groupRoutes } from "./groups/routes.ts";
import { latestIndex } from "./indices.ts";
import { authenticator } from "./keys/authenticate.ts";
import { keyMemory } from "./keys/remember-keys.ts";
import { keyRoutes } from "./keys/routes.ts";
import { keyLifecycle } from "./keys/rules.ts";
import { keyWatcher } from "./keys/watch-keys.ts";
import { openFeed } from "./market/market-feed.ts";
import { marketRoutes } from "./market/routes.ts";
import { metaRoutes } from "./meta/routes.ts";
import { nettingRoutes } from "./netting/routes.ts";
import { noteRoutes } from "./notes/routes.ts";
import { offboarding as everySlice } from "./offboarding.ts";
import { tagAnswers } from "./platform/caching.ts";
import type { Context } from "./platform/context.ts";
import { allowOtherSites } from "./platform/cross-origin.ts";
import { docsPrefix, serveDocs } from "./platform/docs-page.ts";
import { healthRoutes } from "./platform/health.ts";
import { type App, createServer } from "./platform/http.ts";
import { logRequests } from "./platform/log.ts";
import { measureRequests, type Metrics } from "./platform/metrics.ts";
import { describeApi, serveOpenApi } from "./platform/openapi.ts";
import { booksOf } from "./orders/book-of-set.ts";
import { orderDesk } from "./orders/order-desk.ts";
import { orderRoutes } from "./orders/routes.ts";
import { orderLifecycle } from "./orders/rules.ts";
import { positionRoutes } from "./positions/routes.ts";
import { payoutRoutes } from "./payouts/routes.ts";
import { payoutLifecycle } from "./payouts/rules.ts";
import { quoteRoutes } from "./quotes/routes.ts";
import { quoteLifecycle } from "./quotes/rules.ts";
import { quoter } from "./quotes/take-quote.ts";
import type { Outbound } from "./platform/outbound.ts";
import { openStreams } from "./platform/sse.ts";
import { servePage } from "./platform/web-page.ts";
import { enquiryRoutes, rateIndexRoutes } from "./public/routes.ts";
import { type AddressWindows, spender } from "./public/spend-budget.ts";
import { requirementRoutes } from "./requirements/routes.ts";
import { confirmer, meter } from "./usage/meter-calls.ts";
import type { RateWindow } from "./usage/rate-window.ts";
import { passing } from "./passing.ts";
import { sandboxRoutes } from "./sandbox/routes.ts";
import { settlementRoutes } from "./settlement/routes.ts";
import { settlementLifecycle } from "./settlement/rules.ts";
import { statementRoutes } from "./statements/routes.ts";
import { settling } from "./settling.ts";
import { usageRoutes } from "./usage/routes.ts";
import { appliers, simulators } from "./workers.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import { webhookLifecycle } from "./webhooks/rules.ts";

export type AppOptions = {
  readonly ctx: Context;
  readonly config: Pick<
    Config,
    "trustProxy" | "tls" | "inFlightMax" | "publicBudgets" | "blockMinPaise" | "letterhead"
  >;
  readonly rateWindow: RateWindow;
  readonly book: Book;
  readonly addressWindows: AddressWindows;
  readonly metrics: Metrics;
  readonly outbound: Outbound;
  /** Aborted when the service was told to stop: from then on it is not ready. */
  readonly draining?: AbortSignal | undefined;
  /** What other slices say about a firm that leaves; all of them unless a test says otherwise. */
  readonly offboarding?: Offboarding | undefined;
};

export async function buildApp({
  ctx,
  config,
  rateWindow,
  book,
  addressWindows,
  metrics,
  outbound,
  draining,
  offboarding = everySlice,
}: AppOptions): Promise<App> {
  const app = createServer({ ...config, log: ctx.log, now: ctx.now, pagesUnder: docsPrefix });
  measureRequests(app, metrics);
  logRequests(app);
  tagAnswers(app);
  const authenticate = authenticator(ctx);
  admitCallers(app, {
    authenticate,
    memory: keyMemory(),
    meter: meter(ctx, rateWindow),
    confirm: confirmer(ctx, rateWindow),
    metrics,
  });
  const streams = openStreams(app, { deadAmong: keyWatcher(ctx, authenticate) });
  allowOtherSites(app, "/public");
  admitVisitors(app, spender(ctx, config.publicBudgets, addressWindows));
  await describeApi(app);

  healthRoutes(app, ctx, draining);
  serveOpenApi(app);
  metaRoutes(app, [
    keyLifecycle,
    firmLifecycle,
    creditLifecycle,
    quoteLifecycle,
    orderLifecycle,
    crossLifecycle,
    settlementLifecycle,
    payoutLifecycle,
    webhookLifecycle,
    deliveryLifecycle,
  ]);
  keyRoutes(app, ctx);
  usageRoutes(app, ctx);
  firmRoutes(app, { ...ctx, onMoved: noteMove }, offboarding);
  groupRoutes(app, ctx);
  requirementRoutes(app, ctx);
  nettingRoutes(app, ctx);
  creditRoutes(app, ctx);
  const takeQuote = quoter(ctx, book, metrics);
  quoteRoutes(app, ctx, takeQuote);
  orderRoutes(app, ctx, orderDesk(ctx, { books: booksOf(book), takeQuote, metrics }));
  crossRoutes(app, ctx, { blockMinPaise: config.blockMinPaise });
  positionRoutes(app, ctx);
  const market = { ...ctx, latestIndex };
  const feed = openFeed(market);
  app.addHook("onClose", () => feed.close());
  marketRoutes(app, market, { feed, streams });
  settlementRoutes(app, ctx, { simulators, appliers, settling });
  payoutRoutes(app, ctx);
  sandboxRoutes(app, ctx, { resetting: settling, passing });
  earningRoutes(app, ctx);
  statementRoutes(app, ctx, config.letterhead);
  noteRoutes(app, ctx, config.letterhead);
  eventRoutes(app, ctx, streams);
  auditRoutes(app, ctx, {
    deadAmong: keyWatcher(ctx, authenticate),
    onCheckpoint: async (line) => await keepExported(ctx, line),
  });
  webhookRoutes(app, ctx, outbound);
  deliveryRoutes(app, ctx);
  rateIndexRoutes(app, ctx);
  enquiryRoutes(app, ctx);
  serveDocs(app);
  await servePage(app);
  return app;
}
