import { type Static, Type } from "typebox";

import { bpsOfPar } from "../kernel/money.ts";
import { schemes, sides } from "../kernel/scheme.ts";
import {
  body,
  itemError,
  nullable,
  oneOf,
  openEnum,
  pageFields,
  pageQuery,
  paise,
  timestamp,
} from "../platform/http/wire.ts";
import { orderStates, timesInForce } from "./order-rules.ts";

const orderId = Type.String({
  description: "The order's id.",
  examples: ["ord_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const amount = (description: string) => Type.Integer({ description, examples: [25_000_000] });
const maybeAmount = (description: string) => nullable<number>({ type: "integer", description });
const maybeText = (description: string) => nullable<string>({ type: "string", description });

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
  side: Type.Optional(oneOf(sides, { description: "Required without quote_ref." })),
  scrip_no: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "Sell: this one credit." }),
  ),
  scheme: Type.Optional(oneOf(schemes, { description: "With face_paise or requirement_paise." })),
  face_paise: Type.Optional(
    paise("Sell: the firm's own whole credits whose sum is the largest within this."),
  ),
  requirement_paise: Type.Optional(paise("Buy: the duty to cover with whole credits.")),
  limit_bps: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: bpsOfPar,
      description: "Sell: no less than this. Buy: no more. Without it, the current binding price.",
      examples: [9_800],
    }),
  ),
  time_in_force: Type.Optional(
    oneOf(timesInForce, {
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

export const PlaceOrderBody = body(orderFields, { title: "PlaceOrder" });
export type PlaceOrderBody = Static<typeof PlaceOrderBody>;

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
  { title: "BatchOrder" },
);
export type BatchItem = Static<typeof BatchItem>;

export const batchSizeMax = 500;

export const PlaceOrderBatchBody = body({
  orders: Type.Array(BatchItem, {
    minItems: 1,
    maxItems: batchSizeMax,
    description: "1 to 500; each is answered by itself.",
  }),
});
export type PlaceOrderBatchBody = Static<typeof PlaceOrderBatchBody>;

const HistoryEntry = Type.Object({
  status: openEnum(orderStates, "The state it came to."),
  at: timestamp("When."),
  reason: maybeText("Why, where that is not obvious."),
});

export const Order = Type.Object(
  {
    order_id: orderId,
    client_ref: maybeText("Your own name for it."),
    firm_id: Type.String({ description: "The firm acted for." }),
    side: openEnum(sides, "Which side."),
    scheme: openEnum(schemes, "Which scheme."),
    scrip_nos: Type.Array(Type.String(), {
      description: "Sell: the credits it sells. Buy: the credits that cover it so far.",
    }),
    face_paise: Type.Optional(amount("Sell: the face that was asked for.")),
    requirement_paise: Type.Optional(amount("Buy: the duty to cover.")),
    covered_paise: amount("Sell: the face of its credits. Buy: the duty covered so far."),
    residual_paise: amount("What is asked for and not covered."),
    price_bps: maybeAmount("The one price of the order; null until something of it is dealt."),
    limit_bps: maybeAmount("The limit it was placed with."),
    all_in_paise: maybeAmount("What changes hands for what was dealt, everything included."),
    savings_paise: maybeAmount("Buy: the saving against paying the covered duty in cash."),
    time_in_force: openEnum(timesInForce, "How long it may rest."),
    expires_at: nullable<string>({
      type: "string",
      format: "date-time",
      description: "When it ends by itself. ISO 8601, IST.",
    }),
    quote_ref: maybeText("The quote it took."),
    metadata: Type.Record(Type.String(), Type.String(), { description: "As it was given." }),
    status: openEnum(orderStates, "Where it stands."),
    settlement_id: maybeText("Its latest settlement."),
    settlement_ids: Type.Array(Type.String(), {
      description: "Every settlement of it; an order that rested can be dealt in parts.",
    }),
    settlement_status: maybeText("Where its own credits stand in its latest settlement."),
    settled_paise: nullable<number>({
      type: "integer",
      description:
        "What of all_in_paise has changed hands, for credits that were delivered; null before a deal.",
    }),
    version: Type.Integer({ description: "Raised by every change.", examples: [1] }),
    allowed_actions: Type.Array(Type.String(), { description: "What can be done with it now." }),
    history: Type.Array(HistoryEntry, { description: "Every state it came to, in order." }),
    created_at: timestamp("When it was placed."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "Order", description: "An instruction to sell credits or to buy cover." },
);
export type Order = Static<typeof Order>;

export const OrderParams = Type.Object({ order_id: orderId });

export const ListOrdersQuery = Type.Object(
  {
    status: Type.Optional(oneOf(orderStates, { description: "Only those in this state." })),
    side: Type.Optional(oneOf(sides)),
    scheme: Type.Optional(oneOf(schemes)),
    firm_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    client_ref: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    idempotency_key: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    from: Type.Optional(timestamp("Only those placed at this time or later.")),
    to: Type.Optional(timestamp("Only those placed before this time.")),
    ...pageQuery,
  },
  { additionalProperties: false },
);
export type ListOrdersQuery = Static<typeof ListOrdersQuery>;

export const OrderList = Type.Object(
  { orders: Type.Array(Order, { description: "Newest first." }), ...pageFields },
  { title: "OrderList" },
);

export const BatchResults = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ description: "Its place in the request, from 0.", examples: [0] }),
        ok: Type.Boolean({ description: "Whether the order stands." }),
        status: Type.Integer({
          description: "The status a call with this order alone would have.",
          examples: [201],
        }),
        error: itemError,
        order: Type.Optional(Order),
      }),
      { description: "One per order, in the order of the request." },
    ),
    submitted: Type.Integer({ description: "Orders that stand.", examples: [1] }),
    failed: Type.Integer({ description: "Orders that do not.", examples: [0] }),
  },
  { title: "OrderBatchResults" },
);
export type BatchResults = Static<typeof BatchResults>;
