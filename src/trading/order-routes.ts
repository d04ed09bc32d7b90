import { callOf, sendCreation, sendLong, sendPage } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import { compileBatchValidator } from "../platform/http/validation.ts";
import { cancelOrder, placeOrder, placeOrderBatch } from "./place-order.ts";
import { listOrders, readOrder } from "./read-orders.ts";
import type { OrderDesk } from "./order-desk.ts";
import {
  BatchResults,
  ListOrdersQuery,
  Order,
  OrderList,
  OrderParams,
  PlaceOrderBatchBody,
  PlaceOrderBody,
} from "./order-schema.ts";

export function orderRoutes(app: App, ctx: Context, desk: OrderDesk): void {
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
          "amount; a buy names the duty to cover. What is refused leaves nothing behind.",
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
          callOf(request, reply),
          request.body,
        ),
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
          "Each order is answered by itself, in the order of the request: valid ones are placed and " +
          "the others fail alone. Of two for one credit the first wins.",
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
          callOf(request, reply),
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
        querystring: ListOrdersQuery,
        response: { 200: OrderList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "orders",
        await listOrders(contextFor(ctx, request.caller), request.caller, request.query),
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
        params: OrderParams,
        response: { 200: Order },
      },
    },
    async (request) =>
      await readOrder(contextFor(ctx, request.caller), request.caller, request.params.order_id),
  );

  app.post(
    "/v1/orders/:order_id/cancel",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "cancelOrder",
        tags: ["Orders"],
        summary: "Cancel what rests of an order",
        description: "What was dealt stands. Cancelling twice is no conflict.",
        params: OrderParams,
        response: { 200: Order },
      },
    },
    async (request, reply) =>
      await cancelOrder(desk, callOf(request, reply), request.params.order_id),
  );
}
