import { Type } from "typebox";

import { approvalStates } from "../operators/approval-rules.ts";
import { operatorRoles } from "../kernel/actor.ts";
import { machinePermissions } from "../operators/machine-rules.ts";
import { noticeStates, occasions } from "../notices/rules.ts";
import { openEnum, timestamp } from "../platform/http/wire.ts";
import {
  anyObject,
  count,
  environment,
  extend,
  flag,
  pageList,
  wrapList,
  maybeCount,
  maybeText,
  maybeTime,
  outcome,
  text,
} from "./schema.ts";

const role = openEnum(operatorRoles, "What the person may do.");

export const Person = Type.Object(
  {
    operator_id: text("The person's id."),
    name: text("The name that audit records bear."),
    role,
    status: openEnum(["enrolling", "enrolled", "disabled"], "Whether the person can sign in."),
    directory: flag("Whether the house's directory signs the person in."),
    created_by: text("Who let the person in, or directory."),
    created_at: timestamp("When."),
    disabled_at: maybeTime("Since when the person is shut out."),
    recovered_at: maybeTime(
      "When the person was let in again on the machine, by nobody's approval.",
    ),
  },
  { title: "Person", description: "Somebody who runs the service; never a credential." },
);

export const People = wrapList("operators", Person, "Everybody, by the time they were let in.");

export const Machine = Type.Object(
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

export const Machines = wrapList("machines", Machine, "All, by the time they were given a token.");

export const AddedMachine = Type.Object(
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

export const SignedIn = Type.Object(
  {
    token: text("For `Authorization: Bearer`; shown this once."),
    name: text("Who is signed in."),
    role,
    expires_at: timestamp("When the session ends by itself."),
    recovery_codes_left: recoveryCodesLeft,
  },
  { title: "SignedIn", description: "The session of whoever signed in." },
);

export const SignedOut = Type.Object({ signed_out: flag("True: the session has ended.") });

export const WhoIsSignedIn = Type.Object({
  name: text("Who is signed in."),
  role: Type.Optional(role),
  permissions: Type.Array(Type.String(), {
    description: "What the role permits: the `x-permission` of operations.",
  }),
  directory: flag("Whether the house's directory signed you in."),
  recovery_codes_left: recoveryCodesLeft,
});

export const Granted = Type.Object(
  {
    outcome: outcome(["proposed", "granted"]),
    approval_id: Type.Optional(text("The proposal, where it takes a second person.")),
    operator: Type.Optional(Person),
  },
  { title: "Granted", description: "A person with another role, or the proposal of it." },
);

export const OfferedAuthenticator = Type.Object(
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

export const RecoveryCodes = Type.Object(
  { recovery_codes: recoveryCodes },
  { title: "RecoveryCodes", description: "What to sign in with where the authenticator is lost." },
);

export const NewFactor = Type.Object(
  { operator: Person, recovery_codes: recoveryCodes },
  { title: "NewFactor", description: "A person whose authenticator counts from now on." },
);

export const LetIn = Type.Object(
  {
    outcome: outcome(["proposed", "added", "reset"]),
    approval_id: Type.Optional(text("The proposal, where it takes a second person.")),
    operator: Type.Optional(Person),
    code: text("For the new person, who enrols with it; shown this once."),
  },
  { title: "LetIn", description: "A person who may enrol, or the proposal to let one in." },
);

export const Approval = Type.Object(
  {
    approval_id: text("The proposal's id."),
    kind: text("What kind of act it is, such as payout_file.make."),
    environment,
    subject_id: text("What it is about."),
    status: openEnum(approvalStates, "Only what is proposed can be decided."),
    summary: text("What will happen, in one sentence."),
    value_paise: maybeCount("What it moves; null where it moves no money."),
    proposed_by: text("Who proposed it; somebody else approves it."),
    proposed_at: timestamp("When."),
    age_s: count("For how many seconds it has waited."),
    expires_at: timestamp("When it ends by itself."),
    decided_by: maybeText("Who approved, rejected or voided it."),
    decided_at: maybeTime("When."),
    reason: maybeText("Why it was rejected or voided."),
    terms: anyObject("Everything that was proposed; its members depend on the kind."),
  },
  { title: "Approval", description: "An act that takes two people." },
);

export const ShownApproval = extend(
  Approval,
  {
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
    hindrance: maybeText("Why it could not be carried out now."),
  },
  { title: "ShownApproval", description: "A proposal with what its approver has to see." },
);

export const Approvals = pageList("approvals", Approval, "The newest first.");

export const Approved = Type.Object(
  {
    approval: Approval,
    result: Type.Unsafe<object | null>({
      type: ["object", "null"],
      additionalProperties: true,
      description: "What carrying it out answered; its members depend on the kind.",
    }),
  },
  { title: "Approved", description: "What was approved and is done." },
);

const occasion = openEnum(occasions, "The event that people are told of.");

export const NoticeAddress = Type.Object(
  {
    address_id: text("The address's id."),
    environment,
    desk_id: maybeText("The desk; null for a person."),
    person: maybeText("The person who runs the service; null for a desk."),
    email: text("The mail address that notices go to."),
    occasions: Type.Array(occasion, { description: "What it is told of." }),
    opted_out: Type.Array(occasion, { description: "What it is not told of." }),
    created_by: text("The name of whoever added it."),
    created_at: timestamp("When."),
    removed_at: maybeTime("When it was removed."),
  },
  { title: "NoticeAddress", description: "An address that gets notices by mail." },
);

export const NoticeAddresses = Type.Object({
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
    reason: maybeText("Why it was not sent the last time."),
    answer: maybeText("What the mail server said."),
    attempts: count("How often it was tried."),
    due_at: maybeTime("When it is tried next; null unless it waits."),
    created_at: timestamp("When it was queued."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "Notice", description: "A mail to one address about one occasion." },
);

export const Notices = Type.Object({
  ...pageList("notices", Notice, "The newest first.").properties,
  sending: flag("False while this service has no mail server (SMTP_URL): then none is queued."),
});

export const NoticeSentAgain = Type.Object(
  {
    notice_id: text("The notice's id."),
    status: text("Always waiting: the mail goes out anew."),
  },
  { title: "NoticeSentAgain", description: "A notice that is tried anew." },
);
