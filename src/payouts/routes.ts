import { type Operation, operation } from "../platform/http/operation.ts";
import { filesText } from "../platform/http/wire.ts";
import { depositsOfDesk, payoutsOfDesk, readPayout } from "./read-payouts.ts";
import { Payout, PayoutParams, WithdrawalParams, WithdrawMoneyBody } from "./schema.ts";
import { withdrawMoney } from "./withdraw-money.ts";

const reading = { method: "GET", demand: "orders:read", tag: "Settlements" } as const;

export const payoutOperations: readonly Operation[] = [
  operation({
    id: "listPayouts",
    path: "/v1/payouts",
    ...reading,
    summary: "List the payouts to your firms",
    description:
      "Money on its way to your firms' banks, newest first. Filter by `settlement_id` or `order_id` " +
      `to find what a sale was paid with. ${filesText}`,
    list: payoutsOfDesk,
  }),
  operation({
    id: "listDeposits",
    path: "/v1/deposits",
    ...reading,
    summary: "List the money that came from your firms",
    description:
      "Newest first, each with the bank's reference; money that waits in our queue is no deposit " +
      `yet. Where to pay is at \`GET /v1/firms/{firm_id}/funding\`. ${filesText}`,
    list: depositsOfDesk,
  }),
  operation({
    id: "readPayout",
    path: "/v1/payouts/:payout_id",
    ...reading,
    summary: "Read a payout",
    description: "Its lines tie every paisa to the order it comes from.",
    params: PayoutParams,
    answer: Payout,
    run: ({ ctx, caller }, { payout_id }) => readPayout(ctx, caller, payout_id),
  }),
  operation({
    id: "withdrawMoney",
    method: "POST",
    path: "/v1/firms/:firm_id/withdrawals",
    demand: "orders:write",
    tag: "Settlements",
    summary: "Pay a firm's available money to its bank account",
    description:
      "By a payout of kind `withdrawal`, held for the reasons of any payout: a changed or " +
      "unverified account, a suspended firm. Money that comes back is available again and is " +
      "not sent anew by itself. More than is available is a conflict that says what is " +
      "(`insufficient_funds`), and so is what the firm would be left owing us with less than " +
      "it owes (`dues_outstanding`).",
    params: WithdrawalParams,
    body: WithdrawMoneyBody,
    creates: true,
    answer: Payout,
    run: (call, asked) => withdrawMoney(call.ctx, call, asked),
  }),
];
