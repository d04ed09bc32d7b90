import { Type } from "typebox";

import { approveProposal, rejectProposal } from "../operators/decide-approval.ts";
import { listApprovals, showApproval, viewApproval } from "../operators/list-approvals.ts";
import { approvalStates } from "../operators/approval-rules.ts";
import { operatorRoles } from "../kernel/actor.ts";
import { unprocessable } from "../kernel/failure.ts";
import { parseInstant } from "../kernel/time.ts";
import {
  addOperator,
  disableOperator,
  grantRole,
  listOperators,
  resetOperator,
} from "../operators/manage-operators.ts";
import { machineNamePattern, machinePermissions, networksMax } from "../operators/machine-rules.ts";
import { addMachine, disableMachine, listMachines } from "../operators/machines.ts";
import { listPermissions, signInCodePattern } from "../operators/rules.ts";
import {
  beginAuthenticator,
  beginEnrolment,
  confirmAuthenticator,
  confirmEnrolment,
  renewRecoveryCodes,
} from "../operators/enrol.ts";
import { describeSignIn, signIn, signOut } from "../operators/sign-in.ts";
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
import { body, closedEnum, timestamp } from "../platform/http/wire.ts";
import {
  cursor,
  id,
  listQuery,
  natural,
  optional,
  query,
  readQueue,
  spanQuery,
  text,
  under,
} from "./operation.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import {
  AddedMachine,
  Approval,
  Approvals,
  Approved,
  Granted,
  LetIn,
  Machine,
  Machines,
  NewFactor,
  NoticeAddress,
  NoticeAddresses,
  Notices,
  NoticeSentAgain,
  OfferedAuthenticator,
  People,
  Person,
  RecoveryCodes,
  ShownApproval,
  SignedIn,
  SignedOut,
  WhoIsSignedIn,
} from "./people-schema.ts";

const name = text("The person's name; compared without case and spaces.", 64);
const role = closedEnum(operatorRoles, { description: "What they may do." });
const password = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "The person's password.",
});

const signInCode = Type.String({
  pattern: signInCodePattern,
  description:
    "The six digits that the authenticator shows, or a recovery code; each is used once.",
});
const shownCode = Type.String({
  pattern: "^[0-9]{6}$",
  description: "The six digits that the new authenticator shows.",
});
const ticket = text("The `ticket` of the offer; it holds for 15 minutes.", 1_000);
const codes = Type.Array(text("A code that was handed over.", 64), {
  minItems: 1,
  maxItems: 4,
  description: "One from each person who let you in.",
});

const machineName = Type.String({
  pattern: machineNamePattern,
  description: "The machine's name; records name it machine:NAME.",
  examples: ["night-run"],
});

function readEnd(text: string): Date {
  const at = parseInstant(text);
  if (at) return at;
  throw unprocessable({ path: "expires_at", problem: "must be ISO 8601 with an offset" });
}

const people = under("People");
const approvals = under("Approvals");
const notices = under("Notices");
const writing = "notices.write";

export const peopleOperations: readonly Operation[] = [
  operation({
    id: "signIn",
    method: "POST",
    path: "/ops/sign-in",
    keyless: { budget: "attempts" },
    tag: "People",
    summary: "Sign in with password and authenticator code; the token is a bearer's for 12 hours",
    body: body({
      name,
      password,
      code: signInCode,
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
    tag: "People",
    summary:
      "Choose a password with the codes of those who let you in, and get an authenticator; nothing counts before it is confirmed",
    body: body({ name, password, codes }),
    answer: OfferedAuthenticator,
    run: async ({ ctx, from, requestId }, given) =>
      await beginEnrolment(ctx, { ...given, from, requestId }),
  }),
  operation({
    id: "confirmEnrolment",
    method: "POST",
    path: "/ops/enrol/confirm",
    keyless: { budget: "attempts" },
    tag: "People",
    summary: "Confirm the authenticator with a code of it: from now on you can sign in",
    body: body({ name, codes, ticket, code: shownCode }),
    answer: NewFactor,
    run: async ({ ctx, from, requestId }, given) =>
      await confirmEnrolment(ctx, { ...given, from, requestId }),
  }),
  operation({
    ...people.act("signOut", "/ops/sign-out", "read"),
    summary: "End this session",
    answer: SignedOut,
    run: async ({ ctx, actor, token }) => {
      await signOut(ctx, token, actor.requestId);
      return { signed_out: true };
    },
  }),
  operation({
    ...people.read("whoIsSignedIn", "/ops/whoami"),
    summary: "Who you are, what your role is and what it permits",
    answer: WhoIsSignedIn,
    run: async ({ ctx, actor: { id, role, machine } }) => ({
      name: id,
      ...(role && { role }),
      permissions: machine?.permissions ?? listPermissions(role),
      ...(await describeSignIn(ctx, id)),
    }),
  }),
  operation({
    ...people.act("renewRecoveryCodes", "/ops/recovery-codes", "read"),
    summary: "Make ten new recovery codes; the former ones end",
    body: body({ password, code: signInCode }),
    answer: RecoveryCodes,
    run: ({ ctx, actor, from }, given) => renewRecoveryCodes(ctx, actor, { ...given, from }),
  }),
  operation({
    ...people.act("beginAuthenticator", "/ops/authenticator", "read"),
    summary: "Get another authenticator; the one you have counts until it is confirmed",
    body: body({ password, code: signInCode }),
    answer: OfferedAuthenticator,
    run: ({ ctx, actor, from }, given) => beginAuthenticator(ctx, actor, { ...given, from }),
  }),
  operation({
    ...people.act("confirmAuthenticator", "/ops/authenticator/confirm", "read"),
    summary: "Confirm another authenticator with a code of it; your other sessions end",
    body: body({ ticket, code: shownCode }),
    answer: NewFactor,
    run: ({ ctx, actor, from, token }, given) =>
      confirmAuthenticator(ctx, actor, { ...given, from, token }),
  }),
  operation({
    ...people.read("listOperators", "/ops/operators"),
    summary: "List the people who run the service",
    answer: People,
    run: async ({ ctx }) => ({ operators: await listOperators(ctx) }),
  }),
  operation({
    ...people.act("addOperator", "/ops/operators", "operators.write"),
    summary: "Add a person; another admin approves it once there have been two",
    body: body({ name, role }),
    answer: LetIn,
    run: ({ ctx, actor }, asked) => addOperator(ctx, actor, asked),
  }),
  operation({
    ...people.act("resetOperator", "/ops/operators/reset", "operators.write"),
    summary: "End a person's credentials and let them enrol anew",
    body: body({ name, role: optional(role) }),
    answer: LetIn,
    run: ({ ctx, actor }, asked) => resetOperator(ctx, actor, asked),
  }),
  operation({
    ...people.act("grantRole", "/ops/operators/grant", "operators.write"),
    summary: "Give a person another role; another admin approves it once there have been two",
    body: body({ name, role }),
    answer: Granted,
    run: ({ ctx, actor }, asked) => grantRole(ctx, actor, asked),
  }),
  operation({
    ...people.act("disableOperator", "/ops/operators/disable", "operators.write"),
    summary: "Shut a person out at once",
    body: body({ name }),
    answer: Person,
    run: ({ ctx, actor }, asked) => disableOperator(ctx, actor, asked.name),
  }),
  operation({
    ...people.read("listMachines", "/ops/machines"),
    summary: "List the machines that act without a person",
    answer: Machines,
    run: async ({ ctx }) => ({ machines: await listMachines(ctx) }),
  }),
  operation({
    ...people.act("addMachine", "/ops/machines", "operators.write"),
    summary:
      "Let a machine in, or give one of the same name another token and other terms; another admin approves it once there have been two",
    body: body({
      name: machineName,
      permissions: Type.Array(
        closedEnum(machinePermissions, { description: "Something that it may do." }),
        {
          minItems: 1,
          maxItems: machinePermissions.length,
          description: "What it may do: of what these permit, only what takes machines.",
        },
      ),
      networks: Type.Array(text("An address or a network, such as 203.0.113.7/32.", 64), {
        minItems: 1,
        maxItems: networksMax,
        description: "Where it may call from.",
      }),
      day_limit_paise: natural(
        "What it may do alone within 24 hours; from this sum on it waits for a person.",
      ),
      expires_at: timestamp("When its token ends, within 366 days. ISO 8601 with an offset."),
    }),
    answer: AddedMachine,
    run: ({ ctx, actor }, { expires_at, ...asked }) =>
      addMachine(ctx, actor, { ...asked, expires_at: readEnd(expires_at) }),
  }),
  operation({
    ...people.act("disableMachine", "/ops/machines/disable", "operators.write"),
    summary: "End a machine's token at once",
    body: body({ name: machineName }),
    answer: Machine,
    run: ({ ctx, actor }, asked) => disableMachine(ctx, actor, asked.name),
  }),
  operation({
    ...approvals.read("listApprovals", "/ops/approvals"),
    summary: "List what waits for a second person, or became of it",
    query: query({
      ...listQuery,
      cursor,
      status: optional(closedEnum(approvalStates, { description: "Only those in this state." })),
      kind: optional(text("Only those of this kind.", 64)),
      ...spanQuery,
    }),
    answer: Approvals,
    run: ({ ctx }, asked) =>
      readQueue("approvals", asked.limit, {
        list: (limit) => {
          const { environment = null, kind = null, status: state = null, cursor: before } = asked;
          const search = { environment, kind, state, before, limit, ...parseQuerySpan(asked) };
          return listApprovals(ctx, search);
        },
        findId: (row) => row.approval_id,
      }),
  }),
  operation({
    ...approvals.read("readApproval", "/ops/approvals/:approval_id"),
    summary:
      "Read a proposal: its terms, what carrying it out would do now, and what has changed since",
    answer: ShownApproval,
    run: ({ ctx, wiring: { kinds } }, asked) => showApproval(ctx, asked.approval_id, kinds),
  }),
  operation({
    ...approvals.act("approveProposal", "/ops/approvals/:approval_id/approve", "approvals.decide"),
    summary: "Approve what somebody else proposed; it is carried out at once",
    answer: Approved,
    run: async ({ ctx, actor, wiring: { kinds } }, { approval_id: approvalId }) => {
      const { approval, answer } = await approveProposal(ctx, actor, { approvalId, kinds });
      return { approval: viewApproval(approval, ctx.now()), result: answer ?? null };
    },
  }),
  operation({
    ...approvals.act("rejectProposal", "/ops/approvals/:approval_id/reject", "approvals.decide"),
    summary: "Reject a proposal, or take back your own",
    body: body({ reason: text("The reason in words.") }),
    answer: Approval,
    run: async ({ ctx, actor, wiring: { kinds } }, { approval_id: approvalId, reason }) => {
      const row = await rejectProposal(ctx, actor, { approvalId, reason, kinds });
      return viewApproval(row, ctx.now());
    },
  }),
  operation({
    ...notices.read("listNoticeAddresses", "/ops/notice-addresses"),
    summary: "List who gets notices by mail",
    query: query({
      ...listQuery,
      cursor,
      desk_id: optional(id("Only of this desk.")),
      firm_id: optional(id("Only of the desk of this firm.")),
      of: optional(
        closedEnum(["desks", "people"], { description: "Only of desks, or of people." }),
      ),
    }),
    answer: NoticeAddresses,
    run: async ({ ctx }, { environment = null, of = null, cursor: before = null, ...asked }) => {
      const { deskId } = await resolveSearch(ctx, asked);
      const page = await readQueue("addresses", asked.limit, {
        list: (limit) => listNoticeAddresses(ctx, { environment, deskId, of, before, limit }),
        findId: (row) => row.address_id,
      });
      return { ...page, desk_id: deskId };
    },
  }),
  operation({
    ...notices.act("addNoticeAddress", "/ops/notice-addresses", writing),
    summary: "Let an address of a desk or of a person get notices",
    body: body({
      email: text("The mail address.", 254),
      desk_id: optional(id("The id of the desk that is told.")),
      person: optional(text("Or of this person who runs the service.", 64)),
    }),
    answer: NoticeAddress,
    run: ({ ctx, actor }, { desk_id: deskId, ...asked }) =>
      addNoticeAddress(ctx, actor, { ...asked, deskId }),
  }),
  operation({
    ...notices.act("setNoticeOptOuts", "/ops/notice-addresses/:address_id", writing, "PUT"),
    summary: "Set what an address is not told of",
    body: body({
      opted_out: Type.Array(closedEnum(occasions, { description: "An occasion to be told of." }), {
        maxItems: occasions.length,
        description: "What it is not told of; it is told of everything else.",
      }),
    }),
    answer: NoticeAddress,
    run: ({ ctx, actor }, { address_id: addressId, opted_out: optedOut }) =>
      setNoticeOptOuts(ctx, actor, { addressId, optedOut }),
  }),
  operation({
    ...notices.act("removeNoticeAddress", "/ops/notice-addresses/:address_id/remove", writing),
    summary: "Send nothing more to an address; what it opted out of is kept",
    answer: NoticeAddress,
    run: ({ ctx, actor }, asked) => removeNoticeAddress(ctx, actor, asked.address_id),
  }),
  operation({
    ...notices.read("listNotices", "/ops/notices"),
    summary: "List notices: what waits, what was sent, and what was given up",
    query: query({
      ...listQuery,
      cursor,
      status: optional(closedEnum(noticeStates, { description: "Only in this state." })),
      occasion: optional(closedEnum(occasions, { description: "Only of this occasion." })),
      desk_id: optional(id("Only of this desk.")),
      ...spanQuery,
    }),
    answer: Notices,
    run: async ({ ctx, wiring: { sendsNotices } }, asked) => {
      const page = await readQueue("notices", asked.limit, {
        list: (limit) => {
          const { environment = null, desk_id: deskId = null, cursor: before = null } = asked;
          const { status: state = null, occasion = null } = asked;
          const search = { environment, deskId, state, occasion, before, limit };
          return listNotices(ctx, { ...search, ...parseQuerySpan(asked) });
        },
        findId: (row) => row.notice_id,
      });
      return { ...page, sending: sendsNotices };
    },
  }),
  operation({
    ...notices.act("sendNoticeAgain", "/ops/notices/:notice_id/send-again", writing),
    summary: "Try a dead notice anew",
    answer: NoticeSentAgain,
    run: ({ ctx, actor }, asked) => sendNoticeAgain(ctx, actor, asked.notice_id),
  }),
];
