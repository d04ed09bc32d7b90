// Pages of other sites may read what is public. They may write nothing: a form that is sent from
// here is sent from our own page, and no site can send it in a visitor's name.

import type { onRequestHookHandler } from "fastify";
import { Type } from "typebox";

import { findBudget } from "../../kernel/budget.ts";
import type { App } from "./server.ts";

const reading = ["GET", "HEAD"];
const preflightKeptS = 86_400;

/** `below` is where what is public lies. */
export function allowOtherSites(app: App, below: string): void {
  app.addHook("onRoute", (route) => {
    const isRead = [route.method].flat().every((method) => reading.includes(method));
    if (findBudget(route.config?.keyless) === undefined || !isRead) return;
    route.onRequest = [route.onRequest ?? [], allowReading].flat();
  });

  app.options(
    `${below}/*`,
    {
      config: { keyless: "constant" },
      schema: { operationId: "allowSites", hide: true, response: { 204: Type.Null() } },
    },
    async (_request, reply) =>
      await reply
        .code(204)
        .header("access-control-allow-origin", "*")
        .header("access-control-allow-methods", reading.join(", "))
        .header("access-control-allow-headers", "If-None-Match, X-Request-ID")
        .header("access-control-max-age", preflightKeptS)
        .send(null),
  );
}

const allowReading: onRequestHookHandler = (_request, reply, next) => {
  reply.header("access-control-allow-origin", "*");
  reply.header("access-control-expose-headers", "ETag, Retry-After, X-Request-ID");
  next();
};
