import type { Context } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import type { Streams } from "../platform/http/sse.ts";
import { serializeAnswer } from "./serialize-answer.ts";
import { callOperation, operations } from "./operations.ts";
import type { OpsWiring } from "./operation.ts";

const streamsPerPersonMax = 10;

/** Registers every operation of `operations.ts`. */
export function opsRoutes(
  app: App,
  ctx: Context,
  { wiring, streams }: { readonly wiring: OpsWiring; readonly streams: Streams },
): void {
  for (const operation of operations) {
    const { method, path: url, operationId, query: querystring, body, answer } = operation;
    app.route({
      method,
      url,
      config: operation.config,
      schema: { operationId, querystring, ...(body && { body }), response: { 200: answer } },
      preValidation: operation.preValidation,
      serializerCompiler: () => serializeAnswer,
      handler: async (request, reply) => {
        const open = () => streams.open(request, reply, { perKeyMax: streamsPerPersonMax });
        return await callOperation(operation, { ctx, wiring, request, open });
      },
    });
  }
}
