import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import { body, nullable, oneOf, openEnum, paise, timestamp } from "../platform/http/wire.ts";
import { noQuoteReasons, quoteSides, quoteStates } from "./quote-rules.ts";

const quoteRef = Type.String({
  description: "The quote's reference: order with it, or ask support about it.",
  examples: ["qte_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const scripNo = { description: "A credit's number.", examples: ["0123/RODTEP/4567"] };

function integer(description: string, example: number) {
  return Type.Integer({ description, examples: [example] });
}

export const TakeQuoteBody = body(
  {
    side: oneOf(quoteSides, { description: "Whether you sell credits or buy cover." }),
    scheme: Type.Optional(oneOf(schemes, { description: "Required unless scrip_no is given." })),
    face_paise: Type.Optional(paise("Sell, with scheme: the face value to price.")),
    requirement_paise: Type.Optional(paise("Buy, with scheme: the duty to cover.")),
    scrip_no: Type.Optional(
      Type.String({
        ...scripNo,
        minLength: 1,
        maxLength: 64,
        description: "Sell, and alone: the one credit to price.",
      }),
    ),
  },
  {
    title: "QuoteRequest",
    description:
      "Sell: scrip_no alone, or scheme and face_paise. Buy: scheme and requirement_paise.",
  },
);
export type TakeQuoteBody = Static<typeof TakeQuoteBody>;

/** What both sides and the absence of a price are made of; an answer has the fields of its side. */
const quoteFields = {
  side: Type.Optional(openEnum(quoteSides, "As asked.")),
  scheme: Type.Optional(openEnum(schemes, "The scheme that was priced.")),
  scrip_no: Type.Optional(
    Type.String({ ...scripNo, description: "Sell by scrip_no: the credit that was priced." }),
  ),
  face_paise: Type.Optional(integer("Sell: the face value that was priced.", 25_000_000)),
  requirement_paise: Type.Optional(integer("Buy: the duty to cover.", 25_000_000)),
  price_bps: Type.Optional(integer("Your price, in basis points of face.", 9_765)),
  all_in_paise: Type.Optional(
    integer("The single amount that changes hands, everything included.", 24_412_500),
  ),
  savings_paise: Type.Optional(integer("Buy: saved against paying the duty in cash.", 587_500)),
  scrip_nos: Type.Optional(
    Type.Array(Type.String(scripNo), {
      description: "Buy: the whole credits that cover the requirement.",
    }),
  ),
  covered_paise: Type.Optional(integer("Buy: the duty that the bundle covers.", 24_000_000)),
  residual_paise: Type.Optional(integer("Buy: the duty left to pay in cash.", 1_000_000)),
  fully_covered: Type.Optional(
    Type.Boolean({ description: "Buy: whether nothing is left to pay in cash." }),
  ),
  valid_until: Type.Optional(timestamp("Sell: until when the price binds.")),
  quote_ref: Type.Optional(quoteRef),
};

export const Quote = Type.Object(
  {
    ...quoteFields,
    no_quote: Type.Optional(
      Type.Boolean({ description: "True, and beside it only a reason: no binding price now." }),
    ),
    reason: Type.Optional(
      openEnum(
        noQuoteReasons,
        "With no_quote: market_unavailable, wait; size_unavailable, change the amount.",
      ),
    ),
  },
  {
    title: "Quote",
    description: "A binding price for an exact amount, or that there is none.",
    headers: {
      "X-Quote-Valid-Until": {
        type: "string",
        description: "Until when the price binds, on both sides; absent without a price.",
      },
      "X-Cover-Residual": {
        type: "string",
        description: "Buy: optimal when no bundle leaves less to pay in cash; bounded otherwise.",
      },
      "X-Cover-Residual-Bound-Paise": {
        type: "integer",
        description: "Buy: no bundle leaves less than this to pay in cash.",
      },
    },
  },
);
export type Quote = Static<typeof Quote>;

export const StoredQuote = Type.Object(
  {
    ...quoteFields,
    quote_ref: quoteRef,
    valid_until: timestamp("Until when the price binds, on either side."),
    status: openEnum(quoteStates, "Open until an order uses it or its time is over."),
    order_id: nullable<string>({
      type: "string",
      description: "The order that was placed on it.",
    }),
    firm_id: Type.String({
      description: "Whose credit it prices; the firm of the key when no credit was named.",
      examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    card_version: integer("The version of the rate card it was made from.", 1),
    created_at: timestamp("When it was given."),
    version: integer("2 once an order uses it, 1 before.", 1),
    allowed_actions: Type.Array(Type.String(), {
      description: "What its state allows you now; see GET /v1/meta/states.",
      examples: [["order"]],
    }),
  },
  { title: "StoredQuote", description: "A quote as it was answered, and what became of it." },
);
export type StoredQuote = Static<typeof StoredQuote>;

export const QuoteParams = Type.Object({ quote_ref: quoteRef });
