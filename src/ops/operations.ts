// Every operation of the operators' API, and how a request runs one.

import type { FastifyContextConfig, FastifyRequest } from "fastify";

import { operator } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { isCleanText } from "../kernel/json.ts";
import type { Context } from "../platform/context.ts";
import { findAddress, takeNoBodyAsEmpty } from "../platform/http/calls.ts";
import { bankOperations } from "./bank.ts";
import { deskOperations } from "./desks.ts";
import { lookupOperations } from "./lookups.ts";
import { moneyOperations } from "./money.ts";
import type { OpenStream, Operation, OpsCall, OpsWiring } from "./operation.ts";
import { payoutOperations } from "./payouts.ts";
import { peopleOperations } from "./people.ts";
import { priceOperations } from "./prices.ts";
import { taxOperations } from "./taxes.ts";
import { worldOperations } from "./world.ts";

const declared: readonly Operation[] = [
  ...peopleOperations,
  ...lookupOperations,
  ...deskOperations,
  ...worldOperations,
  ...priceOperations,
  ...moneyOperations,
  ...payoutOperations,
  ...bankOperations,
  ...taxOperations,
];

/** With the route's configuration for the edge. */
export const operations = declared.map((operation) => ({
  ...operation,
  config: toConfig(operation),
  preValidation: operation.body ? [takeNoBodyAsEmpty] : [],
}));

type OperationCall = {
  readonly ctx: Context;
  readonly wiring: OpsWiring;
  readonly request: FastifyRequest;
  readonly open: OpenStream;
};

/** Runs an operation as the person who is signed in; one that streams has no answer besides. */
export async function callOperation(
  operation: Operation,
  call: OperationCall,
): Promise<object | undefined> {
  const opsCall = toOpsCall(call);
  if (!operation.stream) return await operation.run(opsCall);
  await operation.stream(opsCall, call.open);
  return undefined;
}

function toOpsCall({
  ctx,
  wiring,
  request,
}: Pick<OperationCall, "ctx" | "wiring" | "request">): OpsCall<never, never> {
  const { actor, token } = request.operator ?? {
    actor: { ...operator, requestId: request.id },
    token: "",
  };
  const params = request.params as Readonly<Record<string, string>>; // Path parameters are text.
  // PostgreSQL text cannot hold these characters, so no id contains them.
  if (Object.values(params).some((value) => !isCleanText(value))) {
    throw new Failure("not_found", "no such thing");
  }
  // Validated by the operation's schemas.
  const query = request.query as never;
  const body = request.body as never;
  return { ctx, wiring, actor, token, from: findAddress(request), params, query, body };
}

function toConfig({ permission, stream }: Operation): FastifyContextConfig {
  if (permission === "none") return { keyless: { budget: "attempts" } };
  return { permission, ...(stream && { streams: true }) };
}
