import type { Letterhead } from "../kernel/letterhead.ts";
import { whenGone } from "../platform/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { sendDocument } from "../platform/documents.ts";
import type { App } from "../platform/http.ts";
import { readContractNote } from "./read-contract-note.ts";
import { ContractNoteAnswer, NoteParams, NoteQuery } from "./schema.ts";

export function noteRoutes(app: App, ctx: Context, letterhead: Letterhead): void {
  app.get(
    "/v1/settlements/:settlement_id/contract-note",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readContractNote",
        tags: ["Statements"],
        summary: "Read the contract note of a deal",
        description:
          "Of your own sides only: each credit with its price and value, fee and GST on it, and the bank's references once money has moved.",
        params: NoteParams,
        querystring: NoteQuery,
        response: { 200: ContractNoteAnswer },
      },
    },
    async (request, reply) =>
      sendDocument(
        reply,
        await readContractNote(contextFor(ctx, request.caller), request.caller, {
          ...request.query,
          settlementId: request.params.settlement_id,
          letterhead,
          gone: whenGone(reply),
        }),
      ),
  );
}
