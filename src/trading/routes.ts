// The path of a quote: takeQuote (quotes.ts) collects requests into sets, priceSells or priceBuys
// prices them from the rate card and the book, and quote-store.ts inserts them.
//
// The path of an order: placeOrder (order-desk.ts) parses it, the order desk collects orders into
// sets, and placeOrders (place-orders.ts) runs each set as one transaction: load, decide, confirm,
// store. The matcher (match-resting.ts) deals resting orders later.

import { type Operation, operation } from "../platform/http/operation.ts";
import { filesText } from "../platform/http/wire.ts";
import {
  cancelOrder,
  coverRequirement,
  type OrderDesk,
  placeOrder,
  placeOrderBatch,
} from "./order-desk.ts";
import { ordersOfDesk, type ReadOrder } from "./read-orders.ts";
import { type QuoteAnswer, readQuote, type TakeQuote, takeQuoteBatch } from "./quotes.ts";
import {
  BatchResults,
  CoverRequirementBody,
  Order,
  OrderParams,
  PlaceOrderBatchBody,
  PlaceOrderBody,
  Quote,
  quoteHeaders,
  QuoteParams,
  RequirementParams,
  StoredQuote,
  QuoteBatchResults,
  TakeQuoteBatchBody,
  TakeQuoteBody,
} from "./schema.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring {
    readonly takeQuote: TakeQuote;
    readonly orderDesk: OrderDesk;
    readonly readOrder: ReadOrder;
  }
}

const reading = { method: "GET", demand: "orders:read", tag: "Orders" } as const;
const ordering = { method: "POST", demand: "orders:write", tag: "Orders" } as const;

export const tradingOperations: readonly Operation[] = [
  operation({
    id: "takeQuote",
    method: "POST",
    path: "/v1/quote",
    demand: "quote",
    tag: "Quotes",
    summary: "Take a binding price for an exact amount",
    description:
      "Sell by scrip_no, or by scheme and face_paise; buy by scheme and requirement_paise. A " +
      "price by amount is for credits with at least 365 days left. An order with the quote_ref " +
      "in time gets this price, whatever the market does, for the facts it was made from: where a " +
      "credit or an offer has changed since, the answer is 409 with a fresh quote in " +
      "detail. When there is no binding price, the answer is no_quote and its reason, and " +
      "nothing else.",
    config: { quiet: true },
    body: TakeQuoteBody,
    answer: { ...Quote, headers: quoteHeaders },
    send: (reply, { headers, quote }: QuoteAnswer) => {
      reply.headers(headers);
      return quote;
    },
    run: (call, asked) => call.wiring.takeQuote(call, asked),
  }),
  operation({
    id: "takeQuoteBatch",
    method: "POST",
    path: "/v1/quotes::batch",
    demand: "quote",
    tag: "Quotes",
    summary: "Take 1 to 200 quotes",
    description:
      "Each is answered as if it were asked for alone, in the sequence of the request: valid ones " +
      "have a quote, the others fail on their own. It is metered as one call.",
    config: { quiet: true },
    body: TakeQuoteBatchBody,
    batch: true,
    answer: QuoteBatchResults,
    run: (call, body) => takeQuoteBatch(call.ctx, call.wiring.takeQuote, call, body),
  }),
  operation({
    id: "readQuote",
    method: "GET",
    path: "/v1/quotes/:quote_ref",
    demand: "quote",
    tag: "Quotes",
    summary: "Read a quote and its state",
    description:
      "The quote as it was answered, whether it is open, used or expired, and the order that used it.",
    params: QuoteParams,
    answer: StoredQuote,
    run: ({ ctx, caller }, { quote_ref }) => readQuote(ctx, caller, quote_ref),
  }),
  operation({
    id: "placeOrder",
    path: "/v1/orders",
    ...ordering,
    summary: "Sell credits or buy cover",
    description:
      "By a quote, at the current binding price, or with a limit. A sell names one credit or an " +
      "amount; a buy names the basic customs duty to cover. A refused order is not stored.",
    body: PlaceOrderBody,
    creates: true,
    answer: Order,
    run: (call, body) => placeOrder(call.ctx, call.wiring.orderDesk, call, body),
  }),
  operation({
    id: "coverRequirement",
    path: "/v1/firms/:firm_id/requirements/:requirement_id/cover",
    ...ordering,
    summary: "Buy what covers a requirement",
    description:
      "Places a buy for the basic customs duty that is uncovered. While an order rests for the " +
      "requirement, another cover is 409; so is one for a requirement that is covered. The " +
      "requirement shows what its orders have bought.",
    params: RequirementParams,
    body: CoverRequirementBody,
    creates: true,
    answer: Order,
    run: (call, asked) => coverRequirement(call.ctx, call.wiring.orderDesk, call, asked),
  }),
  operation({
    id: "placeOrderBatch",
    path: "/v1/orders::batch",
    ...ordering,
    summary: "Place 1 to 500 orders",
    description:
      "Each order has its own result, in the sequence of the request: valid ones are placed, the " +
      "others fail on their own. Of two orders for one credit the first wins.",
    body: PlaceOrderBatchBody,
    batch: true,
    answer: BatchResults,
    run: (call, body) => placeOrderBatch(call.ctx, call.wiring.orderDesk, call, body),
  }),
  operation({
    id: "listOrders",
    path: "/v1/orders",
    ...reading,
    summary: "List your desk's orders",
    description:
      "Newest first. Filters combine. `idempotency_key` finds the order of a call whose answer was " +
      `lost. ${filesText}`,
    list: ordersOfDesk,
  }),
  operation({
    id: "readOrder",
    path: "/v1/orders/:order_id",
    ...reading,
    summary: "Read an order",
    description: "An order with its price, its credits, its settlement and every state it has had.",
    params: OrderParams,
    answer: Order,
    run: ({ caller, wiring }, { order_id }) => wiring.readOrder(caller, order_id),
  }),
  operation({
    id: "cancelOrder",
    path: "/v1/orders/:order_id/cancel",
    ...ordering,
    summary: "Cancel the resting part of an order",
    description: "Deals stand. Cancelling twice is no conflict.",
    params: OrderParams,
    answer: Order,
    run: (call, { order_id }) => cancelOrder(call.wiring.orderDesk, call, order_id),
  }),
];
