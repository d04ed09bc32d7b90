// Admits requests before their body is parsed. A route that demands a key checks the key (401), meters the
// call (429), then checks what the key may do (403). A public route spends from the budget of the address
// (429).
//
// Requests are admitted in sets, in two ways:
//
//   confirm    for keys that this process has verified before: one statement checks that the key is
//              unchanged and counts its calls. One set at a time, because calls of one key would wait for
//              each other's row anyway.
//   look up    for all other keys, and for those that were not confirmed: the keys of a set are looked up
//              together, and their calls are metered together. A few sets at a time, so that a slow lookup
//              does not delay other keys.

import type {
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
} from "fastify";

import { findBudget } from "./kernel/budget.ts";
import { type Demand, meetsDemand } from "./kernel/caller.ts";
import { Failure } from "./kernel/failure.ts";
import type { Metered } from "./kernel/metered.ts";
import { isInside, isLoopback } from "./kernel/networks.ts";
import { type Authenticate, type Authenticated, unauthorized } from "./access/authenticate.ts";
import { coalesce, type ItemResult, Overloaded } from "./platform/postgres/coalesce.ts";
import { findAddress } from "./platform/http/calls.ts";
import type { App } from "./platform/http/server.ts";
import type { Metrics } from "./platform/metrics.ts";
import type { AddressBudgets } from "./market/address-budgets.ts";
import type { KeyMemory, Remembered } from "./access/remember-keys.ts";
import type { Confirm, Meter, RememberedCall } from "./access/meter-calls.ts";

type AdmissionRequest = { readonly header: string; readonly route: string };
type Admitted = { readonly known: Authenticated; readonly metered: Metered };

type AdmissionOptions = {
  readonly authenticate: Authenticate;
  readonly meter: Meter;
  readonly memory: KeyMemory;
  readonly confirm: Confirm;
  readonly metrics: Pick<Metrics, "setSize">;
};

const setSizeMax = 512;
const queueMax = 20_000;
const lookUpsInFlight = 4;

export function admitCallers(app: App, options: AdmissionOptions): void {
  const { memory, metrics } = options;
  const sets = {
    setSizeMax,
    queueMax,
    // No retry here: calls may be counted already. The meter retries where that is safe.
    mayRetry: () => false,
    onSet: (size: number) => metrics.setSize.observe({ set: "calls" }, size),
  };
  const confirm = coalesce(
    (requests: readonly AdmissionRequest[]) => confirmSet(options, requests),
    sets,
  );
  const lookUp = coalesce((requests: readonly AdmissionRequest[]) => lookUpSet(options, requests), {
    ...sets,
    setsInFlight: lookUpsInFlight,
  });

  const known = coalesce(
    async (headers: readonly string[]) =>
      (await options.authenticate(headers)).map((found) => found?.caller),
    { setSizeMax, queueMax },
  );
  app.findSeatOwner = async ({ headers }) => {
    const header = headers["x-service-key"];
    return typeof header === "string" ? await known(header) : undefined;
  };

  async function admit(one: AdmissionRequest): Promise<Admitted> {
    const confirmed = memory.mayKnow(one.header) ? await confirm(one) : undefined;
    return confirmed ?? (await lookUp(one));
  }

  function createGuard(demands: readonly Demand[], route: string): onRequestHookHandler {
    return (request, reply, next) => {
      const header = request.headers["x-service-key"];
      if (typeof header !== "string") {
        next(unauthorized());
        return;
      }
      admit({ header, route }).then(({ known, metered }) => {
        request.caller = known.caller;
        request.metered = metered;
        showMeter(reply, metered);
        const refusal = findRefusal(request, known, demands);
        const hasSeat = refusal !== undefined || app.takeSeat(reply, known.caller);
        next(hasSeat ? refusal : new Overloaded());
      }, next);
    };
  }

  app.meterRefused = async (request, reply) => {
    const header = request.headers["x-service-key"];
    if (typeof header !== "string") return undefined;
    const route = request.declared.label ?? "none";
    const { known, metered } = await admit({ header, route });
    request.caller = known.caller;
    request.metered = metered;
    showMeter(reply, metered);
    return metered.admitted ? undefined : rateLimited(metered);
  };

  app.addHook("onRoute", (route) => {
    const { demand, orDemand, label } = route.config ?? {};
    if (demand === undefined) return;
    const demands = [demand, orDemand ?? []].flat();
    route.onRequest = [createGuard(demands, label ?? ""), route.onRequest ?? []].flat();
  });
}

/** Undefined when the key is not remembered, has changed, or its calls do not fit the limit. */
async function confirmSet(
  { memory, confirm }: AdmissionOptions,
  requests: readonly AdmissionRequest[],
): Promise<ItemResult<Admitted | undefined>[]> {
  const headers = new Set(requests.map(({ header }) => header));
  const remembered = new Map([...headers].map((header) => [header, memory.find(header)]));
  const calls = requests.flatMap(({ header, route }) => {
    const known = remembered.get(header);
    return known ? [toRememberedCall(known, route)] : [];
  });
  const outcomes = calls.length > 0 ? await confirm(calls) : [];
  let next = 0;
  return requests.map(({ header }) => {
    const known = remembered.get(header);
    return known && toAdmitted(known, outcomes[next++]);
  });
}

async function lookUpSet(
  { authenticate, meter, memory }: AdmissionOptions,
  requests: readonly AdmissionRequest[],
): Promise<ItemResult<Admitted>[]> {
  const found = await authenticate(requests.map(({ header }) => header));
  const calls = requests.flatMap(({ header, route }, at) => {
    const known = found[at];
    if (known) memory.keep(header, known);
    return known ? { caller: known.caller, allowance: known.allowance, route } : [];
  });
  const metered = calls.length > 0 ? await meter(calls) : [];
  let next = 0;
  return found.map((known) =>
    known ? (toAdmitted(known, metered[next++]) as ItemResult<Admitted>) : unauthorized(),
  );
}

function toRememberedCall({ caller, allowance, stamp }: Remembered, route: string): RememberedCall {
  return { caller, allowance, stamp, route };
}

function toAdmitted(
  known: Authenticated,
  outcome: ItemResult<Metered> | undefined,
): ItemResult<Admitted> | undefined {
  if (outcome === undefined || outcome instanceof Error) return outcome;
  return { known, metered: outcome };
}

/** Why a caller with a valid key is refused. */
function findRefusal(
  request: FastifyRequest,
  { caller, ipAllowlist }: Authenticated,
  demands: readonly Demand[],
): Failure | undefined {
  if (!request.metered.admitted) return rateLimited(request.metered);
  if (caller.environment === "live" && !isPrivate(request)) {
    return forbidden("a live key is taken over https only");
  }
  if (ipAllowlist.length > 0 && !isInside(findAddress(request), ipAllowlist)) {
    return forbidden("this key is not used from this address");
  }
  const isAllowed = demands.some((demand) => meetsDemand(caller, demand));
  return isAllowed ? undefined : forbidden(describeLack(demands));
}

function describeLack(demands: readonly Demand[]): string {
  return demands.includes("root key")
    ? "only the firm's root key may do this"
    : `this key lacks the scope ${demands.join(" or ")}`;
}

/** Admits visitors of public routes; a key that they send is ignored. */
export function admitVisitors(app: App, { names, spend }: AddressBudgets): void {
  app.budgets = new Set(names);
  app.addHook("onRoute", (route) => {
    const budget = findBudget(route.config?.keyless);
    if (budget === undefined) return;
    const spendOne: onRequestAsyncHookHandler = async (request) =>
      await spend(budget, findAddress(request));
    route.onRequest = [route.onRequest ?? [], spendOne].flat();
  });
}

/** Whether the request came over https, to us or to a trusted proxy, or over loopback. */
export function isPrivate(request: FastifyRequest): boolean {
  return request.protocol === "https" || isLoopback(findAddress(request));
}

function showMeter(reply: FastifyReply, metered: Metered): void {
  const { plan, limit, remaining, reset, quota, quotaUsed, quotaReset } = metered;
  reply.header("x-ratelimit-plan", plan);
  reply.header("x-ratelimit-limit", limit);
  reply.header("x-ratelimit-remaining", remaining);
  reply.header("x-ratelimit-reset", reset);
  if (quota !== undefined) reply.header("x-ratelimit-quota", quota);
  reply.header("x-ratelimit-quota-used", quotaUsed);
  if (quotaReset !== undefined) reply.header("x-ratelimit-quota-reset", quotaReset);
}

function rateLimited({ remaining }: Metered): Failure {
  const what = remaining > 0 ? "monthly quota" : "rate of calls per minute";
  return new Failure("rate_limited", `the ${what} is used up`, { form: "edge" });
}

function forbidden(message: string): Failure {
  return new Failure("forbidden", message, { form: "edge" });
}
