import { Type } from "typebox";

import type { Context } from "../context.ts";
import type { App } from "./server.ts";
import { pendingMigrations } from "../postgres/migrate.ts";

const Status = Type.Object({
  status: Type.String({ description: "ok, ready or not_ready.", examples: ["ready"] }),
  reason: Type.Optional(Type.String({ description: "What is missing." })),
});

/** Liveness: the process answers. Readiness: it can serve, so a balancer may send requests. */
export function healthRoutes(
  app: App,
  { db }: Pick<Context, "db">,
  draining: AbortSignal | undefined,
): void {
  app.get(
    "/healthz",
    {
      config: { keyless: true },
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
      config: { keyless: true },
      schema: {
        operationId: "isReady",
        tags: ["Operations"],
        summary: "Whether the process can serve",
        description:
          "200 when the service can take calls: migrations are applied and the database answers. 503 while it starts, while it stops, and when the database is away; send no traffic then.",
        response: { 200: Status, 503: Status },
      },
    },
    async (_request, reply) => {
      const reason = draining?.aborted ? "shutting down" : await obstacle();
      if (reason === undefined) return { status: "ready" };
      return await reply.code(503).send({ status: "not_ready", reason });
    },
  );

  async function obstacle(): Promise<string | undefined> {
    try {
      const pending = await pendingMigrations(db);
      return pending.length > 0 ? `${pending.length} migrations to apply` : undefined;
    } catch {
      return "the database does not answer";
    }
  }
}
