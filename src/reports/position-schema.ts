import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import {
  closedEnum,
  formatQuery,
  listFormats,
  maybeText,
  nullable,
  openEnum,
  paiseSum,
  text,
  timestamp,
} from "../platform/http/wire.ts";

export const PositionsQuery = Type.Object(
  {
    firm_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Only this firm of your desk; all of them when absent.",
      }),
    ),
    format: formatQuery(listFormats),
  },
  { additionalProperties: false },
);
export type PositionsQuery = Static<typeof PositionsQuery>;

export const Positions = Type.Object(
  {
    firm_id: maybeText("Whose; null for the whole desk."),
    schemes: Type.Array(
      Type.Object({
        scheme: openEnum(schemes, "Which scheme."),
        count: Type.Integer({ description: "How many credits are held.", examples: [12] }),
        held_paise: paiseSum("Their faces: available, reserved and in settlement together."),
        available_paise: paiseSum("Free to be sold or used."),
        reserved_paise: paiseSum("Promised to an order or a deal."),
        in_settlement_paise: paiseSum("What is on its way to a buyer, in paise."),
        expiring_30_paise: paiseSum("Of what is held, what lapses within 30 days."),
        expiring_60_paise: paiseSum("What expires within 60 days, in paise."),
        expiring_90_paise: paiseSum("What expires within 90 days, in paise."),
        shown_by_customs_paise: paiseSum(
          "Of what is held, balances that customs has shown; the rest is as your firms told it.",
        ),
        shown_from: nullable<string>({
          type: "string",
          format: "date",
          description: "The earliest day on which customs showed one of these; null without any.",
          examples: ["2026-11-15"],
        }),
      }),
      { description: "By scheme; a scheme of which nothing is held is left out." },
    ),
    cash: Type.Object(
      {
        available_paise: paiseSum("What can be spent or paid out."),
        escrow_paise: paiseSum("Held for deals that have not settled."),
        pending_in_paise: paiseSum("What deals under way will bring."),
        pending_out_paise: paiseSum("What is on its way to the bank, in paise."),
        dues_paise: paiseSum(
          "What the firms owe the house; nothing is available before it is paid.",
        ),
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

const day = (description: string) =>
  Type.String({ format: "date", description: `${description} IST.`, examples: ["2026-11-15"] });
const amount = (description: string) => paiseSum(description, 12_500);

const groupings = ["day", "firm", "scheme"] as const;

export const EarningsQuery = Type.Object(
  {
    by: Type.Optional(
      closedEnum(groupings, { description: "What to add up by; day unless given." }),
    ),
    from: Type.Optional(day("The first day; that of the month of `to` unless given.")),
    to: Type.Optional(day("The last day; today unless given.")),
  },
  { additionalProperties: false },
);
export type EarningsQuery = Static<typeof EarningsQuery>;
export type Grouping = (typeof groupings)[number];

export const Earnings = Type.Object(
  {
    by: openEnum(groupings, "What was added up by."),
    from: day("The first day."),
    to: day("The last day."),
    earnings: Type.Array(
      Type.Object({
        day: Type.Optional(day("When the credits were delivered.")),
        firm_id: Type.Optional(text("Your client firm that dealt.")),
        scheme: Type.Optional(openEnum(schemes, "The scheme of the credits.")),
        credits: Type.Integer({
          description: "How many credits it was earned on, less those taken back.",
          examples: [3],
        }),
        face_paise: amount("The sum of the credits' face values, in paise."),
        commission_paise: amount("What was earned on them, less what was taken back."),
      }),
      { description: "In the order of day, firm or scheme; only what was earned on is listed." },
    ),
    commission_paise: amount("The commission of the month, in paise."),
    commission_bps: Type.Integer({
      description: "What you earn on deals that settle now, in bps of face.",
      examples: [5],
    }),
    balance_paise: amount("What of your commission is with us now."),
    version: Type.Integer({ description: "Raised by everything that moves.", examples: [1] }),
    allowed_actions: Type.Array(Type.String(), {
      description: "Always empty: a paper has no actions.",
    }),
  },
  { title: "Earnings", description: "A desk's commission on its clients' deals." },
);
export type Earnings = Static<typeof Earnings>;
