import { type Static, Type } from "typebox";

import { schemes, sides } from "../kernel/scheme.ts";
import {
  body,
  historySchema,
  idFilter,
  nullable,
  closedEnum,
  openEnum,
  pageFields,
  pageQuery,
  timestamp,
  formatQuery,
  listFormats,
} from "../platform/http/wire.ts";
import { legStates, settlementStates, waitingOn } from "./rules.ts";

const settlementId = Type.String({
  description: "The settlement's id.",
  examples: ["stl_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const amount = (description: string) => Type.Integer({ description, examples: [25_000_000] });
const maybeText = (description: string) => nullable<string>({ type: "string", description });

const Leg = Type.Object({
  scrip_no: Type.String({ description: "The credit." }),
  order_id: maybeText("The order that it was dealt by."),
  face_paise: amount("Its face."),
  price_bps: Type.Integer({ description: "Your price.", examples: [9_765] }),
  all_in_paise: amount("Your money for it."),
  status: openEnum(legStates, "Where the credit stands."),
  reason: maybeText("Why it was not delivered."),
});

export const Side = Type.Object({
  side: openEnum(sides, "Which side."),
  firm_id: Type.String({ description: "The firm of your desk that is on it." }),
  order_ids: Type.Array(Type.String(), { description: "The orders that it dealt by." }),
  status: openEnum(settlementStates, "Where this side stands, by its own credits."),
  face_paise: amount("The face of its credits."),
  all_in_paise: amount("What was agreed to change hands."),
  settled_paise: amount("What of it has changed hands, for credits that were delivered."),
  undelivered_paise: amount("What of it will not, for credits that were not."),
  legs: Type.Array(Leg, { description: "One per credit." }),
});

export const Settlement = Type.Object(
  {
    settlement_id: settlementId,
    cross_id: maybeText("The cross that was released by it, if it is one's."),
    scheme: openEnum(schemes, "Which scheme."),
    status: openEnum(
      settlementStates,
      "Where your side stands; with several, `settled` if anything of them was delivered.",
    ),
    reason: maybeText("Why it failed or was reversed."),
    waiting_on: openEnum(waitingOn, "Whose move it is."),
    due_at: nullable<string>({
      type: "string",
      format: "date-time",
      description: "By when that must have happened. ISO 8601, IST.",
    }),
    late: Type.Boolean({
      description:
        "Whether that is over. A transfer that may be open at customs ends only by what customs says.",
    }),
    sides: Type.Array(Side, {
      description: "What your firms deliver or buy in it, and nothing of anybody else.",
    }),
    history: historySchema(settlementStates),
    version: Type.Integer({ description: "Raised by every change.", examples: [1] }),
    allowed_actions: Type.Array(Type.String(), { description: "What you can do with it now." }),
    created_at: timestamp("When it was dealt."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "Settlement", description: "Delivery of whole credits against payment." },
);
export type Settlement = Static<typeof Settlement>;

export const SettlementParams = Type.Object({ settlement_id: settlementId });

export const ListSettlementsQuery = Type.Object(
  {
    status: Type.Optional(
      closedEnum(settlementStates, { description: "Only those in this state." }),
    ),
    firm_id: idFilter("Only those of this firm."),
    order_id: idFilter("Only those of this order."),
    from: Type.Optional(timestamp("Only those dealt at this time or later.")),
    to: Type.Optional(timestamp("Only those dealt before this time.")),
    format: formatQuery(listFormats),
    ...pageQuery,
  },
  { additionalProperties: false },
);
export type ListSettlementsQuery = Static<typeof ListSettlementsQuery>;

export const SettlementList = Type.Object(
  { settlements: Type.Array(Settlement, { description: "Newest first." }), ...pageFields },
  { title: "SettlementList" },
);

export const NoFields = body({});
