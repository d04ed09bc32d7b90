import { type Static, Type } from "typebox";

import { type Scheme, schemes } from "../kernel/scheme.ts";
import {
  body,
  calendarDay,
  closedEnum,
  nullable,
  openEnum,
  paise,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import { ordersMax } from "./requirement-rules.ts";

const requirementId = Type.String({
  description: "The requirement's id.",
  examples: ["rqm_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const firmId = Type.String({
  description: "A firm of your desk.",
  examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
});

const terms = {
  amount_paise: paise("The basic customs duty that will have to be paid: credits pay no other."),
  due_on: calendarDay("When it is due; today or later."),
  reference: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: "\\S",
    description: "Your own name for it, such as a bill of entry; one per firm.",
    examples: ["BE-2026-004711"],
  }),
};

export const DeclareRequirementBody = body({
  scheme: Type.Optional(
    closedEnum(schemes, { description: "Which credits are to cover it; absent: either scheme." }),
  ),
  ...terms,
});
export type DeclareRequirementBody = Static<typeof DeclareRequirementBody>;

export const UpdateRequirementBody = body({
  scheme: Type.Optional(
    Type.Unsafe<Scheme | null>({
      type: ["string", "null"],
      enum: [...schemes, null],
      description: "Which credits are to cover it; null: either scheme.",
    }),
  ),
  amount_paise: Type.Optional(terms.amount_paise),
  due_on: Type.Optional(terms.due_on),
  reference: Type.Optional(terms.reference),
});
export type UpdateRequirementBody = Static<typeof UpdateRequirementBody>;

export const RequirementsParams = Type.Object({ firm_id: firmId });
export const RequirementParams = Type.Object({ firm_id: firmId, requirement_id: requirementId });

export const Requirement = Type.Object(
  {
    requirement_id: requirementId,
    firm_id: firmId,
    scheme: nullable<Scheme>({
      type: "string",
      description: `Which credits are to cover it; null: either. Open set; known today: ${schemes.join(", ")}.`,
      examples: [schemes[0]],
    }),
    amount_paise: Type.Integer({
      description: "The basic customs duty to be paid.",
      examples: [25_000_000],
    }),
    covered_paise: Type.Integer({
      description: "What its orders have bought for it: matched, and not failed.",
      examples: [24_000_000],
    }),
    uncovered_paise: Type.Integer({
      description: "amount_paise less covered_paise; 0 where more was bought than is needed now.",
      examples: [1_000_000],
    }),
    resting_paise: Type.Integer({
      description: "What an order for it still rests with; a part of what is uncovered.",
      examples: [0],
    }),
    order_ids: Type.Array(Type.String({ examples: ["ord_01jd2m7q4x8r5v6w9y0abcdefg"] }), {
      description: `The orders that were placed to cover it, oldest first; at most ${ordersMax}.`,
    }),
    due_on: Type.String({
      format: "date",
      description: "When it is due, in IST.",
      examples: ["2026-12-31"],
    }),
    reference: Type.String({
      description: "Your own name for it, such as the bill of entry.",
      examples: ["BE-2026-004711"],
    }),
    created_at: timestamp("When it was declared."),
    updated_at: timestamp("When it last changed."),
    version,
    allowed_actions: Type.Array(openEnum(["update", "delete"], "What can be done with it."), {
      description: "What can be done with it now.",
    }),
  },
  { title: "Requirement", description: "Basic customs duty that a firm will have to pay." },
);
export type Requirement = Static<typeof Requirement>;
