import { toCall, sendCreation, whenGone } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import { crossNetting } from "./cross-netting.ts";
import { proposeNetting } from "./net-group.ts";
import { CrossNettingBody, Netting, NettingCrosses, NettingParams } from "./schema.ts";

export function nettingRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/groups/:group_id/netting",
    {
      config: { demand: "orders:read", conflicts: true },
      schema: {
        operationId: "proposeNetting",
        tags: ["Groups"],
        summary: "Which credits to move inside a group",
        description:
          "Whole credits pay the basic customs duty of the members so that the least is left uncovered; a firm's " +
          "own credits pay its own duty without a move. Then the fewest moves, the fewest credits " +
          "and the earliest expiry. A credit pays duty that is due no later than it expires.",
        params: NettingParams,
        response: { 200: Netting },
      },
    },
    async (request, reply) => {
      const { headers, netting } = await proposeNetting(
        contextFor(ctx, request.caller),
        request.caller,
        {
          groupId: request.params.group_id,
          gone: whenGone(reply),
        },
      );
      reply.headers(headers);
      return netting;
    },
  );

  app.post(
    "/v1/groups/:group_id/netting/crosses",
    {
      config: { demand: "orders:write", creates: true },
      schema: {
        operationId: "crossNetting",
        tags: ["Groups"],
        summary: "Turn a netting into crosses",
        description:
          "All of its proposals or none, at their prices. A netting is used once, within its time, " +
          "and while its members, credits and requirements are what they were; otherwise it is a " +
          "conflict that says why.",
        params: NettingParams,
        body: CrossNettingBody,
        response: { 201: NettingCrosses, 200: NettingCrosses },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await crossNetting(contextFor(ctx, request.caller), toCall(request, reply), {
          groupId: request.params.group_id,
          nettingRef: request.body.netting_ref,
        }),
      ),
  );
}
