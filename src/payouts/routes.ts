import { toCall, sendCreation, whenGone } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { sendList } from "../platform/http/documents.ts";
import type { App } from "../platform/http/server.ts";
import { filesText } from "../platform/http/wire.ts";
import { listPayouts, ListPayoutsQuery, readPayout } from "./read-payouts.ts";
import { Payout, PayoutList, PayoutParams, WithdrawalParams, WithdrawMoneyBody } from "./schema.ts";
import { withdrawMoney } from "./withdraw-money.ts";

export function payoutRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/payouts",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listPayouts",
        tags: ["Settlements"],
        summary: "List the payouts to your firms",
        description:
          "Money on its way to your firms' banks, newest first. Filter by `settlement_id` or `order_id` " +
          `to find what a sale was paid with. ${filesText}`,
        querystring: ListPayoutsQuery,
        response: { 200: PayoutList },
      },
    },
    async (request, reply) =>
      sendList(
        reply,
        "payouts",
        await listPayouts(contextFor(ctx, request.caller), request.caller, {
          ...request.query,
          gone: whenGone(reply),
        }),
      ),
  );

  app.get(
    "/v1/payouts/:payout_id",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readPayout",
        tags: ["Settlements"],
        summary: "Read a payout",
        description: "Its lines tie every paisa to the order it comes from.",
        params: PayoutParams,
        response: { 200: Payout },
      },
    },
    async (request) =>
      await readPayout(contextFor(ctx, request.caller), request.caller, request.params.payout_id),
  );

  app.post(
    "/v1/firms/:firm_id/withdrawals",
    {
      config: { demand: "orders:write", creates: true },
      schema: {
        operationId: "withdrawMoney",
        tags: ["Settlements"],
        summary: "Pay a firm's available money to its bank account",
        description:
          "By a payout of kind `withdrawal`, held for the reasons of any payout: a changed or " +
          "unverified account, a suspended firm. Money that comes back is available again and is " +
          "not sent anew by itself. More than is available is a conflict that says what is " +
          "(`insufficient_funds`), and so is what the firm would be left owing us with less than " +
          "it owes (`dues_outstanding`).",
        params: WithdrawalParams,
        body: WithdrawMoneyBody,
        response: { 201: Payout, 200: Payout },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await withdrawMoney(contextFor(ctx, request.caller), toCall(request, reply), {
          firmId: request.params.firm_id,
          ...request.body,
        }),
      ),
  );
}
