import { type Context, contextFor } from "../platform/context.ts";
import { toCall, sendCreation, sendPage, takeNoBodyAsEmpty } from "../platform/http/calls.ts";
import type { App } from "../platform/http/server.ts";
import { resumeFirm, suspendFirm } from "./change-firm.ts";
import { authorizeFirm, verifyFirm } from "./check-firm.ts";
import { listFirms, ListFirmsQuery, readConnection, readFirm, toRequester } from "./find-firms.ts";
import { offboardFirm, type Offboarding } from "./offboard-firm.ts";
import { registerFirm } from "./register-firm.ts";
import {
  DeclareRequirementBody,
  Requirement,
  RequirementList,
  RequirementParams,
  RequirementsParams,
  UpdateRequirementBody,
} from "./requirement-schema.ts";
import {
  declareRequirement,
  deleteRequirement,
  listRequirements,
  ListRequirementsQuery,
  readRequirement,
  type RequirementContext,
  updateRequirement,
} from "./requirements.ts";
import {
  AuthorizeFirmBody,
  Connection,
  Firm,
  FirmList,
  FirmParams,
  NoFields,
  OffboardFirmBody,
  RegisterFirmBody,
  SuspendFirmBody,
  UpdateFirmBody,
} from "./schema.ts";
import { type FirmHooks, updateFirm } from "./update-firm.ts";

export function firmRoutes(app: App, ctx: Context & FirmHooks, offboarding: Offboarding): void {
  app.post(
    "/v1/firms",
    {
      config: { demand: "firms", creates: true },
      schema: {
        operationId: "registerFirm",
        tags: ["Firms"],
        summary: "Register a client firm",
        description: "The same IEC twice on a desk is a conflict that names the firm.",
        body: RegisterFirmBody,
        response: { 201: Firm, 200: Firm },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await registerFirm(contextFor(ctx, request.caller), toCall(request, reply), request.body),
      ),
  );

  app.get(
    "/v1/firms",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "listFirms",
        tags: ["Firms"],
        summary: "List the firms of your desk",
        description:
          "Newest first. Filters combine: a firm is shown when all of them fit. A sub_account key sees its own firm.",
        querystring: ListFirmsQuery,
        response: { 200: FirmList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "firms",
        await listFirms(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.get(
    "/v1/firms/:firm_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "readFirm",
        tags: ["Firms"],
        summary: "Read a firm",
        description:
          "A firm with its identifiers, its connection and what it can do next. The account number is masked.",
        params: FirmParams,
        response: { 200: Firm },
      },
    },
    async (request) =>
      await readFirm(contextFor(ctx, request.caller), request.caller, request.params.firm_id),
  );

  app.patch(
    "/v1/firms/:firm_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "updateFirm",
        tags: ["Firms"],
        summary: "Correct a firm's particulars",
        description:
          "A bank or IEC change holds payouts for 24 hours. A verified firm that changes who it is goes through verification again.",
        params: FirmParams,
        body: UpdateFirmBody,
        response: { 200: Firm },
      },
    },
    async (request, reply) =>
      await updateFirm(contextFor(ctx, request.caller), toRequester(toCall(request, reply)), {
        firmId: request.params.firm_id,
        body: request.body,
      }),
  );

  app.get(
    "/v1/firms/:firm_id/connection",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "readConnection",
        tags: ["Firms"],
        summary: "How far a firm's connection has come",
        description:
          "The part of a firm that changes while it is verified and authorized: its state, every check with its outcome and cure, holds on its payouts, and whether customs and bank answer.",
        params: FirmParams,
        response: { 200: Connection },
      },
    },
    async (request) =>
      await readConnection(contextFor(ctx, request.caller), request.caller, request.params.firm_id),
  );

  app.post(
    "/v1/firms/:firm_id/verify",
    {
      config: { demand: "firms" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "verifyFirm",
        tags: ["Firms"],
        summary: "Have a firm verified",
        description: "The registry and the bank answer later; poll the connection.",
        params: FirmParams,
        body: NoFields,
        response: { 200: Firm },
      },
    },
    async (request, reply) =>
      await verifyFirm(
        contextFor(ctx, request.caller),
        toRequester(toCall(request, reply)),
        request.params.firm_id,
      ),
  );

  app.post(
    "/v1/firms/:firm_id/authorize",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "authorizeFirm",
        tags: ["Firms"],
        summary: "Give the firm's mandate to trade for it",
        description:
          "Records the mandate that lets your desk act for the firm, after it was verified. The same mandate again changes nothing; a new one replaces the old.",
        params: FirmParams,
        body: AuthorizeFirmBody,
        response: { 200: Firm },
      },
    },
    async (request, reply) =>
      await authorizeFirm(contextFor(ctx, request.caller), toRequester(toCall(request, reply)), {
        firmId: request.params.firm_id,
        mandate: request.body.mandate,
      }),
  );

  app.post(
    "/v1/firms/:firm_id/suspend",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "suspendFirm",
        tags: ["Firms"],
        summary: "Stop trading for a firm",
        description:
          "Stops quotes, orders and crosses of the firm, and holds its payouts. Deals that were made are settled. Suspending twice is no conflict.",
        params: FirmParams,
        body: SuspendFirmBody,
        response: { 200: Firm },
      },
    },
    async (request, reply) =>
      await suspendFirm(contextFor(ctx, request.caller), toRequester(toCall(request, reply)), {
        firmId: request.params.firm_id,
        reason: request.body.reason,
      }),
  );

  app.post(
    "/v1/firms/:firm_id/resume",
    {
      config: { demand: "firms" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "resumeFirm",
        tags: ["Firms"],
        summary: "End a suspension",
        description:
          "Ends a suspension by your desk. One by the operator is ended by the operator.",
        params: FirmParams,
        body: NoFields,
        response: { 200: Firm },
      },
    },
    async (request, reply) =>
      await resumeFirm(
        contextFor(ctx, request.caller),
        toRequester(toCall(request, reply)),
        request.params.firm_id,
      ),
  );

  app.post(
    "/v1/firms/:firm_id/offboard",
    {
      config: { demand: "firms" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "offboardFirm",
        tags: ["Firms"],
        summary: "Let a firm go",
        description:
          "Open business is a conflict that lists it, or is waited for with mode drain. Personal data is masked, the firm's own keys are revoked and its listed credits withdrawn.",
        params: FirmParams,
        body: OffboardFirmBody,
        response: { 200: Firm },
      },
    },
    async (request, reply) =>
      await offboardFirm(contextFor(ctx, request.caller), toRequester(toCall(request, reply)), {
        firmId: request.params.firm_id,
        mode: request.body.mode,
        offboarding,
      }),
  );
}

export function requirementRoutes(app: App, ctx: RequirementContext): void {
  app.post(
    "/v1/firms/:firm_id/requirements",
    {
      config: { demand: "firms", creates: true },
      schema: {
        operationId: "declareRequirement",
        tags: ["Groups"],
        summary: "Declare basic customs duty that a firm will have to pay",
        description: "A reference the firm has used is a conflict with its requirement_id.",
        params: RequirementsParams,
        body: DeclareRequirementBody,
        response: { 201: Requirement, 200: Requirement },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await declareRequirement(contextFor(ctx, request.caller), toCall(request, reply), {
          firmId: request.params.firm_id,
          ...request.body,
        }),
      ),
  );

  app.get(
    "/v1/firms/:firm_id/requirements",
    {
      config: { demand: "firms", orDemand: "orders:read" },
      schema: {
        operationId: "listRequirements",
        tags: ["Groups"],
        summary: "List the requirements of a firm",
        description:
          "The basic customs duty that a firm has declared, newest first, and what its orders have " +
          "bought of it.",
        params: RequirementsParams,
        querystring: ListRequirementsQuery,
        response: { 200: RequirementList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "requirements",
        await listRequirements(contextFor(ctx, request.caller), request.caller, {
          firmId: request.params.firm_id,
          ...request.query,
        }),
      ),
  );

  app.get(
    "/v1/firms/:firm_id/requirements/:requirement_id",
    {
      config: { demand: "firms", orDemand: "orders:read" },
      schema: {
        operationId: "readRequirement",
        tags: ["Groups"],
        summary: "Read a requirement",
        description:
          "A firm's declared basic customs duty: how much, when it is due, which scheme is to cover " +
          "it, and how much of it is covered.",
        params: RequirementParams,
        response: { 200: Requirement },
      },
    },
    async (request) =>
      await readRequirement(contextFor(ctx, request.caller), request.caller, request.params),
  );

  app.patch(
    "/v1/firms/:firm_id/requirements/:requirement_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "updateRequirement",
        tags: ["Groups"],
        summary: "Change a requirement",
        description: "Fields that are not named stay as they are.",
        params: RequirementParams,
        body: UpdateRequirementBody,
        response: { 200: Requirement },
      },
    },
    async (request, reply) =>
      await updateRequirement(contextFor(ctx, request.caller), toCall(request, reply), {
        ...request.params,
        ...request.body,
      }),
  );

  app.delete(
    "/v1/firms/:firm_id/requirements/:requirement_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "deleteRequirement",
        tags: ["Groups"],
        summary: "Take a requirement back",
        description: "A requirement that was met, or that never came to be.",
        params: RequirementParams,
        response: { 200: Requirement },
      },
    },
    async (request, reply) =>
      await deleteRequirement(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params,
      ),
  );
}
