import type { DeskCall } from "../platform/http/operation.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import {
  approvalsOfDesk,
  approveAct,
  proposeAct,
  readApproval,
  readApprovalRules,
  rejectAct,
  setApprovalRules,
} from "./act-on-approval.ts";
import {
  ApprovalParams,
  ApprovalRules,
  ApproveActBody,
  DeskApproval,
  ProposeActBody,
  RejectApprovalBody,
  SetApprovalRulesBody,
} from "./schema.ts";

/** What other rooms do is called by the names it has in a use case's context. */
const wire = ({ ctx, wiring }: DeskCall) => ({ ...ctx, ...wiring });

/** A key of either kind proposes and approves what it could do alone. */
const approvals = {
  demand: "firms",
  tag: "Approvals",
  config: { orDemand: ["orders:write"] },
} as const;

export const deskApprovalOperations: readonly Operation[] = [
  operation({
    id: "readApprovalRules",
    method: "GET",
    path: "/v1/approvals/rules",
    demand: "any key",
    tag: "Approvals",
    summary: "What takes two keys of your desk",
    description: "Nothing does until a root key sets it.",
    answer: ApprovalRules,
    run: ({ ctx, caller }) => readApprovalRules(ctx, caller),
  }),
  operation({
    id: "setApprovalRules",
    method: "PUT",
    path: "/v1/approvals/rules",
    demand: "root key",
    tag: "Approvals",
    summary: "Say what takes two keys of your desk",
    description:
      "Asking for more acts at once, where two keys could approve for one another (`no_second_key`). " +
      "Asking for less takes two keys itself (`rules_take_two`): propose it with kind `rules`.",
    body: SetApprovalRulesBody,
    answer: ApprovalRules,
    run: (call, asked) => setApprovalRules(call.ctx, call, asked),
  }),
  operation({
    id: "proposeAct",
    method: "POST",
    path: "/v1/approvals",
    ...approvals,
    summary: "Propose what another key shall approve",
    description:
      "The act is tried and taken back, so what cannot be done is refused now. It waits for 72 hours. " +
      "Anything of these kinds may be proposed, also where one key would be enough.",
    body: ProposeActBody,
    creates: true,
    answer: DeskApproval,
    run: (call, asked) => proposeAct(wire(call), call, asked),
  }),
  operation({
    id: "listDeskApprovals",
    method: "GET",
    path: "/v1/approvals",
    ...approvals,
    summary: "List what was proposed, and what became of it",
    description: "Newest first. A sub_account key sees what is about its own firm.",
    list: approvalsOfDesk,
  }),
  operation({
    id: "readDeskApproval",
    method: "GET",
    path: "/v1/approvals/:approval_id",
    ...approvals,
    summary: "Read an approval",
    description: "What was proposed, by which key, and what became of it; an account in part.",
    params: ApprovalParams,
    answer: DeskApproval,
    run: ({ ctx, caller }, { approval_id }) => readApproval(ctx, caller, approval_id),
  }),
  operation({
    id: "approveAct",
    method: "POST",
    path: "/v1/approvals/:approval_id/approve",
    ...approvals,
    summary: "Approve what another key proposed; it is carried out at once",
    description:
      "By a key that could do it alone, of another name, where neither minted the other " +
      "(`not_a_second_key`); in live both keys were neither minted nor changed within 24 hours " +
      "(`key_changed_lately`). It is refused for what would refuse the act, and void where the account " +
      "is another than when it was proposed (`approval_voided`). Only the end of a proposed account is " +
      "shown, so give the `bank` that you expect: another is 409 `account_differs`.",
    params: ApprovalParams,
    body: ApproveActBody,
    takesNoBody: true,
    answer: DeskApproval,
    run: (call, asked) => approveAct(wire(call), call, asked),
  }),
  operation({
    id: "rejectAct",
    method: "POST",
    path: "/v1/approvals/:approval_id/reject",
    ...approvals,
    summary: "Reject what was proposed, or take it back",
    description: "By any key that could do it alone, the proposing one included.",
    params: ApprovalParams,
    body: RejectApprovalBody,
    answer: DeskApproval,
    run: (call, asked) => rejectAct(call.ctx, call, asked),
  }),
];
