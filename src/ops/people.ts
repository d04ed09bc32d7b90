import { Type } from "typebox";

import { approveProposal, rejectProposal } from "../operators/decide-approval.ts";
import { listApprovals, showApproval, viewApproval } from "../operators/list-approvals.ts";
import { approvalStates } from "../operators/approval-rules.ts";
import { operatorRoles } from "../kernel/actor.ts";
import {
  addOperator,
  disableOperator,
  listOperators,
  resetOperator,
} from "../operators/manage-operators.ts";
import { listPermissions } from "../operators/rules.ts";
import { enrolOperator, signIn, signOut } from "../operators/sign-in.ts";
import {
  addNoticeAddress,
  listNoticeAddresses,
  removeNoticeAddress,
  setNoticeOptOuts,
} from "../notices/manage-addresses.ts";
import { listNotices, sendNoticeAgain } from "../notices/read-notices.ts";
import { noticeStates, occasions } from "../notices/rules.ts";
import { resolveSearch } from "../overview/desks.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { body, closedEnum } from "../platform/http/wire.ts";
import {
  act,
  cursor,
  id,
  listQuery,
  optional,
  read,
  readPage,
  spanQuery,
  text,
} from "./operation.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import {
  Approval,
  Approvals,
  Approved,
  Enrolled,
  LetIn,
  NoticeAddress,
  NoticeAddresses,
  Notices,
  NoticeSentAgain,
  People,
  Person,
  SignedIn,
  SignedOut,
  WhoIsSignedIn,
} from "./people-schema.ts";

const name = text("The person's name; compared without case and spaces.", 64);
const role = closedEnum(operatorRoles, { description: "What they may do." });
const password = Type.String({ minLength: 1, maxLength: 256, description: "Their password." });

const people = { tag: "People" } as const;
const approvals = { tag: "Approvals" } as const;
const notices = { tag: "Notices" } as const;
const writing = "notices.write";

export const peopleOperations: readonly Operation[] = [
  operation({
    id: "signIn",
    method: "POST",
    path: "/ops/sign-in",
    keyless: { budget: "attempts" },
    ...people,
    summary: "Sign in with password and authenticator code; the token is a bearer's for 12 hours",
    body: body({
      name,
      password,
      code: Type.String({ pattern: "^[0-9]{6}$", description: "Six digits; used once." }),
    }),
    answer: SignedIn,
    run: async ({ ctx, from, requestId }, given) =>
      await signIn(ctx, { ...given, from, requestId }),
  }),
  operation({
    id: "enrol",
    method: "POST",
    path: "/ops/enrol",
    keyless: { budget: "attempts" },
    ...people,
    summary: "Choose a password with the codes of those who let you in",
    body: body({
      name,
      password,
      codes: Type.Array(text("A code.", 64), {
        minItems: 1,
        maxItems: 4,
        description: "One from each person who let you in.",
      }),
    }),
    answer: Enrolled,
    run: async ({ ctx, from, requestId }, given) =>
      await enrolOperator(ctx, { ...given, from, requestId }),
  }),
  act("signOut", "/ops/sign-out", {
    ...people,
    summary: "End this session",
    permission: "read",
    answer: SignedOut,
    run: async ({ ctx, actor, token }) => {
      await signOut(ctx, token, actor.requestId);
      return { signed_out: true };
    },
  }),
  read("whoIsSignedIn", "/ops/whoami", {
    ...people,
    summary: "Who you are, what your role is and what it permits",
    answer: WhoIsSignedIn,
    run: async ({ actor: { id, role } }) => ({
      name: id,
      ...(role && { role }),
      permissions: listPermissions(role),
    }),
  }),
  read("listOperators", "/ops/operators", {
    ...people,
    summary: "List the people who run the service",
    answer: People,
    run: async ({ ctx }) => ({ operators: await listOperators(ctx) }),
  }),
  act("addOperator", "/ops/operators", {
    ...people,
    summary: "Let a person in; another admin approves it once there have been two",
    permission: "operators.write",
    body: { name, role },
    answer: LetIn,
    run: async ({ ctx, actor, body }) => await addOperator(ctx, actor, body),
  }),
  act("resetOperator", "/ops/operators/reset", {
    ...people,
    summary: "End a person's credentials and let them enrol anew",
    permission: "operators.write",
    body: { name, role: optional(role) },
    answer: LetIn,
    run: async ({ ctx, actor, body }) => await resetOperator(ctx, actor, body),
  }),
  act("disableOperator", "/ops/operators/disable", {
    ...people,
    summary: "Shut a person out at once",
    permission: "operators.write",
    body: { name },
    answer: Person,
    run: async ({ ctx, actor, body }) => await disableOperator(ctx, actor, body.name),
  }),
  read("listApprovals", "/ops/approvals", {
    ...approvals,
    summary: "List what waits for a second person, or became of it",
    query: {
      ...listQuery,
      cursor,
      status: optional(closedEnum(approvalStates, { description: "Only those in this state." })),
      kind: optional(text("Only those of this kind.", 64)),
      ...spanQuery,
    },
    answer: Approvals,
    run: async ({ ctx, query }) =>
      await readPage("approvals", query.limit, {
        list: async (limit) =>
          await listApprovals(ctx, {
            environment: query.environment ?? null,
            kind: query.kind ?? null,
            state: query.status ?? null,
            before: query.cursor,
            limit,
            ...parseQuerySpan(query),
          }),
        findId: (row) => row.approval_id,
      }),
  }),
  read("readApproval", "/ops/approvals/:approval_id", {
    ...approvals,
    summary: "Read a proposal: its terms, and what will happen",
    answer: Approval,
    run: async ({ ctx, params }) => await showApproval(ctx, params["approval_id"] ?? ""),
  }),
  act("approveProposal", "/ops/approvals/:approval_id/approve", {
    ...approvals,
    summary: "Approve what somebody else proposed; it is carried out at once",
    permission: "approvals.decide",
    answer: Approved,
    run: async ({ ctx, actor, params, wiring: { kinds } }) => {
      const approvalId = params["approval_id"] ?? "";
      const decided = await approveProposal(ctx, actor, { approvalId, kinds });
      return {
        approval: viewApproval(decided.approval, ctx.now()),
        result: decided.answer ?? null,
      };
    },
  }),
  act("rejectProposal", "/ops/approvals/:approval_id/reject", {
    ...approvals,
    summary: "Reject a proposal, or take back your own",
    permission: "approvals.decide",
    body: { reason: text("Why.") },
    answer: Approval,
    run: async ({ ctx, actor, params, body, wiring: { kinds } }) => {
      const approvalId = params["approval_id"] ?? "";
      const row = await rejectProposal(ctx, actor, { approvalId, reason: body.reason, kinds });
      return viewApproval(row, ctx.now());
    },
  }),
  read("listNoticeAddresses", "/ops/notice-addresses", {
    ...notices,
    summary: "List who gets notices by mail",
    query: {
      ...listQuery,
      cursor,
      desk_id: optional(id("Only of this desk.")),
      firm_id: optional(id("Only of the desk of this firm.")),
      of: optional(
        closedEnum(["desks", "people"], { description: "Only of desks, or of people." }),
      ),
    },
    answer: NoticeAddresses,
    run: async ({
      ctx,
      query: { environment = null, of = null, cursor: before = null, ...query },
    }) => {
      const { deskId } = await resolveSearch(ctx, query);
      const page = await readPage("addresses", query.limit, {
        list: async (limit) =>
          await listNoticeAddresses(ctx, { environment, deskId, of, before, limit }),
        findId: (row) => row.address_id,
      });
      return { ...page, desk_id: deskId };
    },
  }),
  act("addNoticeAddress", "/ops/notice-addresses", {
    ...notices,
    summary: "Let an address of a desk or of a person get notices",
    permission: writing,
    body: {
      email: text("The address.", 254),
      desk_id: optional(id("Of this desk.")),
      person: optional(text("Or of this person who runs the service.", 64)),
    },
    answer: NoticeAddress,
    run: async ({ ctx, actor, body: { email, desk_id, person } }) =>
      await addNoticeAddress(ctx, actor, { email, deskId: desk_id, person }),
  }),
  act("setNoticeOptOuts", "/ops/notice-addresses/:address_id", {
    ...notices,
    method: "PUT",
    summary: "Set what an address is not told of",
    permission: writing,
    body: {
      opted_out: Type.Array(closedEnum(occasions, { description: "An occasion." }), {
        maxItems: occasions.length,
        description: "What it is not told of; it is told of everything else.",
      }),
    },
    answer: NoticeAddress,
    run: async ({ ctx, actor, params, body }) =>
      await setNoticeOptOuts(ctx, actor, {
        addressId: params["address_id"] ?? "",
        optedOut: body.opted_out,
      }),
  }),
  act("removeNoticeAddress", "/ops/notice-addresses/:address_id/remove", {
    ...notices,
    summary: "Send nothing more to an address; what it opted out of is kept",
    permission: writing,
    answer: NoticeAddress,
    run: async ({ ctx, actor, params }) =>
      await removeNoticeAddress(ctx, actor, params["address_id"] ?? ""),
  }),
  read("listNotices", "/ops/notices", {
    ...notices,
    summary: "List notices: what waits, what was sent, and what was given up",
    query: {
      ...listQuery,
      cursor,
      status: optional(closedEnum(noticeStates, { description: "Only in this state." })),
      occasion: optional(closedEnum(occasions, { description: "Only of this occasion." })),
      desk_id: optional(id("Only of this desk.")),
      ...spanQuery,
    },
    answer: Notices,
    run: async ({ ctx, query, wiring: { sendsNotices } }) => {
      const page = await readPage("notices", query.limit, {
        list: async (limit) =>
          await listNotices(ctx, {
            environment: query.environment ?? null,
            deskId: query.desk_id ?? null,
            state: query.status ?? null,
            occasion: query.occasion ?? null,
            before: query.cursor ?? null,
            limit,
            ...parseQuerySpan(query),
          }),
        findId: (row) => row.notice_id,
      });
      return { ...page, sending: sendsNotices };
    },
  }),
  act("sendNoticeAgain", "/ops/notices/:notice_id/send-again", {
    ...notices,
    summary: "Try a dead notice anew",
    permission: writing,
    answer: NoticeSentAgain,
    run: async ({ ctx, actor, params }) =>
      await sendNoticeAgain(ctx, actor, params["notice_id"] ?? ""),
  }),
];
