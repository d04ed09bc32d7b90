import { Type } from "typebox";

import { type DealFunding, fundDeal } from "../bankbook/fund-deal.ts";
import { reverseDeposit } from "../bankbook/reverse-deposit.ts";
import { listAllCrosses, readAnyCross } from "../crosses/read-crosses.ts";
import { crossStates } from "../crosses/rules.ts";
import { requireAnyFirm } from "../firms/find-firms.ts";
import { addDeposit } from "../payouts/deposits.ts";
import type { Attested as AttestedDeal } from "../outside/attest.ts";
import { transferOutcomes } from "../outside/inquiry-rules.ts";
import { unprocessable } from "../kernel/failure.ts";
import { refuseBadUtr } from "../kernel/ids.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { failSettlement } from "../settlement/fail-settlements.ts";
import {
  followSettlement,
  listAllSettlements,
  listSettlementQueue,
} from "../settlement/read-settlements.ts";
import { reverseSettlement, takeBackRefund } from "../settlement/reverse-settlement.ts";
import { settlementStates } from "../settlement/rules.ts";
import { initiateAsHouse, listVisibleTasks } from "../settlement/tasks.ts";
import { liftUnpaid, listUnpaidDeals } from "../settlement/unpaid-deals.ts";
import { attest, reason, reference } from "./attest.ts";
import {
  AddedDeposit,
  Crosses,
  Failed,
  FirmTasks,
  FollowedSettlement,
  FundedDeal,
  Initiated,
  OpsCross,
  Reversal,
  ReversedDeposit,
  SettlementQueue,
  Settlements,
  TakenBack,
} from "./money-schema.ts";
import {
  act,
  cursor,
  environment,
  id,
  listQuery,
  type OpsCall,
  optional,
  paise,
  read,
  readPage,
  searchDesks,
  searchQuery,
  text,
} from "./operation.ts";
import { LiftedDeals, UnpaidDeals } from "./desks-schema.ts";
import { Attested } from "./world-schema.ts";
import type { Operation } from "../platform/http/operation.ts";

const settlements = { tag: "Settlements" } as const;

const firmTasksMax = 100;

const fundBody = {
  reference,
  amount_paise: optional(
    paise("How much came, where it is not the whole; what is short is waited for."),
  ),
  missing: optional(Type.Boolean({ description: "The money will not come." })),
};

type FundingClaim = {
  readonly reference: string;
  readonly amount_paise?: number;
  readonly missing?: boolean;
};

type Funded = DealFunding | AttestedDeal;

async function fundOrAttest(
  call: OpsCall<undefined, FundingClaim>,
  subjectId: string,
): Promise<Funded> {
  const { reference: seen, amount_paise: amount, missing = false } = call.body;
  if (amount !== undefined) {
    if (missing) throw unprocessable({ path: "missing", problem: "contradicts amount_paise" });
    const { ctx, actor, wiring } = call;
    const { twoFromPaise } = wiring;
    const asked = { dealId: subjectId, paise: amount, reference: seen, twoFromPaise };
    return await fundDeal(ctx, actor, asked);
  }
  if (!missing) refuseBadUtr("reference", seen);
  const answer = { arrived: !missing, reference: missing ? null : seen };
  return await attest(call, "deal_funding", { subjectId, answer, reference: seen });
}

export const moneyOperations: readonly Operation[] = [
  read("listAllSettlements", "/ops/settlements", {
    ...settlements,
    summary: "List settlements with both sides, newest first",
    query: {
      ...searchQuery,
      order_id: optional(id("Only of this order.")),
      status: optional(closedEnum(settlementStates, { description: "Only in this state." })),
    },
    answer: Settlements,
    run: async ({ ctx, query }) =>
      await searchDesks({ ctx, query }, "settlements", {
        list: (search) =>
          listAllSettlements(ctx, { ...search, status: query.status, orderId: query.order_id }),
        listFirmIds: (row) => [
          row.buyer_desk_id,
          row.buyer_firm_id,
          ...row.legs.flatMap((leg) => [leg.seller_desk_id, leg.seller_firm_id]),
        ],
      }),
  }),
  read("listSettlementQueue", "/ops/settlements/queue", {
    ...settlements,
    summary: "List what is open, with whose move it waits for; what is late comes first",
    query: { environment, limit: listQuery.limit, cursor },
    answer: SettlementQueue,
    run: async ({ ctx, query }) =>
      await readPage("settlements", query.limit, {
        list: async (limit) =>
          await listSettlementQueue(ctx, { ...query, after: query.cursor, limit }),
        findId: (row) => row.settlement_id,
      }),
  }),
  read("listUnpaidDeals", "/ops/settlements/unpaid", {
    ...settlements,
    summary: "List the deals that failed for want of money, newest first",
    query: { environment, limit: listQuery.limit, cursor },
    answer: UnpaidDeals,
    run: async ({ ctx, query }) =>
      await readPage("deals", query.limit, {
        list: async (limit) => await listUnpaidDeals(ctx, { ...query, after: query.cursor, limit }),
        findId: (row) => row.settlement_id,
      }),
  }),
  act("liftUnpaid", "/ops/settlements/:settlement_id/lift-unpaid", {
    ...settlements,
    summary: "Let the firms of a PAN buy before they pay again, after a deal that was not paid",
    permission: "settlements.write",
    body: { reason },
    answer: LiftedDeals,
    run: async ({ ctx, actor, params, body }) => ({
      settlement_ids: await liftUnpaid(ctx, actor, {
        settlementId: params["settlement_id"] ?? "",
        reason: body.reason,
      }),
    }),
  }),
  read("readAnySettlement", "/ops/settlements/:settlement_id", {
    ...settlements,
    summary: "Read a settlement with both sides of its legs, and what each side has to do",
    answer: FollowedSettlement,
    run: async ({ ctx, params }) => await followSettlement(ctx, params["settlement_id"] ?? ""),
  }),
  read("listFirmTasks", "/ops/firms/:firm_id/tasks", {
    ...settlements,
    summary:
      "List what a firm, or the house for it, has to do for its deals, the soonest due first",
    answer: FirmTasks,
    run: async ({ ctx, params }) => {
      const { firm_id, desk_id } = await requireAnyFirm(ctx.db, params["firm_id"] ?? "");
      const visible = { deskId: desk_id, firmId: firm_id };
      const { rows } = await listVisibleTasks(ctx, visible, { limit: firmTasksMax });
      return { tasks: rows };
    },
  }),
  act("fundSettlement", "/ops/settlements/:settlement_id/fund", {
    ...settlements,
    summary: "Say that the buyer's money has arrived, or will not; large sums take two people",
    permission: "settlements.write",
    body: fundBody,
    answer: FundedDeal,
    run: async (call) => await fundOrAttest(call, call.params["settlement_id"] ?? ""),
  }),
  act("markInitiated", "/ops/settlements/:settlement_id/initiated", {
    ...settlements,
    summary: "Say that the house has initiated its transfers on the customs portal",
    permission: "settlements.write",
    body: { reference },
    answer: Initiated,
    run: async ({ ctx, actor, params, body, wiring: { settlementHooks } }) =>
      await initiateAsHouse(ctx, actor, {
        settlementId: params["settlement_id"] ?? "",
        reference: body.reference,
        settlementHooks,
      }),
  }),
  act("confirmTransfer", "/ops/settlements/:settlement_id/confirm-transfer", {
    ...settlements,
    summary: "Say what customs did with the credits; large faces take two people",
    permission: "settlements.write",
    body: {
      reference,
      scrip_no: optional(text("This credit only; all that are open when left out.", 64)),
      outcome: closedEnum(transferOutcomes, { description: "What customs did." }),
    },
    answer: Attested,
    run: async (call) => {
      const { reference: seen, scrip_no, outcome } = call.body;
      return await attest(call, "credit_transfer", {
        subjectId: call.params["settlement_id"] ?? "",
        isMeant: (facts) => scrip_no === undefined || facts.scrip_no === scrip_no,
        answer: { outcome },
        reference: seen,
      });
    },
  }),
  act("failSettlement", "/ops/settlements/:settlement_id/fail", {
    ...settlements,
    summary:
      "Give up on what is still open; where a transfer may be open, by a reference that nothing is pending",
    permission: "settlements.write",
    body: {
      reference: optional(
        text("What you saw at customs: no transfer of it is pending. Large faces take two.", 200),
      ),
    },
    answer: Failed,
    run: async ({ ctx, actor, params, body, wiring }) => {
      const { settlementHooks, attesting, twoFromPaise } = wiring;
      return await failSettlement(ctx, actor, {
        settlementId: params["settlement_id"] ?? "",
        reference: body.reference,
        settlementHooks,
        attesting: { kind: attesting, twoFromPaise },
      });
    },
  }),
  act("takeBackRefund", "/ops/settlements/:settlement_id/take-back", {
    ...settlements,
    summary:
      "Say that customs transferred a credit after its refund: the buyer gives the money back; two people",
    permission: "settlements.write",
    body: { reference, scrip_no: text("The credit.", 64) },
    answer: TakenBack,
    run: async ({ ctx, actor, params, body }) =>
      await takeBackRefund(ctx, actor, {
        settlementId: params["settlement_id"] ?? "",
        scrip_no: body.scrip_no,
        reference: body.reference,
      }),
  }),
  act("reverseSettlement", "/ops/settlements/:settlement_id/reverse", {
    ...settlements,
    summary: "Undo a settled settlement; a second person approves it",
    permission: "settlements.write",
    body: { reason },
    answer: Reversal,
    run: async ({ ctx, actor, params, body }) =>
      await reverseSettlement(ctx, actor, {
        settlementId: params["settlement_id"] ?? "",
        reason: body.reason,
      }),
  }),
  read("listAllCrosses", "/ops/crosses", {
    ...settlements,
    summary: "List crosses with what each waits for, newest first",
    query: {
      ...searchQuery,
      status: optional(closedEnum(crossStates, { description: "Only in this state." })),
    },
    answer: Crosses,
    run: async ({ ctx, query }) =>
      await searchDesks({ ctx, query }, "crosses", {
        list: (search) => listAllCrosses(ctx, { ...search, status: query.status }),
        listFirmIds: (row) => [
          row.seller_desk_id,
          row.seller_firm_id,
          row.buyer_desk_id,
          row.buyer_firm_id,
        ],
      }),
  }),
  read("readAnyCross", "/ops/crosses/:cross_id", {
    ...settlements,
    summary: "Read a cross with both of its sides",
    answer: OpsCross,
    run: async ({ ctx, params }) => await readAnyCross(ctx.db, params["cross_id"] ?? ""),
  }),
  act("fundAnyCross", "/ops/crosses/:cross_id/fund", {
    ...settlements,
    summary: "Say that the buyer's money for a cross has arrived, or will not",
    permission: "settlements.write",
    body: fundBody,
    answer: FundedDeal,
    run: async (call) => await fundOrAttest(call, call.params["cross_id"] ?? ""),
  }),
  act("addDeposit", "/ops/deposits", {
    ...settlements,
    summary: "Add money that a firm has paid in; large sums take two people",
    permission: "deposits.write",
    body: {
      environment,
      firm_id: id("The firm."),
      amount_paise: paise("How much."),
      reference: id("The bank's reference (UTR)."),
    },
    answer: AddedDeposit,
    run: async ({ ctx, actor, body, wiring: { twoFromPaise } }) =>
      await addDeposit(ctx, actor, {
        environment: body.environment,
        firmId: body.firm_id,
        paise: body.amount_paise,
        reference: body.reference,
        twoFromPaise,
      }),
  }),
  act("reverseDeposit", "/ops/deposits/:reference/reverse", {
    ...settlements,
    summary: "Take back a deposit that was entered by mistake; large sums take two people",
    permission: "deposits.write",
    body: { environment, reason },
    answer: ReversedDeposit,
    run: async ({ ctx, actor, params, body, wiring: { twoFromPaise } }) =>
      await reverseDeposit(ctx, actor, {
        environment: body.environment,
        reference: params["reference"] ?? "",
        reason: body.reason,
        twoFromPaise,
      }),
  }),
];
