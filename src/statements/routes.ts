import type { Letterhead } from "../kernel/letterhead.ts";
import { whenGone } from "../platform/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { sendDocument } from "../platform/documents.ts";
import type { App } from "../platform/http.ts";
import { listStatements } from "./list-statements.ts";
import { readStatement } from "./read-statement.ts";
import {
  ListStatementsQuery,
  StatementAnswer,
  StatementList,
  StatementParams,
  StatementQuery,
} from "./schema.ts";

export function statementRoutes(app: App, ctx: Context, letterhead: Letterhead): void {
  app.get(
    "/v1/statements",
    {
      config: { demand: "orders:read", names: true },
      schema: {
        operationId: "listStatements",
        tags: ["Statements"],
        summary: "List the monthly statements of a firm",
        querystring: ListStatementsQuery,
        response: { 200: StatementList },
      },
    },
    async (request) =>
      await listStatements(contextFor(ctx, request.caller), request.caller, request.query),
  );

  app.get(
    "/v1/statements/:period",
    {
      config: { demand: "orders:read", conflicts: true },
      schema: {
        operationId: "readStatement",
        tags: ["Statements"],
        summary: "Read the statement of a month",
        description:
          "opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json or csv.",
        params: StatementParams,
        querystring: StatementQuery,
        response: { 200: StatementAnswer },
      },
    },
    async (request, reply) =>
      sendDocument(
        reply,
        await readStatement(contextFor(ctx, request.caller), request.caller, {
          ...request.query,
          ...request.params,
          letterhead,
          gone: whenGone(reply),
        }),
      ),
  );
}
