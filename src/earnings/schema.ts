import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import { oneOf, openEnum, paiseSum } from "../platform/wire.ts";

const day = (description: string) =>
  Type.String({ format: "date", description: `${description} IST.`, examples: ["2026-11-15"] });
const amount = (description: string) => paiseSum(description, 12_500);

const groupings = ["day", "firm", "scheme"] as const;

export const EarningsQuery = Type.Object(
  {
    by: Type.Optional(oneOf(groupings, { description: "What to add up by; day unless given." })),
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
        firm_id: Type.Optional(Type.String({ description: "Your client firm that dealt." })),
        scheme: Type.Optional(openEnum(schemes, "The scheme of the credits.")),
        credits: Type.Integer({
          description: "How many credits it was earned on, less those taken back.",
          examples: [3],
        }),
        face_paise: amount("Their face."),
        commission_paise: amount("What was earned on them, less what was taken back."),
      }),
      { description: "In the order of day, firm or scheme; only what was earned on is listed." },
    ),
    commission_paise: amount("All of it."),
    commission_bps: Type.Integer({
      description: "What you earn on deals that settle now, in bps of face.",
      examples: [5],
    }),
    balance_paise: amount("What of your commission is with us now."),
    version: Type.Integer({ description: "Raised by everything that moves.", examples: [1] }),
    allowed_actions: Type.Array(Type.String(), { description: "Always empty." }),
  },
  { title: "Earnings", description: "A desk's commission on its clients' deals." },
);
export type Earnings = Static<typeof Earnings>;
