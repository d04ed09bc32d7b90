import { type DeskCall, type Operation, operation } from "../platform/http/operation.ts";
import { resumeFirm, suspendFirm } from "./change-firm.ts";
import { authorizeFirm, verifyFirm } from "./check-firm.ts";
import { firmsOfDesk, readConnection, readFirm, toRequester } from "./find-firms.ts";
import {
  CreateGroupBody,
  Group,
  GroupParams,
  GroupPositions,
  MemberParams,
  UpdateGroupBody,
} from "./group-schema.ts";
import {
  addMember,
  createGroup,
  deleteGroup,
  groupsOfDesk,
  membersOfGroup,
  readGroup,
  readGroupPositions,
  removeMember,
  updateGroup,
} from "./groups.ts";
import { offboardFirm, type Offboarding } from "./offboard-firm.ts";
import { registerFirm } from "./register-firm.ts";
import {
  DeclareRequirementBody,
  Requirement,
  RequirementParams,
  RequirementsParams,
  UpdateRequirementBody,
} from "./requirement-schema.ts";
import {
  declareRequirement,
  deleteRequirement,
  type FindCovers,
  readRequirement,
  requirementsOfFirm,
  updateRequirement,
} from "./requirements.ts";
import {
  AuthorizeFirmBody,
  Connection,
  Firm,
  FirmParams,
  NoFields,
  OffboardFirmBody,
  RegisterFirmBody,
  SuspendFirmBody,
  UpdateFirmBody,
} from "./schema.ts";
import { type FirmHooks, updateFirm } from "./update-firm.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring extends FirmHooks {
    readonly offboarding: Offboarding;
    readonly findCovers: FindCovers;
  }
}

/** What other rooms do is called by the names it has in a use case's context. */
const wire = ({ ctx, wiring }: DeskCall) => ({ ...ctx, ...wiring });

const firms = { demand: "firms", tag: "Firms" } as const;
const groups = { demand: "firms", tag: "Groups" } as const;

export const firmOperations: readonly Operation[] = [
  operation({
    id: "registerFirm",
    method: "POST",
    path: "/v1/firms",
    ...firms,
    summary: "Register a client firm",
    description: "The same IEC twice on a desk is a conflict that names the firm.",
    body: RegisterFirmBody,
    creates: true,
    answer: Firm,
    run: (call, body) => registerFirm(wire(call), call, body),
  }),
  operation({
    id: "listFirms",
    method: "GET",
    path: "/v1/firms",
    ...firms,
    summary: "List the firms of your desk",
    description:
      "Newest first. Filters combine: a firm is shown when all of them fit. A sub_account key sees its own firm.",
    list: firmsOfDesk,
  }),
  operation({
    id: "readFirm",
    method: "GET",
    path: "/v1/firms/:firm_id",
    ...firms,
    summary: "Read a firm",
    description:
      "A firm with its identifiers, its connection and what it can do next. The account number is masked.",
    params: FirmParams,
    answer: Firm,
    run: ({ ctx, caller }, { firm_id }) => readFirm(ctx, caller, firm_id),
  }),
  operation({
    id: "updateFirm",
    method: "PATCH",
    path: "/v1/firms/:firm_id",
    ...firms,
    summary: "Correct a firm's particulars",
    description:
      "A bank or IEC change holds payouts for 24 hours. A verified firm that changes who it is goes through verification again.",
    params: FirmParams,
    body: UpdateFirmBody,
    answer: Firm,
    run: (call, asked) => updateFirm(wire(call), toRequester(call), asked),
  }),
  operation({
    id: "readConnection",
    method: "GET",
    path: "/v1/firms/:firm_id/connection",
    ...firms,
    summary: "How far a firm's connection has come",
    description:
      "The part of a firm that changes while it is verified and authorized: its state, every check with its outcome and cure, holds on its payouts, and whether customs and bank answer.",
    params: FirmParams,
    answer: Connection,
    run: ({ ctx, caller }, { firm_id }) => readConnection(ctx, caller, firm_id),
  }),
  operation({
    id: "verifyFirm",
    method: "POST",
    path: "/v1/firms/:firm_id/verify",
    ...firms,
    summary: "Have a firm verified",
    description: "The registry and the bank answer later; poll the connection.",
    params: FirmParams,
    body: NoFields,
    takesNoBody: true,
    answer: Firm,
    run: (call, { firm_id }) => verifyFirm(call.ctx, toRequester(call), firm_id),
  }),
  operation({
    id: "authorizeFirm",
    method: "POST",
    path: "/v1/firms/:firm_id/authorize",
    ...firms,
    summary: "Give the firm's mandate to trade for it",
    description:
      "Records the mandate that lets your desk act for the firm, after it was verified. The same mandate again changes nothing; a new one replaces the old.",
    params: FirmParams,
    body: AuthorizeFirmBody,
    answer: Firm,
    run: (call, { firm_id: firmId, mandate }) =>
      authorizeFirm(call.ctx, toRequester(call), { firmId, mandate }),
  }),
  operation({
    id: "suspendFirm",
    method: "POST",
    path: "/v1/firms/:firm_id/suspend",
    ...firms,
    summary: "Stop trading for a firm",
    description:
      "Stops quotes, orders and crosses of the firm, and holds its payouts. Deals that were made are settled. Suspending twice is no conflict.",
    params: FirmParams,
    body: SuspendFirmBody,
    answer: Firm,
    run: (call, { firm_id: firmId, reason }) =>
      suspendFirm(call.ctx, toRequester(call), { firmId, reason }),
  }),
  operation({
    id: "resumeFirm",
    method: "POST",
    path: "/v1/firms/:firm_id/resume",
    ...firms,
    summary: "End a suspension",
    description: "Ends a suspension by your desk. One by the operator is ended by the operator.",
    params: FirmParams,
    body: NoFields,
    takesNoBody: true,
    answer: Firm,
    run: (call, { firm_id }) => resumeFirm(call.ctx, toRequester(call), firm_id),
  }),
  operation({
    id: "offboardFirm",
    method: "POST",
    path: "/v1/firms/:firm_id/offboard",
    ...firms,
    summary: "Let a firm go",
    description:
      "Open business is a conflict that lists it, or is waited for with mode drain. Personal data is masked, the firm's own keys are revoked and its listed credits withdrawn.",
    params: FirmParams,
    body: OffboardFirmBody,
    takesNoBody: true,
    answer: Firm,
    run: (call, { firm_id: firmId, mode }) =>
      offboardFirm(call.ctx, toRequester(call), { firmId, mode, ...call.wiring }),
  }),
  operation({
    id: "createGroup",
    method: "POST",
    path: "/v1/groups",
    ...groups,
    summary: "Create a group",
    description: "A name that a group of your desk has is a conflict with its group_id.",
    body: CreateGroupBody,
    creates: true,
    answer: Group,
    run: (call, body) => createGroup(call.ctx, call, body),
  }),
  operation({
    id: "listGroups",
    method: "GET",
    path: "/v1/groups",
    ...groups,
    config: { orDemand: "orders:read" },
    summary: "List the groups of your desk",
    description: "The groups of your desk, newest first.",
    list: groupsOfDesk,
  }),
  operation({
    id: "readGroup",
    method: "GET",
    path: "/v1/groups/:group_id",
    ...groups,
    summary: "Read a group",
    description: "A group of your desk. Its firms are in its members.",
    params: GroupParams,
    answer: Group,
    run: ({ ctx, caller }, { group_id }) => readGroup(ctx, caller, group_id),
  }),
  operation({
    id: "updateGroup",
    method: "PATCH",
    path: "/v1/groups/:group_id",
    ...groups,
    summary: "Rename a group",
    description: "Renames a group. A name is unique on your desk.",
    params: GroupParams,
    body: UpdateGroupBody,
    answer: Group,
    run: (call, asked) => updateGroup(call.ctx, call, asked),
  }),
  operation({
    id: "deleteGroup",
    method: "DELETE",
    path: "/v1/groups/:group_id",
    ...groups,
    summary: "Delete a group without members",
    description: "A group that has members is a conflict: take them out first.",
    params: GroupParams,
    answer: Group,
    run: (call, { group_id }) => deleteGroup(call.ctx, call, group_id),
  }),
  operation({
    id: "listMembers",
    method: "GET",
    path: "/v1/groups/:group_id/members",
    ...groups,
    summary: "List the members of a group",
    description: "The firms of a group with their connection state, newest first.",
    list: membersOfGroup,
  }),
  operation({
    id: "addMember",
    method: "PUT",
    path: "/v1/groups/:group_id/members/:firm_id",
    ...groups,
    summary: "Put a firm into a group",
    description: "A firm is in one group at a time. Putting a member in again is no conflict.",
    params: MemberParams,
    answer: Group,
    run: (call, asked) => addMember(call.ctx, call, asked),
  }),
  operation({
    id: "removeMember",
    method: "DELETE",
    path: "/v1/groups/:group_id/members/:firm_id",
    ...groups,
    summary: "Take a firm out of a group",
    description: "Taking out a firm that is not in it changes nothing.",
    params: MemberParams,
    answer: Group,
    run: (call, asked) => removeMember(call.ctx, call, asked),
  }),
  operation({
    id: "readGroupPositions",
    method: "GET",
    path: "/v1/groups/:group_id/positions",
    demand: "orders:read",
    tag: "Groups",
    summary: "What a group holds against the basic customs duty it will owe",
    description:
      "One consistent snapshot. Sums are exact: beyond 2^53-1 paise they have all their digits.",
    params: GroupParams,
    answer: GroupPositions,
    run: ({ ctx, caller }, { group_id }) => readGroupPositions(ctx, caller, group_id),
  }),
  operation({
    id: "declareRequirement",
    method: "POST",
    path: "/v1/firms/:firm_id/requirements",
    ...groups,
    summary: "Declare basic customs duty that a firm will have to pay",
    description: "A reference the firm has used is a conflict with its requirement_id.",
    params: RequirementsParams,
    body: DeclareRequirementBody,
    creates: true,
    answer: Requirement,
    run: (call, asked) => declareRequirement(wire(call), call, asked),
  }),
  operation({
    id: "listRequirements",
    method: "GET",
    path: "/v1/firms/:firm_id/requirements",
    ...groups,
    summary: "List the requirements of a firm",
    description:
      "The basic customs duty that a firm has declared, newest first, and what its orders have " +
      "bought of it.",
    config: { orDemand: "orders:read" },
    list: requirementsOfFirm,
  }),
  operation({
    id: "readRequirement",
    method: "GET",
    path: "/v1/firms/:firm_id/requirements/:requirement_id",
    ...groups,
    summary: "Read a requirement",
    description:
      "A firm's declared basic customs duty: how much, when it is due, which scheme is to cover " +
      "it, and how much of it is covered.",
    config: { orDemand: "orders:read" },
    params: RequirementParams,
    answer: Requirement,
    run: (call, asked) => readRequirement(wire(call), call.caller, asked),
  }),
  operation({
    id: "updateRequirement",
    method: "PATCH",
    path: "/v1/firms/:firm_id/requirements/:requirement_id",
    ...groups,
    summary: "Change a requirement",
    description:
      "Fields that are not named stay as they are. While an order rests for it, neither its scheme " +
      "changes nor its amount below what the order may still buy: a conflict with its order_id.",
    params: RequirementParams,
    body: UpdateRequirementBody,
    answer: Requirement,
    run: (call, asked) => updateRequirement(wire(call), call, asked),
  }),
  operation({
    id: "deleteRequirement",
    method: "DELETE",
    path: "/v1/firms/:firm_id/requirements/:requirement_id",
    ...groups,
    summary: "Take a requirement back",
    description:
      "A requirement that was met, or that never came to be. While an order rests for it this is a " +
      "conflict with its order_id: cancel that first.",
    params: RequirementParams,
    answer: Requirement,
    run: (call, asked) => deleteRequirement(wire(call), call, asked),
  }),
];
