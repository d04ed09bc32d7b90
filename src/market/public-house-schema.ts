import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import { offices } from "../kernel/working-days.ts";
import { type MarketState, marketStates } from "../rates/rules.ts";
import { nullable, nullableObject, openEnum, text, timestamp } from "../platform/http/wire.ts";

const scheme = openEnum(schemes, "The scheme of the credits.");

function nullableText(description: string, example: string) {
  return nullable<string>({ type: "string", description, examples: [example] });
}

function nullableInteger(description: string, example: number) {
  return nullable<number>({ type: "integer", description, examples: [example] });
}

function integer(description: string, example: number) {
  return Type.Integer({ description, examples: [example] });
}

function date(description: string) {
  return Type.String({ format: "date", description, examples: ["2026-11-24"] });
}

const HouseScheme = Type.Object(
  {
    scheme,
    market_state: nullable<MarketState>({
      type: "string",
      description: `Whether the house gives prices now; null without a rate card. Open set; known today: ${marketStates.join(", ")}.`,
      examples: [marketStates[0]],
    }),
    fee_bps: nullableInteger(
      "The house's fee in bps of face, inside every price it gives; null before there is a card.",
      0,
    ),
    default_bps: nullableInteger(
      "What a side that is proved late on the customs portal pays the other, in bps of face; null before there is a card.",
      50,
    ),
    quote_window_s: nullableInteger(
      "For how many seconds a quote binds the house; null before there is a card.",
      120,
    ),
    face_max_paise: nullableInteger(
      "The largest face it gives a price for; null before there is a card.",
      15_000_000_000,
    ),
    days_left_min: nullableInteger(
      "Credits with fewer days left get no price; null before there is a card.",
      30,
    ),
  },
  { title: "HouseScheme", description: "The terms on which the house deals in a scheme." },
);
export type HouseScheme = Static<typeof HouseScheme>;

const Timetable = Type.Object(
  {
    as_of: timestamp("The moment that the days below count from."),
    cut_off: Type.String({
      description: "What comes after this time of day, IST, counts as of the next working day.",
      examples: ["15:30"],
    }),
    closes: Type.String({ description: "When deadlines end, IST.", examples: ["17:30"] }),
    transfer_working_days: integer("Working days of customs after which a transfer is late.", 2),
    transferred_by: timestamp(
      "The last moment for the transfer of a credit sold to the house now.",
    ),
    payment_working_days: integer("Working days of banks that a buyer has to pay.", 1),
    paid_by: timestamp("The last moment for the money of a purchase agreed now."),
    holidays: Type.Array(
      Type.Object({
        office: openEnum(offices, "Who is closed."),
        date: date("The day, YYYY-MM-DD in IST."),
        name: Type.String({
          description: "What the day is called.",
          examples: ["Guru Nanak Jayanti"],
        }),
      }),
      { description: "Days of the coming month on which banks or customs are closed, by date." },
    ),
  },
  { title: "Timetable", description: "When credits and money move, for a deal agreed now." },
);
export type Timetable = Static<typeof Timetable>;

export const House = Type.Object(
  {
    name: Type.String({ description: "Who runs this desk.", examples: ["Mint House"] }),
    legal_name: nullableText("Its name in law; null until told.", "Mint House Private Limited"),
    cin: nullableText(
      "Its number in the register of companies (CIN); null where none is told.",
      "U51909KA2015PTC082321",
    ),
    address: Type.Array(Type.String(), { description: "Its address by lines; empty until told." }),
    gstin: nullableText("Its GSTIN; null until told.", "27AAPFU0939F1ZV"),
    email: nullableText("The mail address; null when none is told.", "desk@house.example"),
    phone: nullableText("The telephone number; null when none is told.", "+912261234567"),
    terms_href: nullableText("Where its terms are; null until published.", "/terms"),
    privacy_href: nullableText(
      "Where it says what becomes of personal data; null where nothing is told.",
      "/privacy",
    ),
    schemes: Type.Array(HouseScheme, { description: "One per scheme." }),
    gst_bps: integer("Goods and services tax on a fee, in bps of it.", 1_800),
    scrip_hsn: Type.String({
      description: "The heading under which credits are exempt from GST.",
      examples: ["4907"],
    }),
    block_fee_bps: integer("What each side of a block pays, tax included, in bps of face.", 2),
    withholding: nullableObject(
      {
        section: Type.String({ description: "The section of the law.", examples: ["194Q"] }),
        rate_bps: integer("In bps of what exceeds the threshold.", 10),
        threshold_paise: integer("A seller's sales in a financial year without it.", 500_000_000),
      },
      { description: "Tax that is withheld from sellers; null where none is." },
    ),
    rtgs_from_paise: integer("From this amount on money travels by RTGS.", 20_000_000),
    timetable: Timetable,
  },
  { title: "House", description: "Who the house is, what dealing costs and when money comes." },
);
export type House = Static<typeof House>;

export const Preview = Type.Object(
  {
    environment: Type.String({ description: "Always the sandbox.", examples: ["sandbox"] }),
    note: text("What these figures are, for people."),
    schemes: Type.Array(
      Type.Object({
        scheme,
        market_state: openEnum(marketStates, "Of the sandbox's market."),
        mid_bps: integer("The middle of the sandbox's rate card, in bps of face.", 9_850),
        days: Type.Array(
          Type.Object({
            date: date("The day, YYYY-MM-DD in IST."),
            index_bps: integer("A simulated figure, in bps of face.", 9_790),
          }),
          { description: "A year of simulated figures, oldest first." },
        ),
      }),
      { description: "One per scheme with a sandbox card." },
    ),
  },
  { title: "Preview", description: "Simulated figures for a desk without a live market." },
);
export type Preview = Static<typeof Preview>;
