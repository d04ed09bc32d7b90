import type { Context } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import { serializeAnswer } from "./serialize-answer.ts";
import { callOperation, operations } from "./operations.ts";
import type { OpsWiring } from "./operation.ts";

/** Registers every operation of `operations.ts`. */
export function opsRoutes(app: App, ctx: Context, wiring: OpsWiring): void {
  for (const operation of operations) {
    const { method, path: url, operationId, query: querystring, body, answer } = operation;
    app.route({
      method,
      url,
      config: operation.config,
      schema: { operationId, querystring, ...(body && { body }), response: { 200: answer } },
      preValidation: operation.preValidation,
      serializerCompiler: () => serializeAnswer,
      handler: async (request) => await callOperation(operation, { ctx, wiring, request }),
    });
  }
}
