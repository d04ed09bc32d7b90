import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import { nullable, openEnum, paiseSum, timestamp } from "../platform/wire.ts";

export const PositionsQuery = Type.Object(
  {
    firm_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Only this firm of your desk; all of them when absent.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type PositionsQuery = Static<typeof PositionsQuery>;

export const Positions = Type.Object(
  {
    firm_id: nullable<string>({ type: "string", description: "Whose; null for the whole desk." }),
    schemes: Type.Array(
      Type.Object({
        scheme: openEnum(schemes, "Which scheme."),
        count: Type.Integer({ description: "How many credits are held.", examples: [12] }),
        held_paise: paiseSum("Their faces: available, reserved and in settlement together."),
        available_paise: paiseSum("Free to be sold or used."),
        reserved_paise: paiseSum("Promised to an order or a deal."),
        in_settlement_paise: paiseSum("On its way to a buyer."),
        expiring_30_paise: paiseSum("Of what is held, what lapses within 30 days."),
        expiring_60_paise: paiseSum("Within 60 days."),
        expiring_90_paise: paiseSum("Within 90 days."),
      }),
      { description: "By scheme; a scheme of which nothing is held is left out." },
    ),
    cash: Type.Object(
      {
        available_paise: paiseSum("What can be spent or paid out."),
        escrow_paise: paiseSum("Held for deals that have not settled."),
        pending_in_paise: paiseSum("What deals under way will bring."),
        pending_out_paise: paiseSum("On its way to the bank."),
      },
      { description: "What the firms have with us." },
    ),
    as_of: timestamp("The one moment that every figure is of."),
    version: Type.Integer({
      description: "The sequence of the last event that is in these figures.",
      examples: [42],
    }),
  },
  { title: "Positions", description: "What is held and what is owed, as one snapshot." },
);
export type Positions = Static<typeof Positions>;
