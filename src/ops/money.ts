import { Type } from "typebox";

import { type DealFunding, fundDeal } from "../bankbook/fund-deal.ts";
import { reverseDeposit } from "../bankbook/reverse-deposit.ts";
import { listAllCrosses, readAnyCross } from "../crosses/read-crosses.ts";
import { crossStates } from "../crosses/rules.ts";
import { requireAnyFirm } from "../firms/find-firms.ts";
import { addDeposit } from "../payouts/deposits.ts";
import type { Attested as AttestedDeal } from "../outside/attest.ts";
import { transferOutcomes } from "../outside/question-rules.ts";
import { unprocessable } from "../kernel/failure.ts";
import { refuseBadUtr } from "../kernel/ids.ts";
import { body, closedEnum } from "../platform/http/wire.ts";
import { failSettlement } from "../settlement/fail-settlements.ts";
import {
  followSettlement,
  listAllSettlements,
  listSettlementQueue,
  sumOpenDealsByAge,
} from "../settlement/read-settlements.ts";
import { reverseSettlement, takeBackRefund } from "../settlement/reverse-settlement.ts";
import { settlementStates } from "../settlement/rules.ts";
import { initiateAsHouse, listVisibleTasks } from "../settlement/tasks.ts";
import { liftUnpaid, listUnpaidDeals } from "../settlement/unpaid-deals.ts";
import { attest, reason, reference } from "./attest.ts";
import {
  AddedDeposit,
  Failed,
  FirmTasks,
  FollowedSettlement,
  FundedDeal,
  Initiated,
  OpsCross,
  OpsSettlement,
  Reversal,
  ReversedDeposit,
  SettlementQueue,
  TakenBack,
} from "./money-schema.ts";
import {
  cursor,
  deskSearch,
  environment,
  id,
  listQuery,
  optional,
  paise,
  query,
  readQueue,
  text,
  under,
} from "./operation.ts";
import { LiftedDeals, UnpaidDeals } from "./desks-schema.ts";
import { DayBands } from "./schema.ts";
import { Attested } from "./registry-schema.ts";
import { type Operation, operation, type OperatorCall } from "../platform/http/operation.ts";

const settlements = under("Settlements");
const settling = "settlements.write";

const firmTasksMax = 100;

const fundBody = {
  reference,
  amount_paise: optional(
    paise("How much came, where it is not the whole; what is short is waited for."),
  ),
  missing: optional(
    Type.Boolean({ description: "The buyer has not paid and will not; the deal fails." }),
  ),
};

type FundingClaim = {
  readonly reference: string;
  readonly amount_paise?: number;
  readonly missing?: boolean;
} & ({ readonly settlement_id: string } | { readonly cross_id: string });

/** Says what came for deals: all of it, for any number of them, or a part, for one. */
export async function fundDeals(
  call: OperatorCall,
  claims: readonly FundingClaim[],
): Promise<DealFunding | AttestedDeal> {
  const [part] = claims.flatMap(({ amount_paise: amount, ...claim }) =>
    amount === undefined ? [] : [{ ...claim, paise: amount }],
  );
  if (part) {
    if (part.missing) throw unprocessable({ path: "missing", problem: "contradicts amount_paise" });
    if (claims.length > 1) throw unprocessable({ path: "amount_paise", problem: "is of one deal" });
    const { ctx, actor, wiring } = call;
    const { twoFromPaise } = wiring;
    const { paise, reference: seen } = part;
    return await fundDeal(ctx, actor, {
      dealId: findDealId(part),
      paise,
      reference: seen,
      twoFromPaise,
    });
  }
  const seen = claims.map((claim) => {
    const { reference: given, missing = false } = claim;
    if (!missing) refuseBadUtr("reference", given);
    const answer = { arrived: !missing, reference: missing ? null : given };
    return { subjectId: findDealId(claim), answer, reference: given };
  });
  return await attest(call, "deal_funding", seen);
}

function findDealId(claim: FundingClaim): string {
  return "cross_id" in claim ? claim.cross_id : claim.settlement_id;
}

type Transferred = {
  readonly settlement_id: string;
  readonly scrip_no?: string;
  readonly outcome: (typeof transferOutcomes)[number];
  readonly reference: string;
};

export async function confirmTransfers(call: OperatorCall, seen: readonly Transferred[]) {
  return await attest(
    call,
    "credit_transfer",
    seen.map(({ settlement_id: subjectId, scrip_no, outcome, reference: given }) => ({
      subjectId,
      isMeant: (facts) => scrip_no === undefined || facts.scrip_no === scrip_no,
      answer: { outcome },
      reference: given,
    })),
  );
}

export const moneyOperations: readonly Operation[] = [
  operation({
    ...settlements.read("listAllSettlements", "/ops/settlements"),
    summary: "List settlements with both sides, newest first",
    list: deskSearch({
      name: "settlements",
      of: OpsSettlement,
      order: "The newest first.",
      query: {
        order_id: optional(id("Only of this order.")),
        status: optional(closedEnum(settlementStates, { description: "Only in this state." })),
      },
      read: (ctx, { order_id: orderId, ...search }) =>
        listAllSettlements(ctx, { ...search, orderId }),
      listFirmIds: (row) => [
        row.buyer_desk_id,
        row.buyer_firm_id,
        ...row.legs.flatMap((leg) => [leg.seller_desk_id, leg.seller_firm_id]),
      ],
    }),
  }),
  operation({
    ...settlements.read("listSettlementQueue", "/ops/settlements/queue"),
    summary: "List what is open: where a receiver finds nothing first, then by when it is due",
    query: query({ environment, limit: listQuery.limit, cursor }),
    answer: SettlementQueue,
    run: ({ ctx }, asked) =>
      readQueue("settlements", asked.limit, {
        list: (limit) => listSettlementQueue(ctx, { ...asked, after: asked.cursor, limit }),
        findId: (row) => row.settlement_id,
      }),
  }),
  operation({
    ...settlements.read("sumOpenDealsByAge", "/ops/settlements/by-age"),
    summary: "Sum what is open by the days since it was dealt",
    query: query({ environment }),
    answer: DayBands,
    run: async ({ ctx }, asked) => ({ bands: await sumOpenDealsByAge(ctx, asked.environment) }),
  }),
  operation({
    ...settlements.read("listUnpaidDeals", "/ops/settlements/unpaid"),
    summary:
      "List the deals that were not paid, or in which a firm was late at customs, newest first",
    query: query({ environment, limit: listQuery.limit, cursor }),
    answer: UnpaidDeals,
    run: ({ ctx }, asked) =>
      readQueue("deals", asked.limit, {
        list: (limit) => listUnpaidDeals(ctx, { ...asked, after: asked.cursor, limit }),
        findId: (row) => `${row.settlement_id} ${row.firm_id}`,
      }),
  }),
  operation({
    ...settlements.act("liftUnpaid", "/ops/settlements/:settlement_id/lift-unpaid", settling),
    summary: "Let the firms of a PAN buy before they pay again, after a deal that was not paid",
    body: body({ reason }),
    answer: LiftedDeals,
    run: async ({ ctx, actor }, { settlement_id: settlementId, reason: why }) => ({
      settlement_ids: await liftUnpaid(ctx, actor, { settlementId, reason: why }),
    }),
  }),
  operation({
    ...settlements.read("readAnySettlement", "/ops/settlements/:settlement_id"),
    summary: "Read a settlement with both sides of its legs, and what each side has to do",
    answer: FollowedSettlement,
    run: ({ ctx }, asked) => followSettlement(ctx, asked.settlement_id),
  }),
  operation({
    ...settlements.read("listFirmTasks", "/ops/firms/:firm_id/tasks"),
    summary:
      "List what a firm, or the house for it, has to do for its deals, the soonest due first",
    answer: FirmTasks,
    run: async ({ ctx }, asked) => {
      const { firm_id: firmId, desk_id: deskId } = await requireAnyFirm(ctx.db, asked.firm_id);
      const { rows } = await listVisibleTasks(ctx, { deskId, firmId }, { limit: firmTasksMax });
      return { tasks: rows };
    },
  }),
  operation({
    ...settlements.act("fundSettlement", "/ops/settlements/:settlement_id/fund", settling),
    summary: "Say that the buyer's money has arrived, or will not; large sums take two people",
    body: body(fundBody),
    answer: FundedDeal,
    run: (call, claim) => fundDeals(call, [claim]),
  }),
  operation({
    ...settlements.act("markInitiated", "/ops/settlements/:settlement_id/initiated", settling),
    summary: "Say that the house has initiated its transfers on the customs portal",
    body: body({ reference }),
    answer: Initiated,
    run: ({ ctx, actor, wiring: { settlementHooks } }, { settlement_id, reference: given }) =>
      initiateAsHouse(ctx, actor, {
        settlementId: settlement_id,
        reference: given,
        settlementHooks,
      }),
  }),
  operation({
    ...settlements.act(
      "confirmTransfer",
      "/ops/settlements/:settlement_id/confirm-transfer",
      settling,
    ),
    summary: "Say what customs did with the credits; large faces take two people",
    body: body({
      reference,
      scrip_no: optional(text("This credit only; all that are open when left out.", 64)),
      outcome: closedEnum(transferOutcomes, { description: "What customs did." }),
    }),
    answer: Attested,
    run: (call, seen) => confirmTransfers(call, [seen]),
  }),
  operation({
    ...settlements.act("failSettlement", "/ops/settlements/:settlement_id/fail", settling),
    summary:
      "Give up on what is still open; where a transfer may be open, by a reference that nothing is pending",
    body: body({
      reference: optional(
        text("What you saw at customs: no transfer of it is pending. Large faces take two.", 200),
      ),
    }),
    answer: Failed,
    run: async ({ ctx, actor, wiring }, asked) => {
      const { settlementHooks, attesting, twoFromPaise } = wiring;
      return await failSettlement(ctx, actor, {
        settlementId: asked.settlement_id,
        reference: asked.reference,
        settlementHooks,
        attesting: { kind: attesting, twoFromPaise },
      });
    },
  }),
  operation({
    ...settlements.act("takeBackRefund", "/ops/settlements/:settlement_id/take-back", settling),
    summary:
      "Say that customs transferred a credit after its refund: the buyer gives the money back; two people",
    body: body({ reference, scrip_no: text("The credit's number.", 64) }),
    answer: TakenBack,
    run: ({ ctx, actor }, { settlement_id: settlementId, ...seen }) =>
      takeBackRefund(ctx, actor, { settlementId, ...seen }),
  }),
  operation({
    ...settlements.act("reverseSettlement", "/ops/settlements/:settlement_id/reverse", settling),
    summary: "Undo a settled settlement; a second person approves it",
    body: body({ reason }),
    answer: Reversal,
    run: ({ ctx, actor }, { settlement_id: settlementId, reason: why }) =>
      reverseSettlement(ctx, actor, { settlementId, reason: why }),
  }),
  operation({
    ...settlements.read("listAllCrosses", "/ops/crosses"),
    summary: "List crosses with what each waits for, newest first",
    list: deskSearch({
      name: "crosses",
      of: OpsCross,
      order: "The newest first.",
      query: { status: optional(closedEnum(crossStates, { description: "Only in this state." })) },
      read: listAllCrosses,
      listFirmIds: (row) => [
        row.seller_desk_id,
        row.seller_firm_id,
        row.buyer_desk_id,
        row.buyer_firm_id,
      ],
    }),
  }),
  operation({
    ...settlements.read("readAnyCross", "/ops/crosses/:cross_id"),
    summary: "Read a cross with both of its sides",
    answer: OpsCross,
    run: ({ ctx }, asked) => readAnyCross(ctx.db, asked.cross_id),
  }),
  operation({
    ...settlements.act("fundAnyCross", "/ops/crosses/:cross_id/fund", settling),
    summary: "Say that the buyer's money for a cross has arrived, or will not",
    body: body(fundBody),
    answer: FundedDeal,
    run: (call, claim) => fundDeals(call, [claim]),
  }),
  operation({
    ...settlements.act("addDeposit", "/ops/deposits", "deposits.write"),
    summary: "Add money that a firm has paid in; large sums take two people",
    body: body({
      environment,
      firm_id: id("The firm's id."),
      amount_paise: paise("The amount in paise."),
      reference: id("The bank's reference (UTR)."),
    }),
    answer: AddedDeposit,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, asked) =>
      addDeposit(ctx, actor, {
        environment: asked.environment,
        firmId: asked.firm_id,
        paise: asked.amount_paise,
        reference: asked.reference,
        twoFromPaise,
      }),
  }),
  operation({
    ...settlements.act("reverseDeposit", "/ops/deposits/:reference/reverse", "deposits.write"),
    summary: "Take back a deposit that was entered by mistake; large sums take two people",
    body: body({ environment, reason }),
    answer: ReversedDeposit,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, asked) =>
      reverseDeposit(ctx, actor, { ...asked, twoFromPaise }),
  }),
];
