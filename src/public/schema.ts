import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import { type MarketState, marketStates } from "../rates/rules.ts";
import { nullable, openEnum } from "../platform/wire.ts";
import { bases } from "./rules.ts";

const scheme = openEnum(schemes, "The scheme of the credits.");

/** The pattern keeps out the year 0, which PostgreSQL's calendar does not have. */
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
  scheme: Type.String({ description: "The scheme.", examples: [schemes[0]] }),
});

export const RateOfDayParams = Type.Object({
  scheme: Type.String({ description: "The scheme.", examples: [schemes[0]] }),
  date: Type.String({ description: "A day in IST.", examples: ["2026-11-14"] }),
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
    description: "The day whose deals the figure is made of.",
    examples: ["2026-11-14"],
  }),
  final: Type.Boolean({
    description: "Whether the day is over and its figure fixed for good.",
    examples: [true],
  }),
  deal_count: nullableInteger("Deals that count; of fixed days with enough sellers only.", 42),
  seller_count: nullableInteger("Different sellers; of fixed days with enough sellers only.", 17),
  face_paise: nullableInteger(
    "Face that was dealt; of fixed days with enough sellers only.",
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
      description: "The last fixed day before this one.",
      examples: ["2026-11-13"],
    }),
    change_bps: nullableInteger("Against the figure of that day.", 5),
    market_state: nullable<MarketState>({
      type: "string",
      description: `Whether the desk gives prices now; null without a rate card. Open set; known today: ${marketStates.join(", ")}.`,
      examples: [marketStates[0]],
    }),
    mid_bps: nullableInteger("The middle of the desk's rate card, in bps of face.", 9_850),
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
    summary: Type.String({ description: "The method in a sentence." }),
    environment: Type.String({ description: "Whose deals count.", examples: ["live"] }),
    schemes: Type.Array(Type.String(), { description: "What there is an index for." }),
    unit: Type.String({ description: "What index_bps counts." }),
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
