import type { FastifyRequest } from "fastify";

import { operator } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { isCleanText } from "../kernel/json.ts";
import type { Context } from "../platform/context.ts";
import type { Operation, OpsWiring } from "./operation.ts";

type OperationCall = {
  readonly ctx: Context;
  readonly wiring: OpsWiring;
  readonly request: FastifyRequest;
};

/** Runs an operation as the person who is signed in. */
export async function callOperation(
  operation: Operation,
  { ctx, wiring, request }: OperationCall,
): Promise<object> {
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
  return await operation.run({ ctx, wiring, actor, token, params, query, body });
}
