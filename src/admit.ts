// The door of every route that demands a key: key (401), meter (429), then what the key may do here
// (403). It runs before the body is looked at.

import type { FastifyRequest } from "fastify";

import { meets } from "./kernel/caller.ts";
import { Failure } from "./kernel/failure.ts";
import type { Metered } from "./kernel/metered.ts";
import { isInside, isLoopback } from "./kernel/networks.ts";
import type { Authenticate } from "./keys/authenticate.ts";
import type { App } from "./platform/http.ts";
import type { Meter } from "./usage/meter-calls.ts";

export function admitCallers(app: App, authenticate: Authenticate, meter: Meter): void {
  app.addHook("onRequest", async (request, reply) => {
    const { demand, label } = request.routeOptions.config;
    if (demand === undefined) return;
    const key = request.headers["x-service-key"];
    const { caller, allowance, ipAllowlist } = await authenticate(
      typeof key === "string" ? key : undefined,
    );
    request.caller = caller;
    request.metered = await meter(caller, allowance, label ?? "");
    reply.headers(meterHeaders(request.metered));

    if (!request.metered.admitted) throw rateLimited(request.metered);
    if (caller.environment === "live" && !isPrivate(request)) {
      throw forbidden("a live key is taken over https only");
    }
    if (ipAllowlist.length > 0 && !isInside(request.ip, ipAllowlist)) {
      throw forbidden("this key is not used from this address");
    }
    if (!meets(caller, demand)) {
      throw forbidden(
        demand === "root key"
          ? "only the firm's root key may do this"
          : `this key lacks the scope ${demand}`,
      );
    }
  });
}

/** Whether the key of a stream that is open would still be let in. */
export function readmitter(authenticate: Authenticate): (key: string) => Promise<boolean> {
  return async (key) => {
    try {
      await authenticate(key);
      return true;
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
  };
}

/** Encrypted to us or to a proxy we trust, or never on a wire at all. */
function isPrivate(request: FastifyRequest): boolean {
  return request.protocol === "https" || isLoopback(request.ip);
}

function meterHeaders(metered: Metered): Record<string, string | number> {
  const { plan, limit, remaining, reset, quota, quotaUsed } = metered;
  return {
    "x-ratelimit-plan": plan,
    "x-ratelimit-limit": limit,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": reset,
    ...(quota !== undefined && { "x-ratelimit-quota": quota }),
    "x-ratelimit-quota-used": quotaUsed,
  };
}

function rateLimited({ remaining }: Metered): Failure {
  const what = remaining > 0 ? "monthly quota" : "rate of calls per minute";
  return new Failure("rate_limited", `the ${what} is used up`, { form: "edge" });
}

function forbidden(message: string): Failure {
  return new Failure("forbidden", message, { form: "edge" });
}
