// The path of a quote: takeQuote (quotes.ts) collects requests into sets, priceSells or priceBuys
// (price-quotes.ts) prices them from the rate card and the book, and quote-store.ts inserts them.
//
// The path of an order: placeOrder (order-desk.ts) parses it, the order desk collects orders into
// sets, and placeOrders (place-orders.ts) runs each set as one transaction: load, decide, confirm,
// store. The matcher (match-resting.ts) deals resting orders later.

import { type Context, contextFor } from "../platform/context.ts";
import { toCall, sendCreation, sendLong, whenGone } from "../platform/http/calls.ts";
import { sendList } from "../platform/http/documents.ts";
import type { App } from "../platform/http/server.ts";
import { filesText } from "../platform/http/wire.ts";
import { compileBatchValidator } from "../platform/http/validation.ts";
import {
  cancelOrder,
  coverRequirement,
  type OrderDesk,
  placeOrder,
  placeOrderBatch,
} from "./order-desk.ts";
import { createOrderReader, listOrders, ListOrdersQuery } from "./read-orders.ts";
import { readQuote, type TakeQuote } from "./quotes.ts";
import {
  BatchResults,
  CoverRequirementBody,
  Order,
  OrderList,
  OrderParams,
  PlaceOrderBatchBody,
  PlaceOrderBody,
  Quote,
  QuoteParams,
  RequirementParams,
  StoredQuote,
  TakeQuoteBody,
} from "./schema.ts";

export function quoteRoutes(app: App, ctx: Context, takeQuote: TakeQuote): void {
  app.post(
    "/v1/quote",
    {
      config: { demand: "quote", quiet: true },
      schema: {
        operationId: "takeQuote",
        tags: ["Quotes"],
        summary: "Take a binding price for an exact amount",
        description:
          "Sell by scrip_no, or by scheme and face_paise; buy by scheme and requirement_paise. A " +
          "price by amount is for credits with at least 365 days left. An order with the quote_ref " +
          "in time gets this price, whatever the market does, for the facts it was made from: where a " +
          "credit or an offer has changed since, the answer is 409 with a fresh quote in " +
          "detail. When there is no binding price, the answer is no_quote and its reason, and " +
          "nothing else.",
        body: TakeQuoteBody,
        response: { 200: Quote },
      },
    },
    async (request, reply) => {
      const { headers, quote } = await takeQuote(toCall(request, reply), request.body);
      reply.headers(headers);
      return quote;
    },
  );

  app.get(
    "/v1/quotes/:quote_ref",
    {
      config: { demand: "quote" },
      schema: {
        operationId: "readQuote",
        tags: ["Quotes"],
        summary: "Read a quote and its state",
        description:
          "The quote as it was answered, whether it is open, used or expired, and the order that used it.",
        params: QuoteParams,
        response: { 200: StoredQuote },
      },
    },
    async (request) =>
      await readQuote(contextFor(ctx, request.caller), request.caller, request.params.quote_ref),
  );
}

export function orderRoutes(app: App, ctx: Context, desk: OrderDesk): void {
  const readOrder = createOrderReader(ctx);

  app.post(
    "/v1/orders",
    {
      config: { demand: "orders:write", creates: true },
      schema: {
        operationId: "placeOrder",
        tags: ["Orders"],
        summary: "Sell credits or buy cover",
        description:
          "By a quote, at the current binding price, or with a limit. A sell names one credit or an " +
          "amount; a buy names the basic customs duty to cover. A refused order is not stored.",
        body: PlaceOrderBody,
        response: { 201: Order, 200: Order },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await placeOrder(
          contextFor(ctx, request.caller),
          desk,
          toCall(request, reply),
          request.body,
        ),
      ),
  );

  app.post(
    "/v1/firms/:firm_id/requirements/:requirement_id/cover",
    {
      config: { demand: "orders:write", creates: true },
      schema: {
        operationId: "coverRequirement",
        tags: ["Orders"],
        summary: "Buy what covers a requirement",
        description:
          "Places a buy for the basic customs duty that is uncovered. While an order rests for the " +
          "requirement, another cover is 409; so is one for a requirement that is covered. The " +
          "requirement shows what its orders have bought.",
        params: RequirementParams,
        body: CoverRequirementBody,
        response: { 201: Order, 200: Order },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await coverRequirement(contextFor(ctx, request.caller), desk, toCall(request, reply), {
          firmId: request.params.firm_id,
          requirementId: request.params.requirement_id,
          body: request.body,
        }),
      ),
  );

  app.post(
    "/v1/orders::batch",
    {
      config: { demand: "orders:write", creates: true },
      validatorCompiler: compileBatchValidator,
      schema: {
        operationId: "placeOrderBatch",
        tags: ["Orders"],
        summary: "Place 1 to 500 orders",
        description:
          "Each order has its own result, in the sequence of the request: valid ones are placed, the " +
          "others fail on their own. Of two orders for one credit the first wins.",
        body: PlaceOrderBatchBody,
        response: { 200: BatchResults },
      },
    },
    async (request, reply) =>
      await sendLong(
        reply,
        await placeOrderBatch(
          contextFor(ctx, request.caller),
          desk,
          toCall(request, reply),
          request.body,
        ),
      ),
  );

  app.get(
    "/v1/orders",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listOrders",
        tags: ["Orders"],
        summary: "List your desk's orders",
        description:
          "Newest first. Filters combine. `idempotency_key` finds the order of a call whose answer was " +
          `lost. ${filesText}`,
        querystring: ListOrdersQuery,
        response: { 200: OrderList },
      },
    },
    async (request, reply) =>
      sendList(
        reply,
        "orders",
        await listOrders(contextFor(ctx, request.caller), request.caller, {
          ...request.query,
          gone: whenGone(reply),
        }),
      ),
  );

  app.get(
    "/v1/orders/:order_id",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readOrder",
        tags: ["Orders"],
        summary: "Read an order",
        description:
          "An order with its price, its credits, its settlement and every state it has had.",
        params: OrderParams,
        response: { 200: Order },
      },
    },
    async (request) => await readOrder(request.caller, request.params.order_id),
  );

  app.post(
    "/v1/orders/:order_id/cancel",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "cancelOrder",
        tags: ["Orders"],
        summary: "Cancel the resting part of an order",
        description: "Deals stand. Cancelling twice is no conflict.",
        params: OrderParams,
        response: { 200: Order },
      },
    },
    async (request, reply) =>
      await cancelOrder(desk, toCall(request, reply), request.params.order_id),
  );
}
