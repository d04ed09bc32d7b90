// The operators' listener: the operators' API for signed-in operators, and /metrics for monitoring where
// that has no listener of its own. API keys of desks are not accepted here. Until the first operator is
// added, nobody can sign in.

import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from "fastify";

import type { Permission } from "./kernel/actor.ts";
import { exactJson } from "./kernel/json.ts";
import { admitVisitors, isPrivate } from "./admit.ts";
import { wireOps } from "./approval-kinds.ts";
import type { Config } from "./config.ts";
import type { Actor } from "./kernel/actor.ts";
import { findBudget } from "./kernel/budget.ts";
import { Failure } from "./kernel/failure.ts";
import { refuseUnpermitted } from "./operators/rules.ts";
import { enterMachine, isMachineToken } from "./operators/machines.ts";
import { refuseMachine } from "./operators/machine-rules.ts";
import { findSession, findSignedIn } from "./operators/sign-in.ts";
import { directoryRoutes } from "./console/routes.ts";
import { consoleRoutes } from "./console/routes.ts";
import { findConsoleTokens } from "./console/session.ts";
import { describeOps } from "./ops/openapi.ts";
import { operations } from "./ops/operations.ts";
import { findAddress } from "./platform/http/calls.ts";
import { serve } from "./platform/http/operation.ts";
import { serializeAnswer } from "./platform/http/serialization.ts";
import { createBudgets } from "./market/address-budgets.ts";
import { openBoards } from "./market/stream-board.ts";
import { openStreams, type Streams } from "./platform/http/sse.ts";
import type { Context } from "./platform/context.ts";
import { serveConstant } from "./platform/http/constants.ts";
import { type App, createServer } from "./platform/http/server.ts";
import { serveConsole } from "./platform/pages/web-page.ts";
import { logRequests } from "./platform/log.ts";
import type { SeatOwner } from "./platform/seats.ts";
import type { Metrics } from "./platform/metrics.ts";
import { latestIndex } from "./hooks.ts";
import type { RateWindow } from "./access/rate-window.ts";

/** Calls per operator and minute; far above manual use. */
const callsPerMinute = 600;
/** Per address. Attempts to sign in or enrol cost a slow hash, `/metrics` a walk over all figures. */
const budgets = { attempts: { perMinute: 30 }, metrics: { perMinute: 600 } };
const inFlightMax = 200;
const streamsPerPersonMax = 10;

export type OpsOptions = {
  readonly ctx: Context;
  readonly metrics: Metrics;
  readonly window: RateWindow;
  readonly config: Pick<Config, "trustProxy"> &
    Partial<Pick<Config, "opsTls" | "metricsPort" | "oidc">> &
    Parameters<typeof wireOps>[0];
};

/** The figures alone, for a network where operators are not. */
export function buildMetricsApp({
  ctx,
  metrics,
  window,
  config: { trustProxy },
}: Omit<OpsOptions, "config"> & { readonly config: Pick<Config, "trustProxy"> }): App {
  const app = createServer({ log: ctx.log, now: ctx.now, trustProxy, tls: undefined, inFlightMax });
  logRequests(app);
  admitVisitors(app, createBudgets(ctx, budgets, { minute: window, day: window }));
  serveMetrics(app, metrics);
  return app;
}

export async function buildOpsApp(options: OpsOptions): Promise<App> {
  const { ctx, metrics, window, config } = options;
  const { trustProxy, opsTls, metricsPort, oidc } = config;
  const app = createServer({
    log: ctx.log,
    now: ctx.now,
    trustProxy,
    tls: opsTls,
    inFlightMax,
  });
  logRequests(app);
  admitPeople(app, ctx, window);
  admitVisitors(app, createBudgets(ctx, budgets, { minute: window, day: window }));
  if (metricsPort === undefined) serveMetrics(app, metrics);
  serveDocument(app);
  const boards = openBoards({ ...ctx, latestIndex }, serializeAnswer);
  app.addHook("onClose", () => boards.close());
  const wiring = { ...wireOps(config), boards };
  const streams = watchPeople(app, ctx);
  const openStream = (request: FastifyRequest, reply: FastifyReply) =>
    streams.open(request, reply, { perKeyMax: streamsPerPersonMax });
  serve(app, operations, { ctx, wiring, operators: { openStream } });
  consoleRoutes(app, ctx);
  if (oidc) {
    const { openDirectory } = await import("./platform/oidc.ts"); // Loaded only where people sign in by it.
    directoryRoutes(app, ctx, openDirectory(oidc));
  }
  serveWaysIn(app, { directory: oidc !== undefined });
  await serveConsole(app);
  return app;
}

function admitPeople(app: App, ctx: Context, window: RateWindow): void {
  const take = async (who: string) => {
    const [state] = await window.take([{ keyId: who, limit: callsPerMinute }]);
    if (state?.admitted === false) {
      throw new Failure("rate_limited", "too many calls", { form: "edge" });
    }
  };
  app.findSeatOwner = async (request) => {
    try {
      const { actor } = await findSession(ctx, findTokens(request));
      return toSeatOwner(actor);
    } catch {
      return undefined;
    }
  };
  const enter =
    (permission: Permission, takesMachines: boolean): onRequestAsyncHookHandler =>
    async (request) => {
      refuseOpenWire(request);
      const [sent = ""] = findTokens(request);
      if (isMachineToken(sent)) {
        const asked = { token: sent, from: findAddress(request), requestId: request.id };
        const actor = await enterMachine(ctx, asked);
        await take(`person ${actor.id}`);
        refuseMachine(actor, { permission, takesMachines });
        request.operator = { actor, token: sent };
        return;
      }
      const { actor, token } = await findSession(ctx, findTokens(request), request.id);
      await take(`person ${actor.id}`);
      refuseUnpermitted(actor.role, permission);
      request.operator = { actor, token };
    };
  const attempt: onRequestAsyncHookHandler = async (request) => refuseOpenWire(request);
  app.addHook("onRoute", (route) => {
    const { permission, keyless, machines = false, streams } = route.config ?? {};
    const isAttempt = findBudget(keyless) === "attempts";
    if (permission === undefined && !isAttempt) return;
    const takesMachines = machines || (route.method === "GET" && !streams);
    const guard = permission === undefined ? attempt : enter(permission, takesMachines);
    route.onRequest = [refuseDryRun, guard, route.onRequest ?? []].flat();
  });
}

/** Each person has the seats of a desk. */
function toSeatOwner({ id }: Actor): SeatOwner {
  return { deskId: id, environment: "live" };
}

/** Streams that end when the session of their person does. */
function watchPeople(app: App, ctx: Context): Streams {
  const identify = ({ operator }: FastifyRequest) => {
    if (!operator) throw new Error("streams are for people who are signed in");
    const { actor, token } = operator;
    return { key: token, owner: actor.id, desk: toSeatOwner(actor) };
  };
  const deadAmong = async (tokens: readonly string[]) => {
    const dead = new Set<string>();
    for (const token of tokens) {
      await findSignedIn(ctx, token).catch((error: unknown) => {
        if (!(error instanceof Failure)) throw error;
        dead.add(token);
      });
    }
    return dead;
  };
  return openStreams(app, { identify, deadAmong });
}

/** A bearer's token, or those of the console's cookies where no credential is sent besides. */
function findTokens(request: FastifyRequest): readonly string[] {
  const { authorization } = request.headers;
  if (authorization === undefined) return findConsoleTokens(request);
  const [, bearer] = /^Bearer ([!-~]{1,200})$/i.exec(authorization) ?? [];
  return bearer === undefined ? [] : [bearer];
}

/** Passwords and tokens are accepted over https or loopback only. */
function refuseOpenWire(request: FastifyRequest): void {
  if (isPrivate(request)) return;
  throw new Failure("forbidden", "operators are taken over loopback or https only", {
    form: "edge",
  });
}

/** There is no dry run here, so the header is refused rather than ignored. */
const refuseDryRun: onRequestAsyncHookHandler = async ({ headers }) => {
  if (headers["x-dry-run"] === undefined || headers["x-dry-run"] === "0") return;
  throw new Failure("bad_request", "X-Dry-Run is not taken here", {
    detail: { field: "X-Dry-Run", allowed: ["0"] },
  });
};

function serveMetrics(app: App, { registry }: Metrics): void {
  const config = { keyless: { budget: "metrics" } } as const;
  app.get("/metrics", { config }, async (_request, reply: FastifyReply) => {
    reply.header("content-type", registry.contentType);
    return await reply.send(await registry.metrics());
  });
}

/** What the sign-in page offers. */
function serveWaysIn(app: App, ways: { readonly directory: boolean }): void {
  const make = async () => exactJson(ways);
  serveConstant(app, "/console/ways-in", { type: "application/json; charset=utf-8", make });
}

function serveDocument(app: App): void {
  const make = async () => exactJson(describeOps());
  serveConstant(app, "/ops/openapi.json", { type: "application/json; charset=utf-8", make });
}
