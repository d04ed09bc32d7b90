import { type Static, type TProperties, Type } from "typebox";

import { bpsOfPar } from "../kernel/money.ts";
import { schemes, sides } from "../kernel/scheme.ts";
import {
  body,
  closedEnum,
  flag,
  form,
  itemError,
  maybeCount,
  maybeText,
  maybeTime,
  nullable,
  openEnum,
  paise,
  text,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import { orderStates, timesInForce } from "./order-rules.ts";
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
    side: closedEnum(quoteSides, { description: "Whether you sell credits or buy cover." }),
    scheme: Type.Optional(
      closedEnum(schemes, { description: "Required unless scrip_no is given." }),
    ),
    face_paise: Type.Optional(paise("Sell, with scheme: the face value to price.")),
    requirement_paise: Type.Optional(paise("Buy, with scheme: the basic customs duty to cover.")),
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
    "x-forms": [
      [
        form({ side: ["sell"], scrip_no: true }),
        form({ side: ["sell"], scheme: true, face_paise: true }),
        form({ side: ["buy"], scheme: true, requirement_paise: true }),
      ],
    ],
  },
);
export type TakeQuoteBody = Static<typeof TakeQuoteBody>;

const quotesMax = 200;

export const TakeQuoteBatchBody = body({
  quotes: Type.Array(TakeQuoteBody, {
    minItems: 1,
    maxItems: quotesMax,
    description: `1 to ${quotesMax}; each has its own result.`,
  }),
});
export type TakeQuoteBatchBody = Static<typeof TakeQuoteBatchBody>;

/** What both sides and the absence of a price are made of; an answer has the fields of its side. */
const quoteFields = {
  side: Type.Optional(openEnum(quoteSides, "The side that was asked for.")),
  scheme: Type.Optional(openEnum(schemes, "The scheme that was priced.")),
  scrip_no: Type.Optional(
    Type.String({ ...scripNo, description: "Sell by scrip_no: the credit that was priced." }),
  ),
  face_paise: Type.Optional(integer("Sell: the face value that was priced.", 25_000_000)),
  requirement_paise: Type.Optional(integer("Buy: the basic customs duty to cover.", 25_000_000)),
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
  fully_covered: Type.Optional(flag("Buy: whether nothing is left to pay in cash.")),
  valid_until: Type.Optional(timestamp("Sell: until when the price binds.")),
  quote_ref: Type.Optional(quoteRef),
};

const sold = ["scheme", "face_paise", "price_bps", "all_in_paise", "valid_until"] as const;
const covered = [
  "scheme",
  "requirement_paise",
  "price_bps",
  "all_in_paise",
  "savings_paise",
  "scrip_nos",
  "covered_paise",
  "residual_paise",
  "fully_covered",
] as const;

/** The three forms of a Quote, for clients that tell them apart by type. */
export const quoteKinds = [
  Type.Object(
    {
      side: Type.Literal("sell"),
      scrip_no: quoteFields.scrip_no,
      ...requireFields(sold),
      quote_ref: quoteRef,
    },
    { title: "SellQuote", description: "A Quote for selling, with a price." },
  ),
  Type.Object(
    { side: Type.Literal("buy"), ...requireFields(covered), quote_ref: quoteRef },
    { title: "BuyQuote", description: "A Quote for buying cover, with a price." },
  ),
  Type.Object(
    {
      no_quote: Type.Literal(true),
      reason: openEnum(noQuoteReasons, "market_unavailable, wait; size_unavailable, change it."),
    },
    { title: "NoQuote", description: "A Quote without a price." },
  ),
];

function requireFields(names: readonly (keyof typeof quoteFields)[]): TProperties {
  // Optional is a mark beside the schema, which a copy of its keywords leaves behind.
  return Object.fromEntries(names.map((name) => [name, Type.Unsafe({ ...quoteFields[name] })]));
}

export const Quote = Type.Object(
  {
    ...quoteFields,
    no_quote: Type.Optional(flag("True, and beside it only a reason: no binding price now.")),
    reason: Type.Optional(
      openEnum(
        noQuoteReasons,
        "With no_quote: market_unavailable, wait; size_unavailable, change the amount.",
      ),
    ),
  },
  {
    title: "Quote",
    description:
      "A binding price for an exact amount, or that there is none: a SellQuote, a BuyQuote or a NoQuote.",
    "x-kinds": ["SellQuote", "BuyQuote", "NoQuote"],
  },
);
export type Quote = Static<typeof Quote>;

/** What the headers of a single quote say of it. */
export const quoteHeaders = {
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
};

export const StoredQuote = Type.Object(
  {
    ...quoteFields,
    quote_ref: quoteRef,
    valid_until: timestamp("Until when the price binds, on either side."),
    status: openEnum(quoteStates, "Open until an order uses it or its time is over."),
    order_id: maybeText("The order that was placed on it; null before one is."),
    firm_id: Type.String({
      description: "Whose credit it prices; the firm of the key when no credit was named.",
      examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    card_version: integer("The version of the rate card it was made from.", 1),
    terms: Type.Object(
      {
        default_bps: integer(
          "At most so much of face does a side that is proved late pay the other.",
          50,
        ),
      },
      { description: "What else a deal on it comes with." },
    ),
    created_at: timestamp("When it was given."),
    version: integer("2 once an order uses it, 1 before.", 1),
    allowed_actions: Type.Array(Type.String(), {
      description: "What its state allows you now; see GET /v1/meta/states.",
      examples: [["order"]],
    }),
  },
  { title: "StoredQuote", description: "A quote as it was answered, with its present state." },
);
export type StoredQuote = Static<typeof StoredQuote>;

export const QuoteParams = Type.Object({ quote_ref: quoteRef });

const orderId = Type.String({
  description: "The order's id.",
  examples: ["ord_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const amount = (description: string) => Type.Integer({ description, examples: [25_000_000] });
const maybeAmount = (description: string) => nullable<number>({ type: "integer", description });

const metadata = Type.Unsafe<Record<string, string>>({
  type: "object",
  propertyNames: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,40}$" },
  additionalProperties: { type: "string", maxLength: 500 },
  maxProperties: 20,
  description: "Your own names and values; up to 20, kept as they are. Every value is a string.",
});

const orderFields = {
  quote_ref: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Takes a quote at its price, as long as it is valid; a quote is used once.",
    }),
  ),
  side: Type.Optional(closedEnum(sides, { description: "Required without quote_ref." })),
  scrip_no: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "Sell: this one credit." }),
  ),
  scheme: Type.Optional(
    closedEnum(schemes, { description: "With face_paise or requirement_paise." }),
  ),
  face_paise: Type.Optional(
    paise("Sell: the firm's own whole credits whose sum is the largest within this."),
  ),
  requirement_paise: Type.Optional(
    paise("Buy: the basic customs duty to cover with whole credits."),
  ),
  limit_bps: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: bpsOfPar,
      description: "Sell: no less than this. Buy: no more. Without it, the current binding price.",
      examples: [9_800],
    }),
  ),
  time_in_force: Type.Optional(
    closedEnum(timesInForce, {
      description:
        "IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, " +
        "the default with a limit. GTD: rests until expires_at.",
    }),
  ),
  expires_at: Type.Optional(timestamp("When a GTD order ends.")),
  firm_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "The firm of your desk that is acted for; the key's own when absent.",
    }),
  ),
  client_ref: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "Your own name for the order." }),
  ),
  metadata: Type.Optional(metadata),
};

const orderTerms = { limit_bps: true, time_in_force: true, expires_at: true } as const;

/** What is dealt, and how long it may rest; a quote settles both. */
const orderForms = [
  [
    form({ quote_ref: true }),
    form({ side: ["sell"], scrip_no: true }, orderTerms),
    form({ side: ["sell"], scheme: true, face_paise: true }, orderTerms),
    form({ side: ["buy"], scheme: true, requirement_paise: true }, orderTerms),
  ],
  [
    form({}, { limit_bps: true, time_in_force: ["IOC"] }),
    form({ limit_bps: true, time_in_force: ["GTC"] }),
    form({ limit_bps: true, time_in_force: ["GTD"], expires_at: true }),
  ],
];

export const PlaceOrderBody = body(orderFields, { title: "PlaceOrder", "x-forms": orderForms });
export type PlaceOrderBody = Static<typeof PlaceOrderBody>;

const { limit_bps, expires_at } = orderFields;

export { RequirementParams } from "../firms/requirement-schema.ts";

export const CoverRequirementBody = body(
  {
    scheme: Type.Optional(
      closedEnum(schemes, {
        description: "Which credits are to cover it; required where the requirement names none.",
      }),
    ),
    limit_bps,
    expires_at,
  },
  {
    title: "CoverRequirement",
    description:
      "With a limit it rests until it is cancelled, or until expires_at; without one it buys now, " +
      "at the current binding price.",
  },
);
export type CoverRequirementBody = Static<typeof CoverRequirementBody>;

export const BatchItem = body(
  {
    ...orderFields,
    idempotency_key: Type.Optional(
      Type.String({
        pattern: "^[!-~]{1,255}$",
        description: "This order's own key; otherwise the header's with # and the index.",
      }),
    ),
  },
  { title: "BatchOrder", "x-forms": orderForms },
);
export type BatchItem = Static<typeof BatchItem>;

const batchSizeMax = 500;

export const PlaceOrderBatchBody = body({
  orders: Type.Array(BatchItem, {
    minItems: 1,
    maxItems: batchSizeMax,
    description: "1 to 500; each has its own result.",
  }),
});
export type PlaceOrderBatchBody = Static<typeof PlaceOrderBatchBody>;

const HistoryEntry = Type.Object({
  status: openEnum(orderStates, "The new state."),
  at: timestamp("When it came to this state."),
  reason: maybeText("Why it came to this state; null where that is obvious."),
});

export const Order = Type.Object(
  {
    order_id: orderId,
    client_ref: maybeText("Your own name for the order; null when it has none."),
    firm_id: text("The id of the firm that the order is for."),
    side: openEnum(sides, "Which side."),
    scheme: openEnum(schemes, "Which scheme."),
    scrip_nos: Type.Array(Type.String(), {
      description: "Sell: the credits it sells. Buy: the credits that cover it so far.",
    }),
    face_paise: Type.Optional(amount("Sell: the face that was asked for.")),
    requirement_paise: Type.Optional(amount("Buy: the basic customs duty to cover.")),
    covered_paise: amount("Sell: the face of its credits. Buy: the duty covered so far."),
    residual_paise: amount("The part of the request that is not covered."),
    price_bps: maybeAmount("The one price of the order; null until something of it is dealt."),
    limit_bps: maybeAmount("The limit it was placed with; null without one."),
    all_in_paise: maybeAmount(
      "The amount that changes hands for the dealt part, everything included; null before anything of it is dealt.",
    ),
    savings_paise: maybeAmount(
      "Buy: the saving against paying the covered duty in cash; null before anything of it is dealt, and for sells.",
    ),
    time_in_force: openEnum(timesInForce, "How long it may rest."),
    expires_at: maybeTime("When it expires; null for an order that does not."),
    quote_ref: maybeText("The quote that the order took; null without one."),
    metadata: Type.Record(Type.String(), Type.String(), {
      description: "The pairs that were given with it.",
    }),
    status: openEnum(orderStates, "Its state."),
    settlement_id: maybeText("The id of its latest settlement; null before there is a deal."),
    settlement_ids: Type.Array(Type.String(), {
      description: "All of its settlements; an order that rested can be dealt in parts.",
    }),
    settlement_status: maybeText(
      "The state of its own credits in its latest settlement; null before there is one.",
    ),
    settled_paise: maybeCount(
      "The part of all_in_paise that has changed hands for delivered credits; null before a deal.",
    ),
    version,
    allowed_actions: Type.Array(Type.String(), {
      description: "The actions that its state allows.",
    }),
    history: Type.Array(HistoryEntry, { description: "Every state it has had, in sequence." }),
    created_at: timestamp("When it was placed."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "Order", description: "An instruction to sell credits or to buy cover." },
);
export type Order = Static<typeof Order>;

export const OrderParams = Type.Object({ order_id: orderId });

export const QuoteBatchResults = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ description: "Its place in the request, from 0.", examples: [0] }),
        ok: Type.Boolean({
          description: "Whether there is an answer, be it that there is no price.",
        }),
        status: Type.Integer({
          description: "The status a call with this quote alone would have.",
          examples: [200],
        }),
        error: itemError,
        valid_until: maybeTime("Until when its price binds, on both sides; null without a price."),
        quote: Type.Optional(Quote),
      }),
      { description: "One per quote, in the order of the request." },
    ),
    quoted: Type.Integer({ description: "Quotes that were answered.", examples: [1] }),
    failed: Type.Integer({ description: "Quotes that were refused.", examples: [0] }),
  },
  { title: "QuoteBatchResults" },
);
export type QuoteBatchResults = Static<typeof QuoteBatchResults>;

export const BatchResults = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ description: "Its place in the request, from 0.", examples: [0] }),
        ok: flag("Whether the order stands."),
        status: Type.Integer({
          description: "The status a call with this order alone would have.",
          examples: [201],
        }),
        error: itemError,
        order: Type.Optional(Order),
      }),
      { description: "One per order, in the order of the request." },
    ),
    submitted: Type.Integer({
      description: "The number of orders that were placed.",
      examples: [1],
    }),
    failed: Type.Integer({ description: "The number of orders that were refused.", examples: [0] }),
  },
  { title: "OrderBatchResults" },
);
export type BatchResults = Static<typeof BatchResults>;
