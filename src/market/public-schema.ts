import { type Static, Type } from "typebox";

import { environments } from "../kernel/caller.ts";
import { schemes, sides } from "../kernel/scheme.ts";
import { type MarketState, marketStates } from "../rates/rules.ts";
import {
  body,
  closedEnum,
  flag,
  nullable,
  openEnum,
  paise,
  text,
  timestamp,
} from "../platform/http/wire.ts";
import { bases, enquiryStatuses, noEstimateReasons } from "./public-rules.ts";

const scheme = openEnum(schemes, "The scheme of the credits.");

/** The pattern excludes the year 0, which PostgreSQL's calendar does not have. */
function day(description: string) {
  return Type.String({
    format: "date",
    pattern: "^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$",
    description: `${description} A day in IST.`,
    examples: ["2026-11-14"],
  });
}

function nullableInteger(description: string, example: number) {
  return nullable<number>({ type: "integer", description, examples: [example] });
}

export const SchemeParams = Type.Object({
  scheme: Type.String({ description: "The scheme of the credits.", examples: [schemes[0]] }),
});

export const RateOfDayParams = Type.Object({
  scheme: Type.String({ description: "The scheme of the credits.", examples: [schemes[0]] }),
  date: Type.String({ description: "The day, YYYY-MM-DD in IST.", examples: ["2026-11-14"] }),
});

export const HistoryQuery = Type.Object(
  {
    from: Type.Optional(day("The first day; a year before the last one unless given.")),
    to: Type.Optional(day("The last day; today unless given.")),
  },
  { additionalProperties: false },
);
export type HistoryQuery = Static<typeof HistoryQuery>;

const figure = {
  scheme,
  date: day("The day of the figure."),
  index_bps: nullableInteger(
    "What sellers received, in bps of face; null before there is an index.",
    9_810,
  ),
  basis: openEnum(
    bases,
    "Where the figure comes from: the day's own deals, an earlier day's because there were too few, or nowhere yet.",
  ),
  stale: Type.Boolean({
    description: "Whether the figure is not made of the day's own deals.",
    examples: [false],
  }),
  deals_on: nullable<string>({
    type: "string",
    format: "date",
    description: "The day whose deals the figure is made of; null where it is not made of deals.",
    examples: ["2026-11-14"],
  }),
  final: Type.Boolean({
    description: "Whether the day is over and its figure fixed for good.",
    examples: [true],
  }),
  deal_count: nullableInteger(
    "The number of deals that count; null for a day that is not fixed or has too few sellers.",
    42,
  ),
  seller_count: nullableInteger(
    "The number of different sellers; null for a day that is not fixed or has too few of them.",
    17,
  ),
  face_paise: nullableInteger(
    "The face value that was dealt; null for a day that is not fixed or has too few sellers.",
    1_850_000_000,
  ),
};

export const RateFigure = Type.Object(figure, {
  title: "RateFigure",
  description: "The index of one scheme for one day.",
});
export type RateFigure = Static<typeof RateFigure>;

export const Rate = Type.Object(
  {
    ...figure,
    previous_date: nullable<string>({
      type: "string",
      format: "date",
      description: "The last fixed day before this one; null before there is one.",
      examples: ["2026-11-13"],
    }),
    change_bps: nullableInteger("The difference from the figure of that day; null without one.", 5),
    market_state: nullable<MarketState>({
      type: "string",
      description: `Whether the desk gives prices now; null without a rate card. Open set; known today: ${marketStates.join(", ")}.`,
      examples: [marketStates[0]],
    }),
    mid_bps: nullableInteger(
      "The middle of the house's rate card, in bps of face; null before there is a card.",
      9_850,
    ),
  },
  { title: "Rate", description: "What credits of a scheme are worth today." },
);
export type Rate = Static<typeof Rate>;

export const RateList = Type.Object(
  { rates: Type.Array(Rate, { description: "One per scheme." }) },
  { title: "RateList" },
);

export const RateHistory = Type.Object(
  {
    scheme,
    from: day("The first day asked for."),
    to: day("The last day asked for."),
    days: Type.Array(RateFigure, { description: "Fixed days, oldest first." }),
  },
  { title: "RateHistory", description: "The fixed figures of a scheme." },
);
export type RateHistory = Static<typeof RateHistory>;

export const RateHistoryCsv = {
  description: "One line per fixed day, oldest first, under the names of RateFigure.",
  content: {
    "text/csv": {
      schema: Type.String({ examples: ["date,scheme,index_bps\r\n2026-11-14,RODTEP,9810\r\n"] }),
    },
  },
};

export const Methodology = Type.Object(
  {
    version: Type.Integer({ description: "Raised when the method changes.", examples: [1] }),
    summary: text("The method in a sentence."),
    environment: Type.String({
      description: "The environment whose deals count.",
      examples: ["live"],
    }),
    schemes: Type.Array(Type.String(), { description: "What there is an index for." }),
    unit: text("The unit of index_bps."),
    sellers_min: Type.Integer({ description: "Fewer sellers make no figure.", examples: [3] }),
    trim_bps: Type.Integer({
      description: "Share of the day's face that is cut at each end.",
      examples: [1_000],
    }),
    fixed_after_s: Type.Integer({
      description: "Seconds after the IST day's end from which its figure is fixed.",
      examples: [900],
    }),
    steps: Type.Array(Type.String(), { description: "The method, step by step." }),
  },
  { title: "Methodology", description: "How the index is made." },
);
export type Methodology = Static<typeof Methodology>;

export const EstimateQuery = Type.Object(
  {
    side: closedEnum(sides, { description: "What you want to do.", examples: ["sell"] }),
    scheme: closedEnum(schemes, {
      description: "The scheme of the credits.",
      examples: ["RODTEP"],
    }),
    amount_paise: paise("The face to sell, or the basic customs duty to cover."),
    expires_on: Type.Optional(
      day("Sell: the last day of the credit's validity, which narrows the range."),
    ),
    environment: Type.Optional(
      closedEnum(environments, {
        description: "Whose rate card; live unless given. The sandbox's prices bind nobody.",
        examples: ["live"],
      }),
    ),
  },
  { additionalProperties: false },
);
export type EstimateQuery = Static<typeof EstimateQuery>;

function estimated(description: string, example: number) {
  return Type.Optional(Type.Integer({ description, examples: [example] }));
}

export const Estimate = Type.Object(
  {
    side: openEnum(sides, "The side that was asked for."),
    scheme,
    amount_paise: Type.Integer({
      description: "The amount that was asked for, in paise.",
      examples: [25_000_000],
    }),
    environment: openEnum(environments, "Whose rate card it is made by."),
    expires_on: Type.Optional(day("Sell: as asked.")),
    days_left: Type.Optional(
      Type.Integer({ description: "Sell: days from today to that one.", examples: [400] }),
    ),
    low_bps: estimated("The lower end of the price, in bps of face.", 9_490),
    high_bps: estimated("The upper end of the price, in bps of face.", 9_790),
    low_paise: estimated("The lower end of what changes hands.", 23_725_000),
    high_paise: estimated("The upper end of what changes hands.", 24_475_000),
    savings_low_paise: estimated("Buy: the least that is saved against cash.", 350_000),
    savings_high_paise: estimated("Buy: the most that is saved against cash.", 475_000),
    no_estimate: Type.Optional(
      flag("True when there is no range now; then nothing else is given."),
    ),
    reason: Type.Optional(
      openEnum(
        noEstimateReasons,
        "Why there is none: wait, change the amount, or the credit lapses too soon.",
      ),
    ),
    binding: Type.Boolean({
      description: "Always false: nobody is bound to an estimate.",
      examples: [false],
    }),
    note: text("The same in words, for people."),
    as_of: timestamp("When it was made."),
  },
  { title: "Estimate", description: "Between what and what a price would lie; never a price." },
);
export type Estimate = Static<typeof Estimate>;

const person = {
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Your name, or your firm's.",
    examples: ["Asha Rao"],
  }),
  email: Type.String({
    maxLength: 254,
    description: "Where you are answered.",
    examples: ["asha@acme.example"],
  }),
};
const reachable = {
  phone: Type.Optional(
    Type.String({
      maxLength: 40,
      description: "Ten Indian digits, or with + and a country code.",
      examples: ["+919820012345"],
    }),
  ),
  iec: Type.Optional(
    Type.String({
      maxLength: 40,
      description: "Your importer-exporter code.",
      examples: ["AAGCB7383J"],
    }),
  ),
};
const consent = Type.Literal(true, {
  description: "That you agree to be contacted and to your data being kept for that, for a time.",
});
const tradedScheme = closedEnum(schemes, {
  description: "The scheme of the credits.",
  examples: ["RODTEP"],
});

export const SellEnquiryBody = body({
  scheme: tradedScheme,
  face_paise: paise("The face you want to sell."),
  ...person,
  ...reachable,
  consent,
});

export const BuyEnquiryBody = body({
  scheme: tradedScheme,
  requirement_paise: paise("The basic customs duty you want to cover."),
  ...person,
  ...reachable,
  consent,
});

export const ContactEnquiryBody = body({
  ...person,
  message: Type.String({
    minLength: 1,
    maxLength: 4_000,
    contentMediaType: "text/plain",
    description: "What you want to know.",
    examples: ["Do you take credits of a merged firm?"],
  }),
  consent,
});

export const EnquiryParams = Type.Object({
  enquiry_ref: Type.String({
    description: "The reference that the enquiry was answered with.",
    examples: ["enq_01jd2m7q4x8r5v6w9y0abcdefg"],
  }),
});

export const Enquiry = Type.Object(
  {
    enquiry_ref: Type.String({
      description: "Keep it to ask how far the enquiry has come.",
      examples: ["enq_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    status: openEnum(enquiryStatuses, "How far it has come."),
    created_at: timestamp("When it was received."),
    updated_at: timestamp("When its status last changed."),
    kept_until: timestamp("When it is deleted, with all personal data in it."),
  },
  { title: "Enquiry", description: "How far an enquiry has come; nothing that was said in it." },
);
export type Enquiry = Static<typeof Enquiry>;
