// `scripdesk serve`: opens the resources of the service, listens until a signal, and closes in reverse.
//
//   SIGTERM or SIGINT   readiness turns off. After SIGTERM requests are still served for DRAIN_S seconds,
//                       so that load balancers notice. Then the port closes, streams end, requests in
//                       flight finish, and the database closes. Connections that are open after the
//                       deadline are cut

import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { type AppOptions, buildApp, buildWorkerApp } from "./app.ts";
import type { NoticeOptions } from "./notices/send-notices.ts";
import { loadTemplates } from "./notices/templates.ts";
import { openBook } from "./trading/book.ts";
import { type Config, readConfig, type SmtpConfig, type Variables } from "./config.ts";
import { listRisks } from "./config-risks.ts";
import { seedCredits, seedInventory } from "./credits/seed-credits.ts";
import { countDesks } from "./firms/find-firms.ts";
import { environments } from "./kernel/caller.ts";
import { issueKey } from "./access/issue-keys.ts";
import { offerSources } from "./hooks.ts";
import { openContext } from "./open-context.ts";
import type { Context } from "./platform/context.ts";
import type { App } from "./platform/http/server.ts";
import { hasPeople } from "./operators/sign-in.ts";
import { measureHeavy } from "./platform/heavy/pool.ts";
import { createLog } from "./platform/log.ts";
import { measureService } from "./measure-service.ts";
import { measureBackup } from "./platform/last-backup.ts";
import { createMetrics, measureRuns, type Metrics } from "./platform/metrics.ts";
import { findImprint } from "./market/public-house.ts";
import { readHousePapers } from "./platform/pages/house-papers.ts";
import { openLineSink } from "./platform/line-sink.ts";
import { openOutbound } from "./platform/outbound.ts";
import { openMailServer } from "./platform/smtp.ts";
import { connectRedis } from "./platform/redis.ts";
import { prepareConstants } from "./platform/http/constants.ts";
import { Unusable } from "./platform/http/errors.ts";
import { startWorker, watchWrites } from "./platform/worker.ts";
import { localAddressWindows, sharedAddressWindows } from "./market/address-budgets.ts";
import { openLocalRateWindow, openSharedRateWindow } from "./access/rate-window.ts";
import { listWorkers, type WorkOptions } from "./workers.ts";

/** With the default DRAIN_S the process ends within the ten seconds that supervisors allow. */
const closeDeadlineMs = 6_000;
const settleDeadlineMs = 2_000;
const demoDesk = "Demo Desk";
const demoCredits = 200;
/** In DATA_DIR. */
const demoKeyFile = "demo-key";

export async function serve(variables: Variables): Promise<void> {
  const config = readConfig(variables);
  await refuseTakenPorts(config);
  const { log, flush } = createLog(config.logLevel);
  const { stop, hurry } = watchSignals();

  await using stack = new AsyncDisposableStack();
  stack.defer(flush);
  // Closed after the database, so that a delivery that is cut off is not recorded as failed.
  const outbound = openOutbound({ allowCidrs: config.webhookAllowCidrs });
  stack.defer(() => outbound.close());
  const opened = await openContext(config, {
    as: "service",
    create: true,
    log,
    now: () => new Date(),
  });
  stack.defer(() => opened.close());
  const { ctx, migrated, role } = opened;
  if (migrated.length > 0) {
    log.info({ migrations: migrated.length, last: migrated.at(-1) }, "migrated");
  }
  if (!role) log.warn("the database has no role of its own for the service: see docs/DEPLOY.md");
  for (const risk of listRisks(config)) log.warn(risk);

  const stocked = await seedInventory(ctx);
  if (stocked > 0) log.info({ credits: stocked }, "the sandbox's house has credits to sell");

  const metrics = createMetrics(ctx.db, ctx.replica);
  measureService(ctx, metrics);
  measureHeavy(ctx.heavy, metrics);
  measureBackup(config.dataDir, metrics);
  const windows = await openRateWindows(config, ctx, stack);
  const book = openBook(ctx, offerSources);
  // Loads the book before the port opens, because its first use reads every offer.
  await Promise.all(environments.map(book.look));
  const draining = stop.signal;
  const papers = await readHousePapers(config.houseDir);
  const told = { ...config, imprint: await findImprint(ctx, config.imprint) };
  const app =
    config.role === "worker"
      ? buildWorkerApp({ ctx, config, draining })
      : await buildApp({
          ctx,
          config: told,
          ...windows,
          book,
          metrics,
          outbound,
          draining,
          papers,
        });
  stack.defer(() => closeWithin(app, closeDeadlineMs));
  await listen(config, (place) => app.listen(place));
  const address = baseUrl(app, config);
  process.stdout.write(`scripdesk listens on ${address}\n`);
  if (config.role !== "api") {
    await startWorkers(ctx, config, { book, outbound, metrics, draining }, stack);
  }
  const opsApp = await serveOperators(config, { ctx, metrics }, stack);
  if (!config.databaseUrl && config.role !== "worker") await introduce(ctx, config, address);
  const prepared = prepareConstants(opsApp ? [app, opsApp] : [app], draining).catch(
    (error: unknown) => log.error({ err: error }, "a page cannot be made"),
  );
  stack.defer(() => prepared);
  if (!stop.signal.aborted) await once(stop.signal, "abort");
  log.info({ signal: stop.signal.reason as string }, "stopping");
  // Load balancers need a moment to see that this process is not ready; Ctrl-C does not wait.
  if (stop.signal.reason === "SIGTERM") {
    await sleep(config.drainS * 1_000, undefined, { signal: hurry.signal }).catch(() => {}); // Cut short.
  }
}

async function startWorkers(
  ctx: Context,
  config: Config,
  {
    book,
    outbound,
    metrics,
    draining,
  }: Pick<AppOptions, "book" | "outbound" | "metrics" | "draining">,
  stack: AsyncDisposableStack,
): Promise<void> {
  const workers = listWorkers(ctx, {
    book,
    webhooks: { outbound, scheduleS: config.webhookScheduleS },
    letterhead: config.letterhead,
    checkpoints:
      config.auditCheckpoints === undefined
        ? undefined
        : openLineSink(config.auditCheckpoints, outbound),
    drop: findDrop(config),
    schedules: findSchedules(config),
    notices: config.smtp && (await openNotices(config.smtp, config, metrics, draining)),
    onSetAside: (worker) => metrics.setAside.inc({ worker }),
  });
  const writes = watchWrites(ctx);
  stack.defer(writes.stop);
  for (const { wakeOn, settled, ...work } of workers) {
    const onRun = measureRuns(metrics, work.name, ctx.now);
    const worker = startWorker({ ...work, log: ctx.log, onRun, writes });
    if (settled) stack.defer(() => settleWithin(settled, settleDeadlineMs));
    stack.defer(worker.stop);
    if (wakeOn) stack.defer(ctx.db.onAnnounced(wakeOn, worker.wake));
  }
}

function findDrop({
  unattended,
  twoOperatorsFromPaise: twoFromPaise,
}: Config): WorkOptions["drop"] {
  if (unattended?.dropDir === undefined) return undefined;
  const { machine, dropDir: dir, dropForm: form } = unattended;
  return { dir, machine, form, twoFromPaise, nowMs: () => Date.now() };
}

function findSchedules({
  unattended,
  letterhead,
  dataDir,
  twoOperatorsFromPaise: twoFromPaise,
}: Config): WorkOptions["schedules"] {
  if (!unattended?.outDir || Object.keys(unattended.times).length === 0) return undefined;
  const { machine, times, outDir, payoutForm } = unattended;
  return { machine, times, outDir, payoutForm, twoFromPaise, letterhead, dataDir };
}

/** The first signal stops the service, the second ends its waiting, the third kills it. */
function watchSignals(): { readonly stop: AbortController; readonly hurry: AbortController } {
  const stop = new AbortController();
  const hurry = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      if (stop.signal.aborted) hurry.abort();
      else process.once(signal, () => hurry.abort());
      stop.abort(signal);
    });
  }
  return { stop, hurry };
}

async function openRateWindows(
  { redisUrl }: Config,
  { log }: Context,
  stack: AsyncDisposableStack,
): Promise<Pick<AppOptions, "rateWindow" | "addressWindows">> {
  const elapsedMs = () => performance.now();
  const keys = openLocalRateWindow(elapsedMs);
  const addresses = localAddressWindows(elapsedMs);
  if (!redisUrl) return { rateWindow: keys, addressWindows: addresses };
  const redis = await connectRedis(redisUrl);
  stack.defer(() => redis.destroy());
  return {
    rateWindow: openSharedRateWindow(redis, { fallback: keys, log }),
    addressWindows: sharedAddressWindows(redis, { fallback: addresses, log }),
  };
}

async function openNotices(
  { from, publicUrl, perMinute, ...server }: SmtpConfig,
  { letterhead }: Config,
  { noticesSent }: Metrics,
  stop: AbortSignal | undefined,
): Promise<NoticeOptions> {
  return {
    server: openMailServer(server),
    templates: await loadTemplates(),
    from: { name: letterhead.name, address: from },
    publicUrl,
    perMinute,
    stop,
    onResult: (result) => noticesSent.inc({ result }),
  };
}

/** Before a database is made, and read whole, for a service that cannot serve. */
async function refuseTakenPorts({
  host,
  port,
  opsHost,
  opsPort,
  opsPortChosen,
  metricsHost,
  metricsPort,
}: Config): Promise<void> {
  const places = [{ host, port }];
  if (metricsPort !== undefined) places.push({ host: metricsHost, port: metricsPort });
  if (opsPort !== undefined && opsPortChosen) places.push({ host: opsHost, port: opsPort });
  for (const place of places) {
    const probe = createServer();
    await listen(place, (at) => once(probe.listen(at), "listening"));
    await promisify(probe.close.bind(probe))();
  }
}

async function listen(
  { host, port }: Pick<Config, "host" | "port">,
  start: (place: { readonly host: string; readonly port: number }) => Promise<unknown>,
): Promise<void> {
  try {
    await start({ host, port });
  } catch (error) {
    throw new Unusable(`cannot listen on ${host}:${port}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * Listens for operators and for monitoring; undefined where operators are not served. Loaded when desks
 * are served already, because it takes half as long again.
 */
async function serveOperators(
  config: Config,
  { ctx, metrics }: { readonly ctx: Context; readonly metrics: Metrics },
  stack: AsyncDisposableStack,
): Promise<App | undefined> {
  const { metricsHost, metricsPort, opsHost, opsPort, opsPortChosen, opsTls } = config;
  if (metricsPort === undefined && opsPort === undefined) return undefined;
  const { buildMetricsApp, buildOpsApp } = await import("./ops-app.ts");
  const { minute: window } = localAddressWindows(() => performance.now());
  const options = { ctx, metrics, window, config };
  if (metricsPort !== undefined) {
    const metricsApp = buildMetricsApp(options);
    await listen({ host: metricsHost, port: metricsPort }, (at) => metricsApp.listen(at));
    stack.defer(() => closeWithin(metricsApp, settleDeadlineMs));
  }
  if (opsPort === undefined) return undefined;
  const app = await buildOpsApp(options);
  try {
    await listen({ host: opsHost, port: opsPort }, (place) => app.listen(place));
  } catch (error) {
    await app.close();
    if (opsPortChosen) throw error;
    ctx.log.warn(`/ops is off, and /metrics with it: ${opsHost}:${opsPort} is taken; set OPS_PORT`);
    return undefined;
  }
  stack.defer(() => closeWithin(app, settleDeadlineMs));
  await tellConsole(ctx, baseUrl(app, { tls: opsTls }));
  return app;
}

/** Lets requests in flight finish; cuts connections at the deadline. */
async function closeWithin(app: App, deadlineMs: number): Promise<void> {
  const deadline = new AbortController();
  const cut = sleep(deadlineMs, undefined, { signal: deadline.signal })
    .then(() => app.server.closeAllConnections())
    .catch(() => {}); // Closed in time.
  await app.close();
  deadline.abort();
  await cut;
}

/** Waits for work in flight, at most until the deadline. */
async function settleWithin(settled: () => Promise<void>, deadlineMs: number): Promise<void> {
  const deadline = new AbortController();
  const passed = sleep(deadlineMs, undefined, { signal: deadline.signal }).catch(() => {}); // Settled in time.
  await Promise.race([settled(), passed]);
  deadline.abort();
}

/** Where the people who run the service work, and how the first of them gets in. */
async function tellConsole(ctx: Context, url: string): Promise<void> {
  const lines = [`console for operators on ${url}/console`];
  if (!(await hasPeople(ctx))) {
    lines.push(
      "the first person: npx scripdesk operators add --name NAME --role admin",
      "what is missing before the first live day: npx scripdesk doctor --live",
    );
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}

function baseUrl(app: App, { tls }: Pick<Config, "tls">): string {
  const address = app.server.address();
  if (address === null || typeof address === "string") return String(address);
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `${tls ? "https" : "http"}://${host}:${address.port}`;
}

/**
 * The first start with an embedded database creates a sandbox desk. Its key is shown once on a terminal;
 * what is not a terminal is a log that others read, so there the key is in a file and its path is shown.
 */
async function introduce(ctx: Context, { dataDir }: Config, address: string): Promise<void> {
  if ((await countDesks(ctx)) > 0) return;
  const { api_key } = await issueKey(ctx, {
    firmName: demoDesk,
    environment: "sandbox",
    scopes: ["*"],
    plan: "sandbox",
    buySide: true,
    name: "demo",
  });
  const path = process.stdout.isTTY ? undefined : join(dataDir, demoKeyFile);
  if (path !== undefined) await writeSecretFile(path, `${api_key}\n`);
  await seedCredits(ctx, { deskName: demoDesk, credits: demoCredits, seed: "demo" });
  const keyInShell = path === undefined ? api_key : `$(cat ${quoteForShell(path)})`;
  process.stdout.write(
    [
      "",
      path === undefined
        ? "A sandbox desk is ready. Its key is shown this once:"
        : "A sandbox desk is ready. Its key is in this file, which only you can read:",
      "",
      `  ${path ?? api_key}`,
      "",
      "Try it:",
      "",
      `  curl -s ${address}/v1/whoami -H "X-Service-Key: ${keyInShell}"`,
      "",
      "What would cover a duty bill of ₹20 lakh cost?",
      "",
      `  curl -s ${address}/v1/quote -H "X-Service-Key: ${keyInShell}" -H 'Content-Type: application/json' \\`,
      `    -d '{"side": "buy", "scheme": "RODTEP", "requirement_paise": 200000000}'`,
      "",
      `Page: ${address}/`,
      `API reference: ${address}/docs`,
      "",
      "",
    ].join("\n"),
  );
}

/** In the place of a file or link of that name, which may be open to others. */
async function writeSecretFile(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { flag: "wx", mode: 0o600, flush: true });
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
