// The application: admission, then the routes of every room. This file lists all that the service serves.

import { admitCallers, admitVisitors } from "./admit.ts";
import { exportsPerKeyMax, journalOperations } from "./journal/routes.ts";
import { watchDesks } from "./journal/watch-desks.ts";
import { storeExportCheckpoint } from "./journal/checkpoints.ts";
import type { Lifecycle } from "./kernel/lifecycle.ts";
import type { Book } from "./trading/book.ts";
import type { Config } from "./config.ts";
import { creditOperations } from "./credits/routes.ts";
import { creditLifecycle } from "./credits/rules.ts";
import { crossOperations } from "./crosses/routes.ts";
import { crossLifecycle } from "./crosses/rules.ts";
import { webhookOperations } from "./webhooks/routes.ts";
import { deliveryLifecycle } from "./webhooks/delivery-rules.ts";
import { positionOperations, reportOperations } from "./reports/routes.ts";
import type { Offboarding } from "./firms/offboard-firm.ts";
import { firmOperations } from "./firms/routes.ts";
import { firmLifecycle } from "./firms/rules.ts";
import { noteMove } from "./firms/groups.ts";
import {
  latestIndex,
  offboarding as everySlice,
  onIdentityChanged,
  settlementHooks,
  timeHooks,
} from "./hooks.ts";
import { openAuthenticator, openKeyWatcher } from "./access/authenticate.ts";
import type { HousePapers } from "./platform/pages/house-page.ts";
import { keyMemory } from "./access/remember-keys.ts";
import { accessOperations } from "./access/routes.ts";
import { keyLifecycle } from "./access/key-rules.ts";
import { openFeed } from "./market/stream-market.ts";
import { marketOperations, metaOperations } from "./market/routes.ts";
import { nettingOperations } from "./netting/routes.ts";
import { optOutRoutes } from "./notices/routes.ts";
import { watchContact } from "./notices/watch-contacts.ts";
import { loadOptOutPage } from "./notices/templates.ts";
import { tagAnswers } from "./platform/http/caching.ts";
import type { Context } from "./platform/context.ts";
import { compressAnswers } from "./platform/http/compression.ts";
import { allowOtherSites } from "./platform/http/cross-origin.ts";
import { serveDocs } from "./platform/pages/docs-page.ts";
import { healthRoutes } from "./platform/http/health.ts";
import { negotiateFormats } from "./platform/http/negotiate.ts";
import { type App, createServer } from "./platform/http/server.ts";
import { logRequests } from "./platform/log.ts";
import { openRecorder, recordRequests } from "./requests/record-requests.ts";
import { requestOperations } from "./requests/routes.ts";
import { measureRequests, type Metrics } from "./platform/metrics.ts";
import { type DocumentParts, serveOpenApi } from "./platform/http/openapi.ts";
import { openBookSessions } from "./trading/book-session.ts";
import { openOrderDesk } from "./trading/order-desk.ts";
import { orderLifecycle } from "./trading/order-rules.ts";
import { openLines } from "./platform/http/ndjson.ts";
import {
  type DeskWiring,
  type Operation,
  serve,
  type VisitorWiring,
} from "./platform/http/operation.ts";
import { deskApprovalOperations } from "./deskapprovals/routes.ts";
import { fundingOperations } from "./funding/routes.ts";
import { payoutOperations } from "./payouts/routes.ts";
import { payoutLifecycle } from "./payouts/rules.ts";
import { createOrderReader, findCovers } from "./trading/read-orders.ts";
import { tradingOperations } from "./trading/routes.ts";
import { quoteLifecycle } from "./trading/quote-rules.ts";
import { createQuoter } from "./trading/quotes.ts";
import type { Outbound } from "./platform/outbound.ts";
import { openStreams } from "./platform/http/sse.ts";
import { servePage } from "./platform/pages/web-page.ts";
import { publicOperations } from "./market/public-routes.ts";
import { createRatesBoard } from "./market/rates-board.ts";
import { type AddressWindows, createBudgets } from "./market/address-budgets.ts";
import { openConfirmer, openMeter } from "./access/meter-calls.ts";
import { deskApprovalLifecycle } from "./secondkeys/rules.ts";
import type { RateWindow } from "./access/rate-window.ts";
import { sandboxOperations } from "./sandbox/routes.ts";
import { settlementOperations } from "./settlement/routes.ts";
import { settlementLifecycle } from "./settlement/rules.ts";
import { appliers, simulators } from "./workers.ts";
import { webhookLifecycle } from "./webhooks/rules.ts";
import { answerExamples, bodyExamples } from "./body-examples.ts";
import { describeWebhooks } from "./event-payloads.ts";
import { reasonsByOperation } from "./refusal-reasons.ts";
import { quoteKinds } from "./trading/schema.ts";

export type AppOptions = {
  readonly ctx: Context;
  readonly config: Pick<
    Config,
    | "trustProxy"
    | "tls"
    | "inFlightMax"
    | "publicBudgets"
    | "blockMinPaise"
    | "letterhead"
    | "imprint"
  >;
  /** What the house has published. */
  readonly papers?: HousePapers | undefined;
  readonly rateWindow: RateWindow;
  readonly book: Book;
  readonly addressWindows: AddressWindows;
  readonly metrics: Metrics;
  readonly outbound: Outbound;
  /** Aborted when the service is told to stop: it then answers not ready. */
  readonly draining?: AbortSignal | undefined;
  /** The offboarding hooks of other rooms; a test may replace them. */
  readonly offboarding?: Offboarding | undefined;
};

const lifecycles: readonly Lifecycle[] = [
  keyLifecycle,
  firmLifecycle,
  creditLifecycle,
  quoteLifecycle,
  orderLifecycle,
  crossLifecycle,
  settlementLifecycle,
  payoutLifecycle,
  deskApprovalLifecycle,
  webhookLifecycle,
  deliveryLifecycle,
];

/** In the order of the document. */
const operations: readonly Operation[] = [
  ...metaOperations,
  ...accessOperations,
  ...requestOperations,
  ...firmOperations,
  ...nettingOperations,
  ...creditOperations,
  ...tradingOperations,
  ...crossOperations,
  ...positionOperations,
  ...marketOperations,
  ...settlementOperations,
  ...fundingOperations,
  ...payoutOperations,
  ...deskApprovalOperations,
  ...sandboxOperations,
  ...reportOperations,
  ...journalOperations,
  ...webhookOperations,
  ...publicOperations,
];

/** What a process without the API serves: whether it runs. */
export function buildWorkerApp({
  ctx,
  config,
  draining,
}: Pick<AppOptions, "ctx" | "config" | "draining">): App {
  const app = createServer({ ...config, log: ctx.log, now: ctx.now });
  logRequests(app);
  healthRoutes(app, ctx, { draining });
  return app;
}

export async function buildApp({
  ctx,
  config,
  rateWindow,
  book,
  addressWindows,
  metrics,
  outbound,
  draining,
  papers = { terms: null, privacy: null },
  offboarding = everySlice,
}: AppOptions): Promise<App> {
  const app = createServer({ ...config, log: ctx.log, now: ctx.now });
  measureRequests(app, metrics);
  logRequests(app);
  const recorder = openRecorder(ctx);
  recordRequests(app, recorder, ctx.now);
  tagAnswers(app);
  negotiateFormats(app);
  compressAnswers(app);
  const authenticate = openAuthenticator(ctx);
  admitCallers(app, {
    authenticate,
    memory: keyMemory(),
    meter: openMeter(ctx, rateWindow),
    confirm: openConfirmer(ctx, rateWindow),
    metrics,
  });
  const deadAmong = openKeyWatcher(ctx, authenticate);
  const streams = openStreams(app, { deadAmong });
  allowOtherSites(app, "/public");
  admitVisitors(app, createBudgets(ctx, config.publicBudgets, addressWindows));

  healthRoutes(app, ctx, { draining });
  serveOpenApi(app, documentParts);
  const takeQuote = createQuoter(ctx, book, metrics);
  const feed = openFeed({ ...ctx, latestIndex });
  app.addHook("onClose", () => feed.close());
  const house = { imprint: config.imprint, papers };
  const wiring: DeskWiring & VisitorWiring = {
    lifecycles,
    onMoved: noteMove,
    onContactConcerned: watchContact,
    onIdentityChanged,
    offboarding,
    findCovers,
    takeQuote,
    orderDesk: openOrderDesk(ctx, { books: openBookSessions(book), takeQuote, metrics }),
    readOrder: createOrderReader(ctx),
    simulators,
    appliers,
    settlementHooks,
    watch: watchDesks(ctx.db),
    onCheckpoint: (line) => storeExportCheckpoint(ctx, line),
    outbound,
    recorder,
    blockMinPaise: config.blockMinPaise,
    feed,
    latestIndex,
    timeHooks,
    letterhead: config.letterhead,
    board: createRatesBoard(ctx),
    house,
  };
  const lines = openLines({ perKeyMax: exportsPerKeyMax, deadAmong });
  const surface = { ctx, wiring, desks: { streams, lines } };
  serve(app, operations, surface);
  optOutRoutes(app, ctx, await loadOptOutPage());
  serveDocs(app, { house: config.imprint.name });
  await servePage(app, house);
  return app;
}

const pan = "[A-Za-z]{3}[ABCFGHJLPTabcfghjlpt][A-Za-z][0-9]{4}[A-Za-z]";

/** Letters of either case are taken, and kept as capitals. */
const patterns = {
  pan: `^${pan}$`,
  iec: `^(?:${pan}|[0-9]{10})$`,
  counterparty_iec: `^(?:${pan}|[0-9]{10})$`,
  gstin: "^[0-9]{2}[A-Za-z]{5}[0-9]{4}[A-Za-z][1-9A-Za-z][Zz][0-9A-Za-z]$",
  cin: "^[LUlu][0-9]{5}[A-Za-z]{2}[0-9]{4}[A-Za-z]{3}[0-9]{6}$",
  ifsc: "^[A-Za-z]{4}0[A-Za-z0-9]{6}$",
  scrip_no: "^[A-Za-z0-9][A-Za-z0-9/-]{5,24}$",
  port_code: "^[Ii][Nn][A-Za-z0-9]{4}$",
};

export const documentParts: DocumentParts = {
  examples: bodyExamples,
  answers: answerExamples,
  patterns,
  reasons: reasonsByOperation,
  schemas: quoteKinds,
  webhooks: describeWebhooks(),
};
