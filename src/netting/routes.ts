import { type Operation, operation } from "../platform/http/operation.ts";
import { crossNetting } from "./cross-netting.ts";
import { type NettingAnswer, proposeNetting } from "./net-group.ts";
import { CrossNettingBody, Netting, NettingCrosses, NettingParams } from "./schema.ts";

export const nettingOperations: readonly Operation[] = [
  operation({
    id: "proposeNetting",
    method: "GET",
    path: "/v1/groups/:group_id/netting",
    demand: "orders:read",
    tag: "Groups",
    summary: "Which credits to move inside a group",
    description:
      "Whole credits pay the basic customs duty of the members so that the least is left uncovered; a firm's " +
      "own credits pay its own duty without a move. Then the fewest moves, the fewest credits " +
      "and the earliest expiry. A credit pays duty that is due no later than it expires.",
    config: { conflicts: true },
    params: NettingParams,
    answer: Netting,
    send: (reply, { headers, netting }: NettingAnswer) => {
      reply.headers(headers);
      return netting;
    },
    run: (call, { group_id }) => proposeNetting(call.ctx, call, group_id),
  }),
  operation({
    id: "crossNetting",
    method: "POST",
    path: "/v1/groups/:group_id/netting/crosses",
    demand: "orders:write",
    tag: "Groups",
    summary: "Turn a netting into crosses",
    description:
      "All of its proposals or none, at their prices. A netting is used once, within its time, " +
      "and while its members, credits and requirements are what they were; otherwise it is a " +
      "conflict that says why.",
    params: NettingParams,
    body: CrossNettingBody,
    creates: true,
    answer: NettingCrosses,
    run: (call, asked) => crossNetting(call.ctx, call, asked),
  }),
];
