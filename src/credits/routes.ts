import {
  toCall,
  sendPage,
  sendReplayable,
  takeNoBodyAsEmpty,
  whenGone,
} from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { sendDocument } from "../platform/http/documents.ts";
import type { App } from "../platform/http/server.ts";
import { compileBatchValidator } from "../platform/http/validation.ts";
import { declareCredits, importCredits, syncCredits } from "./declare-credits.ts";
import { useCredit, withdrawCredit } from "./end-holdings.ts";
import { listCredits, ListCreditsQuery, readCredit } from "./read-credits.ts";
import {
  Credit,
  CreditList,
  CreditParams,
  DeclarationResults,
  DeclareCreditsBody,
  FirmParams,
  ImportCreditsBody,
  ImportResults,
  UseCreditBody,
} from "./schema.ts";

export function creditRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/firms/:firm_id/credits",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "listCredits",
        tags: ["Credits"],
        summary: "List a firm's credits",
        description:
          "What a firm holds and held, newest first. `not_sellable_reason` says of each why it cannot be sold now.",
        params: FirmParams,
        querystring: ListCreditsQuery,
        response: { 200: CreditList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "credits",
        await listCredits(
          contextFor(ctx, request.caller),
          request.caller,
          request.params.firm_id,
          request.query,
        ),
      ),
  );

  app.post(
    "/v1/firms/:firm_id/credits",
    {
      config: { demand: "firms", creates: true },
      validatorCompiler: compileBatchValidator,
      schema: {
        operationId: "declareCredits",
        tags: ["Credits"],
        summary: "Declare 1 to 500 credits that a firm holds",
        description:
          "A declaration is a claim: declared until the registry confirms it, then listed. The same " +
          "credit again is ok with 200; with other facts it is a 409.",
        params: FirmParams,
        body: DeclareCreditsBody,
        response: { 200: DeclarationResults },
      },
    },
    async (request, reply) => {
      const call = toCall(request, reply);
      const declared = await declareCredits(
        contextFor(ctx, request.caller),
        call,
        request.params.firm_id,
        request.body,
      );
      return sendReplayable(reply, declared);
    },
  );

  app.post(
    "/v1/firms/:firm_id/credits::import",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "importCredits",
        tags: ["Credits"],
        summary: "Import a report of the customs portal",
        description:
          "As csv, or as xlsx in base64. Headings are known by many names, days as DD/MM/YYYY, DD-MM-YYYY, DD-MON-YYYY or ISO, " +
          "amounts in rupees. A row whose balance fell lowers the credit's; otherwise a row is " +
          "answered like a declaration, and sending the file again changes nothing.",
        params: FirmParams,
        body: ImportCreditsBody,
        response: { 200: ImportResults },
      },
    },
    async (request, reply) => {
      const { firm_id: firmId } = request.params;
      const asked = { ...request.body, firmId, gone: whenGone(reply) };
      return sendDocument(
        reply,
        await importCredits(contextFor(ctx, request.caller), toCall(request, reply), asked),
      );
    },
  );

  app.post(
    "/v1/firms/:firm_id/credits::sync",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "syncCredits",
        tags: ["Credits"],
        summary: "Take a firm's credits from the registry",
        description:
          "Sandbox only: customs offers no interface for this, so a live key is answered 409 with " +
          "detail.reason registry_attested_only; declare or import instead.",
        params: FirmParams,
        response: { 200: DeclarationResults },
      },
    },
    async (request, reply) =>
      await syncCredits(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.firm_id,
      ),
  );

  app.get(
    "/v1/credits/:scrip_no",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "readCredit",
        tags: ["Credits"],
        summary: "Read a credit of your desk",
        description:
          "By its number, where a / is written as %2F, or by its credit_id. A number names the live " +
          "holding, otherwise the latest.",
        params: CreditParams,
        response: { 200: Credit },
      },
    },
    async (request) =>
      await readCredit(contextFor(ctx, request.caller), request.caller, request.params.scrip_no),
  );

  app.post(
    "/v1/credits/:scrip_no/withdraw",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "withdrawCredit",
        tags: ["Credits"],
        summary: "Take a credit off your desk",
        description: "It may be declared again. Withdrawing twice is no conflict.",
        params: CreditParams,
        response: { 200: Credit },
      },
    },
    async (request, reply) =>
      await withdrawCredit(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.scrip_no,
      ),
  );

  app.post(
    "/v1/credits/:scrip_no/use",
    {
      config: { demand: "firms" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "useCredit",
        tags: ["Credits"],
        summary: "Use a credit, or a part of it, for basic customs duty",
        description:
          "A part by its bill of entry lowers the balance, face_paise; uses tells the parts. Without " +
          "an amount all that is left is used. The same bill again is no conflict where nothing of it " +
          "differs, nor is marking a used credit as used. Only a credit that no deal holds is used; a " +
          "quote on it binds the balance that it was given for.",
        params: CreditParams,
        body: UseCreditBody,
        response: { 200: Credit },
      },
    },
    async (request, reply) =>
      await useCredit(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.scrip_no,
        request.body,
      ),
  );
}
