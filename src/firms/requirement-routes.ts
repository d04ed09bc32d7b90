import { callOf, sendCreation, sendPage } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import {
  declareRequirement,
  deleteRequirement,
  listRequirements,
  readRequirement,
  updateRequirement,
} from "./requirements.ts";
import {
  DeclareRequirementBody,
  ListRequirementsQuery,
  Requirement,
  RequirementList,
  RequirementParams,
  RequirementsParams,
  UpdateRequirementBody,
} from "./requirement-schema.ts";

export function requirementRoutes(app: App, ctx: Context): void {
  app.post(
    "/v1/firms/:firm_id/requirements",
    {
      config: { demand: "firms", creates: true },
      schema: {
        operationId: "declareRequirement",
        tags: ["Groups"],
        summary: "Declare duty that a firm will have to pay",
        description: "A reference the firm has used is a conflict with its requirement_id.",
        params: RequirementsParams,
        body: DeclareRequirementBody,
        response: { 201: Requirement, 200: Requirement },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await declareRequirement(contextFor(ctx, request.caller), callOf(request, reply), {
          firmId: request.params.firm_id,
          ...request.body,
        }),
      ),
  );

  app.get(
    "/v1/firms/:firm_id/requirements",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "listRequirements",
        tags: ["Groups"],
        summary: "List the requirements of a firm",
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
      config: { demand: "firms" },
      schema: {
        operationId: "readRequirement",
        tags: ["Groups"],
        summary: "Read a requirement",
        params: RequirementParams,
        response: { 200: Requirement },
      },
    },
    async (request) =>
      await readRequirement(contextFor(ctx, request.caller), request.caller, {
        firmId: request.params.firm_id,
        requirementId: request.params.requirement_id,
      }),
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
      await updateRequirement(contextFor(ctx, request.caller), callOf(request, reply), {
        firmId: request.params.firm_id,
        requirementId: request.params.requirement_id,
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
      await deleteRequirement(contextFor(ctx, request.caller), callOf(request, reply), {
        firmId: request.params.firm_id,
        requirementId: request.params.requirement_id,
      }),
  );
}
