import type { Letterhead } from "../platform/pdf.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { whenGone } from "../platform/http/calls.ts";
import { sendDocument } from "../platform/http/documents.ts";
import type { App } from "../platform/http/server.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { readContractNote } from "./contract-notes.ts";
import { readEarnings } from "./earnings.ts";
import { ContractNoteAnswer, NoteParams, NoteQuery } from "./note-schema.ts";
import { Earnings, EarningsQuery, Positions, PositionsQuery } from "./position-schema.ts";
import { readPositions } from "./positions.ts";
import { listStatements, readStatement } from "./read-statements.ts";
import {
  ListStatementsQuery,
  StatementAnswer,
  StatementList,
  StatementParams,
  StatementQuery,
} from "./statement-schema.ts";

export function positionRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/positions",
    {
      config: { demand: "orders:read", names: true },
      schema: {
        operationId: "readPositions",
        tags: ["Orders"],
        summary: "What your firms hold and have",
        description:
          "Credits by scheme and cash, all of one moment. As csv or xlsx, a row for each scheme and one for the cash.",
        querystring: PositionsQuery,
        response: { 200: Positions },
      },
    },
    async (request, reply) =>
      sendDocument(
        reply,
        await readPositions(contextFor(ctx, request.caller), request.caller, {
          ...request.query,
          gone: whenGone(reply),
        }),
      ),
  );
}

export function earningRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/earnings",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readEarnings",
        tags: ["Statements"],
        summary: "Read what your desk earned on its clients' deals",
        description:
          "Commission is a share of face, earned when a credit is delivered and taken back when that is reversed; none on crosses and on your own firm's deals. At most 366 days at once.",
        querystring: EarningsQuery,
        response: { 200: Earnings },
      },
    },
    async (request) =>
      await readAtReplica(contextFor(ctx, request.caller), (reading) =>
        readEarnings(reading, request.caller, request.query),
      ),
  );
}

export function statementRoutes(app: App, ctx: Context, letterhead: Letterhead): void {
  app.get(
    "/v1/statements",
    {
      config: { demand: "orders:read", names: true },
      schema: {
        operationId: "listStatements",
        tags: ["Statements"],
        summary: "List the monthly statements of a firm",
        description:
          "The months for which a firm has a statement, newest first, without their lines.",
        querystring: ListStatementsQuery,
        response: { 200: StatementList },
      },
    },
    async (request) =>
      await readAtReplica(contextFor(ctx, request.caller), (reading) =>
        listStatements(reading, request.caller, request.query),
      ),
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
          "opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json, csv or xlsx.",
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
