import { type Static, Type } from "typebox";

import { bankFields, maskedBankFields } from "../firms/schema.ts";
import {
  body,
  closedEnum,
  flag,
  form,
  maybeText,
  maybeTime,
  nullable,
  nullableObject,
  openEnum,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import {
  type DeskApprovalKind,
  deskApprovalKinds,
  deskApprovalStates,
} from "../secondkeys/rules.ts";

const rulesFields = {
  bank_changes: flag("Whether another bank account of a firm takes two keys."),
  withdrawals_from_paise: nullable<number>({
    type: "integer",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      "Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does " +
      "a firm that leaves with its money; null for none.",
    examples: [50_000_000],
  }),
};

export const SetApprovalRulesBody = body(rulesFields);
export type SetApprovalRulesBody = Static<typeof SetApprovalRulesBody>;

export const ApprovalRules = Type.Object(
  {
    ...rulesFields,
    updated_at: maybeTime("When they were set; null before the first time."),
    version: Type.Integer({
      description: "Raised by every change; 0 before the first.",
      examples: [1],
    }),
  },
  { title: "ApprovalRules", description: "What your desk says takes two of its keys." },
);
export type ApprovalRules = Static<typeof ApprovalRules>;

const firmId = Type.String({
  maxLength: 64,
  description: "The firm that it is about.",
  examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
});

const bank = (description: string) =>
  Type.Unsafe<Static<ReturnType<typeof body<typeof bankFields>>> | null>({
    ...body(bankFields, { description }),
    type: ["object", "null"],
  });

/** Each kind has its own fields, and no others. */
export const actFields = {
  bank_change: ["firm_id", "bank"],
  withdrawal: ["firm_id", "amount_paise"],
  offboarding: ["firm_id"],
  rules: ["rules"],
} as const satisfies Record<DeskApprovalKind, readonly string[]>;

export const ProposeActBody = body(
  {
    kind: closedEnum(deskApprovalKinds, {
      description:
        "bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding " +
        "(with mode drain) with `firm_id`, rules with `rules`.",
      examples: ["withdrawal"],
    }),
    firm_id: Type.Optional(firmId),
    bank: Type.Optional(bank("The account that its money shall go to; null for none.")),
    amount_paise: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "What is to be paid out, in paise.",
        examples: [50_000_000],
      }),
    ),
    rules: Type.Optional(body(rulesFields, { description: "What shall take two keys." })),
  },
  {
    "x-forms": [
      deskApprovalKinds.map((kind) => {
        const given = actFields[kind].map((name) => [name, true] as const);
        return form({ kind: [kind], ...Object.fromEntries(given) });
      }),
    ],
  },
);
export type ProposeActBody = Static<typeof ProposeActBody>;

export const ApproveActBody = body({
  bank: Type.Optional(
    bank(
      "Of a bank_change: the account as you know it from the firm, null for none; another is not approved.",
    ),
  ),
});
export type ApproveActBody = Static<typeof ApproveActBody>;

export const RejectApprovalBody = body({
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "\\S",
    description: "The reason in words.",
    examples: ["the firm did not ask for it"],
  }),
});

export const ApprovalParams = Type.Object({
  approval_id: Type.String({
    description: "The approval's id.",
    examples: ["dap_01jd2m7q4x8r5v6w9y0abcdefg"],
  }),
});

export const DeskApproval = Type.Object(
  {
    approval_id: Type.String({
      description: "The approval's id.",
      examples: ["dap_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    kind: openEnum(deskApprovalKinds, "What it does once it is approved."),
    firm_id: Type.String({ description: "The firm that it is about; your own for rules." }),
    status: openEnum(deskApprovalStates, "Only what is proposed can be decided."),
    shown: Type.Object(
      {
        bank: Type.Optional(
          nullableObject(maskedBankFields, {
            description: "The account that the firm's money shall go to; null for none.",
          }),
        ),
        amount_paise: Type.Optional(
          Type.Integer({ description: "What is paid out, in paise.", examples: [50_000_000] }),
        ),
        rules: Type.Optional(
          Type.Object(rulesFields, { description: "What shall take two keys." }),
        ),
      },
      { description: "What is decided: the account in part, the sum or the rules." },
    ),
    proposed_by: Type.String({
      description: "The name that the key bore which proposed it.",
      examples: ["Treasury"],
    }),
    decided_by: maybeText(
      "The name that the key bore which approved or rejected it; null while none has.",
    ),
    reason: maybeText("Why it was rejected or became void; null otherwise."),
    payout_id: maybeText("The payout of a withdrawal that was approved; null otherwise."),
    created_at: timestamp("When it was proposed."),
    updated_at: timestamp("When it last changed."),
    expires_at: timestamp("When it ends by itself, 72 hours after it was proposed."),
    version,
    allowed_actions: Type.Array(Type.String(), {
      description: "What can be done with it now.",
      examples: [["approve", "reject"]],
    }),
  },
  { title: "DeskApproval", description: "An act that one key proposed and another one decides." },
);
export type DeskApproval = Static<typeof DeskApproval>;
