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
import { operation, type Operation } from "../platform/http/operation.ts";
import { body, closedEnum, openEnum, timestamp } from "../platform/http/wire.ts";
import {
  cursor,
  id,
  listQuery,
  natural,
  optional,
  query,
  readQueue,
  spanQuery,
  text as givenText,
  under,
} from "./operation.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import {
  anyObject,
  count,
  environment,
  extend,
  flag,
  maybeCount,
  maybeText,
  maybeTime,
  outcome,
  pageList,
  text,
  wrapList,
} from "./schema.ts";

const shownRole = openEnum(operatorRoles, "What the person may do.");

const Person = Type.Object(
  {
    operator_id: text("The person's id."),
    name: text("The name that audit records bear."),
    role: shownRole,
    status: openEnum(["enrolling", "enrolled", "disabled"], "Whether the person can sign in."),
    directory: flag("Whether the house's directory signs the person in."),
    created_by: text("Who let the person in, or directory."),
    created_at: timestamp("When that was done."),
    disabled_at: maybeTime("Since when the person is disabled; null while enabled."),
    recovered_at: maybeTime(
      "When the person was let in again by a command on the machine, without an approval; null for never.",
    ),
  },
  { title: "Person", description: "Somebody who runs the service; never a credential." },
);

const People = wrapList("operators", Person, "Everybody, by the time they were let in.");

const Machine = Type.Object(
  {
    machine_id: text("The machine's id."),
    name: text("Its name; records name it machine:NAME."),
    status: openEnum(["active", "expired", "disabled"], "Whether its token counts."),
    permissions: Type.Array(openEnum(machinePermissions, "Something that it may do."), {
      description: "What it may do, by the x-permission of operations that take machines.",
    }),
    networks: Type.Array(Type.String(), { description: "Where it may call from." }),
    day_limit_paise: count(
      "What it may do alone within 24 hours, in paise; from this sum on it waits for a person.",
    ),
    held_by: text("Who was shown its token, and so approves nothing that it proposes."),
    created_at: timestamp("When it was given this token."),
    expires_at: timestamp("When the token ends."),
    disabled_at: maybeTime("When an admin ended it; null while it is not."),
    last_used_at: maybeTime("When the token was last used, to the minute; null before the first."),
    refused_at: maybeTime("When a call with its token was last refused; null for never."),
    refused_from: maybeText("The address that the refused call came from; null for none."),
    refusal: Type.Unsafe<string | null>({
      type: ["string", "null"],
      description: "Why: address, expired or disabled; null for none.",
    }),
  },
  { title: "Machine", description: "A program that acts without a person; never its token." },
);

const Machines = wrapList("machines", Machine, "All, by the time they were given a token.");

const AddedMachine = Type.Object(
  {
    outcome: outcome(["proposed", "added"]),
    approval_id: Type.Optional(
      text("The proposal, where it takes a second person, who is shown the token."),
    ),
    machine: Type.Optional(Machine),
    token: Type.Optional(text("For `Authorization: Bearer`; shown this once.")),
  },
  { title: "AddedMachine", description: "A machine with its token, or the proposal of it." },
);

const recoveryCodesLeft = count("How many recovery codes the person has.");

const SignedIn = Type.Object(
  {
    token: text("For `Authorization: Bearer`; shown this once."),
    name: text("Who is signed in."),
    role: shownRole,
    expires_at: timestamp("When the session ends by itself."),
    recovery_codes_left: recoveryCodesLeft,
  },
  { title: "SignedIn", description: "The session of whoever signed in." },
);

const SignedOut = Type.Object({ signed_out: flag("True: the session has ended.") });

const WhoIsSignedIn = Type.Object({
  name: text("Who is signed in."),
  role: Type.Optional(shownRole),
  permissions: Type.Array(Type.String(), {
    description: "What the role permits: the `x-permission` of operations.",
  }),
  directory: flag("Whether the house's directory signed you in."),
  recovery_codes_left: recoveryCodesLeft,
});

const Granted = Type.Object(
  {
    outcome: outcome(["proposed", "granted"]),
    approval_id: Type.Optional(text("The proposal, where it takes a second person.")),
    operator: Type.Optional(Person),
  },
  { title: "Granted", description: "A person with another role, or the proposal of it." },
);

const OfferedAuthenticator = Type.Object(
  {
    ticket: text("Goes back with a code of the authenticator; it holds for 15 minutes."),
    totp_secret: text("For the authenticator app, in base32; shown this once."),
    totp_uri: text("The same as an `otpauth:` address."),
    totp_qr: Type.Object(
      {
        size: count("Its height and width in modules, with the quiet edge."),
        path: text("The dark modules, as the path of an SVG of that size."),
      },
      { title: "DrawnCode", description: "The same as a QR code." },
    ),
  },
  {
    title: "OfferedAuthenticator",
    description: "An authenticator that counts once a code of it confirms it.",
  },
);

const recoveryCodes = Type.Array(Type.String(), {
  description: "Each takes the place of a code of the authenticator once; shown this once.",
});

const RecoveryCodes = Type.Object(
  { recovery_codes: recoveryCodes },
  { title: "RecoveryCodes", description: "What to sign in with where the authenticator is lost." },
);

const NewFactor = Type.Object(
  { operator: Person, recovery_codes: recoveryCodes },
  { title: "NewFactor", description: "A person whose authenticator counts from now on." },
);

const LetIn = Type.Object(
  {
    outcome: outcome(["proposed", "added", "reset"]),
    approval_id: Type.Optional(text("The proposal, where it takes a second person.")),
    operator: Type.Optional(Person),
    code: text("For the new person, who enrols with it; shown this once."),
  },
  { title: "LetIn", description: "A person who may enrol, or the proposal to let one in." },
);

const Approval = Type.Object(
  {
    approval_id: text("The proposal's id."),
    kind: text("What kind of act it is, such as payout_file.make."),
    environment,
    subject_id: text("What it is about."),
    status: openEnum(approvalStates, "Only what is proposed can be decided."),
    summary: text("What will happen, in one sentence."),
    value_paise: maybeCount("What it moves; null where it moves no money."),
    proposed_by: text("Who proposed it; somebody else approves it."),
    proposed_at: timestamp("When it was proposed."),
    age_s: count("For how many seconds it has waited."),
    expires_at: timestamp("When it ends by itself."),
    decided_by: maybeText("Who approved, rejected or voided it; null while it waits."),
    decided_at: maybeTime("When that was decided; null while it waits."),
    reason: maybeText("Why it was rejected or voided; null otherwise."),
    terms: anyObject("Everything that was proposed; its members depend on the kind."),
  },
  { title: "Approval", description: "An act that takes two people." },
);

const ShownApproval = extend(
  Approval,
  {
    approvers: Type.Array(openEnum(operatorRoles, "A role."), {
      description: "The roles that approve or reject it, besides admins.",
    }),
    shown: Type.Array(
      Type.Object({
        title: text("What the rows are, such as Payments."),
        count: count("How many there are."),
        rows: Type.Array(anyObject("Its members depend on the kind."), {
          description: "The first 500 of them.",
        }),
      }),
      { description: "What is approved in full, as things are now; empty once it is decided." },
    ),
    changed: Type.Unsafe<boolean | null>({
      type: ["boolean", "null"],
      description:
        "Whether the facts are others than when it was proposed, so that approving it voids it; null where nothing can be compared.",
    }),
    hindrance: maybeText("Why it could not be carried out now; null where it could."),
  },
  { title: "ShownApproval", description: "A proposal with what its approver has to see." },
);

const Approvals = pageList("approvals", Approval, "The newest first.");

const Approved = Type.Object(
  {
    approval: Approval,
    result: Type.Unsafe<object | null>({
      type: ["object", "null"],
      additionalProperties: true,
      description:
        "What carrying it out answered, which depends on the kind; null where there is nothing to tell.",
    }),
  },
  { title: "Approved", description: "What was approved and is done." },
);

const occasion = openEnum(occasions, "The event that people are told of.");

const NoticeAddress = Type.Object(
  {
    address_id: text("The address's id."),
    environment,
    desk_id: maybeText("The desk; null for a person."),
    person: maybeText("The person who runs the service; null for a desk."),
    email: text("The mail address that notices go to."),
    occasions: Type.Array(occasion, { description: "What it is told of." }),
    opted_out: Type.Array(occasion, { description: "What it is not told of." }),
    created_by: text("The name of whoever added it."),
    created_at: timestamp("When that was done."),
    removed_at: maybeTime("When it was removed; null while it is in use."),
  },
  { title: "NoticeAddress", description: "An address that gets notices by mail." },
);

const NoticeAddresses = Type.Object({
  ...pageList("addresses", NoticeAddress, "The newest first.").properties,
  desk_id: maybeText("The desk that was asked for; null for all."),
});

const Notice = Type.Object(
  {
    notice_id: text("The notice's id; its Message-ID begins with it."),
    environment,
    desk_id: text("The desk; the house's for a person."),
    occasion,
    email: text("The mail address it goes to."),
    subject: text("The subject of the mail."),
    events: count("How many events it tells of."),
    status: openEnum(noticeStates, "Only what is dead can be sent again."),
    reason: maybeText("Why the last attempt failed; null where none did."),
    answer: maybeText("What the mail server answered; null before an attempt."),
    attempts: count("How often it was tried."),
    due_at: maybeTime("When it is tried next; null unless it waits."),
    created_at: timestamp("When it was queued."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "Notice", description: "A mail to one address about one occasion." },
);

const Notices = Type.Object({
  ...pageList("notices", Notice, "The newest first.").properties,
  sending: flag("False while this service has no mail server (SMTP_URL): then none is queued."),
});

const NoticeSentAgain = Type.Object(
  {
    notice_id: text("The notice's id."),
    status: text("Always waiting: the mail goes out anew."),
  },
  { title: "NoticeSentAgain", description: "A notice that is tried anew." },
);

const name = givenText("The person's name; compared without case and spaces.", 64);
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
const ticket = givenText("The `ticket` of the offer; it holds for 15 minutes.", 1_000);
const codes = Type.Array(givenText("A code that was handed over.", 64), {
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
      networks: Type.Array(givenText("An address or a network, such as 203.0.113.7/32.", 64), {
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
      kind: optional(givenText("Only those of this kind.", 64)),
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
    body: body({ reason: givenText("The reason in words.") }),
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
      email: givenText("The mail address.", 254),
      desk_id: optional(id("The id of the desk that is told.")),
      person: optional(givenText("Or of this person who runs the service.", 64)),
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
