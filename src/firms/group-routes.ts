import { toCall, sendCreation, sendPage } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import {
  addMember,
  createGroup,
  deleteGroup,
  listGroups,
  listMembers,
  readGroup,
  readGroupPositions,
  removeMember,
  updateGroup,
} from "./groups.ts";
import {
  CreateGroupBody,
  Group,
  GroupList,
  GroupParams,
  GroupPositions,
  ListGroupsQuery,
  MemberList,
  MemberParams,
  UpdateGroupBody,
} from "./group-schema.ts";

export function groupRoutes(app: App, ctx: Context): void {
  app.post(
    "/v1/groups",
    {
      config: { demand: "firms", creates: true },
      schema: {
        operationId: "createGroup",
        tags: ["Groups"],
        summary: "Create a group",
        description: "A name that a group of your desk has is a conflict with its group_id.",
        body: CreateGroupBody,
        response: { 201: Group, 200: Group },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await createGroup(contextFor(ctx, request.caller), toCall(request, reply), request.body),
      ),
  );

  app.get(
    "/v1/groups",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "listGroups",
        tags: ["Groups"],
        summary: "List the groups of your desk",
        description: "The groups of your desk, newest first.",
        querystring: ListGroupsQuery,
        response: { 200: GroupList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "groups",
        await listGroups(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.get(
    "/v1/groups/:group_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "readGroup",
        tags: ["Groups"],
        summary: "Read a group",
        description: "A group of your desk. Its firms are in its members.",
        params: GroupParams,
        response: { 200: Group },
      },
    },
    async (request) =>
      await readGroup(contextFor(ctx, request.caller), request.caller, request.params.group_id),
  );

  app.patch(
    "/v1/groups/:group_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "updateGroup",
        tags: ["Groups"],
        summary: "Rename a group",
        description: "Renames a group. A name is unique on your desk.",
        params: GroupParams,
        body: UpdateGroupBody,
        response: { 200: Group },
      },
    },
    async (request, reply) =>
      await updateGroup(contextFor(ctx, request.caller), toCall(request, reply), {
        groupId: request.params.group_id,
        ...request.body,
      }),
  );

  app.delete(
    "/v1/groups/:group_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "deleteGroup",
        tags: ["Groups"],
        summary: "Delete a group without members",
        description: "A group that has members is a conflict: take them out first.",
        params: GroupParams,
        response: { 200: Group },
      },
    },
    async (request, reply) =>
      await deleteGroup(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.group_id,
      ),
  );

  app.get(
    "/v1/groups/:group_id/members",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "listMembers",
        tags: ["Groups"],
        summary: "List the members of a group",
        description: "The firms of a group with their connection state, newest first.",
        params: GroupParams,
        querystring: ListGroupsQuery,
        response: { 200: MemberList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "members",
        await listMembers(contextFor(ctx, request.caller), request.caller, {
          groupId: request.params.group_id,
          ...request.query,
        }),
      ),
  );

  app.put(
    "/v1/groups/:group_id/members/:firm_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "addMember",
        tags: ["Groups"],
        summary: "Put a firm into a group",
        description: "A firm is in one group at a time. Putting a member in again is no conflict.",
        params: MemberParams,
        response: { 200: Group },
      },
    },
    async (request, reply) =>
      await addMember(contextFor(ctx, request.caller), toCall(request, reply), {
        groupId: request.params.group_id,
        firmId: request.params.firm_id,
      }),
  );

  app.delete(
    "/v1/groups/:group_id/members/:firm_id",
    {
      config: { demand: "firms" },
      schema: {
        operationId: "removeMember",
        tags: ["Groups"],
        summary: "Take a firm out of a group",
        description: "Taking out a firm that is not in it changes nothing.",
        params: MemberParams,
        response: { 200: Group },
      },
    },
    async (request, reply) =>
      await removeMember(contextFor(ctx, request.caller), toCall(request, reply), {
        groupId: request.params.group_id,
        firmId: request.params.firm_id,
      }),
  );

  app.get(
    "/v1/groups/:group_id/positions",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readGroupPositions",
        tags: ["Groups"],
        summary: "What a group holds against the basic customs duty it will owe",
        description:
          "One consistent snapshot. Sums are exact: beyond 2^53-1 paise they have all their digits.",
        params: GroupParams,
        response: { 200: GroupPositions },
      },
    },
    async (request) =>
      await readGroupPositions(
        contextFor(ctx, request.caller),
        request.caller,
        request.params.group_id,
      ),
  );
}
