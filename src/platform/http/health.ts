// Liveness: the process answers. Readiness: it can serve, so a balancer may send requests.
//
// Balancers ask often and strangers as often as they like, so a call costs no statement: the first one
// waits for a look at the database, a timer repeats the look, and later calls are told what the latest
// look found. Looks end when nobody has asked for a while; the next call is then a first one again.

import { Type } from "typebox";

import type { Context } from "../context.ts";
import { keepOnce } from "../keep-once.ts";
import { listMigrationFiles, pendingMigrations } from "../postgres/migrate.ts";
import type { App } from "./server.ts";

const Status = Type.Object({
  status: Type.String({ description: "ok, ready or not_ready.", examples: ["ready"] }),
  reason: Type.Optional(Type.String({ description: "What is missing." })),
});

type HealthOptions = {
  /** Aborted when the service is told to stop. */
  readonly draining?: AbortSignal | undefined;
  readonly lookEveryMs?: number;
};

/** A database that falls silent is seen after a pause and a look without an answer: in four seconds. */
const lookEveryMsDefault = 1_000;
const lookMsMax = 3_000;
/** About a minute; balancers ask more often. */
const looksAfterCall = 60;

export function healthRoutes(
  app: App,
  { db }: Pick<Context, "db">,
  { draining, lookEveryMs = lookEveryMsDefault }: HealthOptions,
): void {
  const findObstacle = watchObstacle(app, db, lookEveryMs);

  app.get(
    "/healthz",
    {
      config: { keyless: "free" },
      schema: {
        operationId: "isAlive",
        tags: ["Operations"],
        summary: "Whether the process answers",
        description:
          "Says that the process answers. It asks nothing of the database, so a failure means that the process should be started again.",
        response: { 200: Status },
      },
    },
    async () => ({ status: "ok" }),
  );

  app.get(
    "/readyz",
    {
      config: { keyless: "free" },
      schema: {
        operationId: "isReady",
        tags: ["Operations"],
        summary: "Whether the process can serve",
        description:
          "200 when the service can take calls: migrations are applied and the database answers, as looked up every second. 503 while it starts, while it stops, and when the database is away; send no traffic then.",
        response: { 200: Status, 503: Status },
      },
    },
    async (_request, reply) => {
      const reason = draining?.aborted ? "shutting down" : await findObstacle();
      if (reason === undefined) return { status: "ready" };
      return await reply.code(503).send({ status: "not_ready", reason });
    },
  );
}

const silent = "the database does not answer";

/** What stands in the way of serving, as the latest look found it; undefined for nothing. */
function watchObstacle(
  app: App,
  db: Context["db"],
  lookEveryMs: number,
): () => Promise<string | undefined> {
  let latest: Readiness | undefined;
  let first: Promise<Readiness> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looksSinceCall = 0;
  const findFiles = keepOnce(listMigrationFiles);

  async function lookOn(): Promise<Readiness> {
    latest = await look(async () => await pendingMigrations(db, await findFiles()));
    looksSinceCall += 1;
    if (looksSinceCall < looksAfterCall) {
      timer = setTimeout(() => void lookOn(), lookEveryMs).unref();
      return latest;
    }
    const last = latest;
    first = latest = undefined;
    return last;
  }

  app.addHook("onClose", async () => {
    looksSinceCall = looksAfterCall;
    clearTimeout(timer);
  });
  return async () => {
    looksSinceCall = 0;
    first ??= lookOn();
    const { obstacle } = latest ?? (await first);
    return obstacle;
  };
}

type Readiness = { readonly obstacle: string | undefined };

async function look(findPending: () => Promise<readonly string[]>): Promise<Readiness> {
  const late = Promise.withResolvers<undefined>();
  const deadline = setTimeout(() => late.resolve(undefined), lookMsMax).unref();
  try {
    const pending = await Promise.race([findPending(), late.promise]);
    if (pending === undefined) return { obstacle: silent };
    return { obstacle: pending.length > 0 ? `${pending.length} migrations to apply` : undefined };
  } catch {
    return { obstacle: silent };
  } finally {
    clearTimeout(deadline);
  }
}
