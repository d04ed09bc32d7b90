// Undoes a settlement that was a mistake, by correcting entries: written entries stay. It takes two
// operators, who give the same reason.
//
//   payouts    unsent ones are recalled; while one is with the bank, the reversal is refused
//   credits    go back, if the buyer still holds them unreserved and has used no part of them
//   money      goes back from the seller's balance; a shortfall becomes the seller's dues, which come
//              out of its other payouts before these leave
//   commission is clawed back from the desks
//
// Customs may show a credit as transferred although its deal has ended: its buyer has the credit and got
// its money back. That refund is taken back by two operators too:
//
//   take       what the buyer has available; the rest becomes its dues. The credit becomes the buyer's
//              here too, where the seller still holds it
//   settle     the seller gets its price: at once where nothing is owed, otherwise by the same act once
//              the buyer's dues are paid, so that the house fronts nothing
//
// Such a deal stays failed, and no tax is withheld: a person tells the accountant.

import { actWithApproval, tellOutcome, type ProposedAct } from "../operators/act-with-approval.ts";
import { type ApprovalKind, validHoursUsual } from "../operators/approval-kind.ts";
import { clawBackCommissions } from "./commissions.ts";
import { giveBackCredits } from "../credits/settle-credits.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { isHouse } from "../kernel/ids.ts";
import { wrongState } from "../kernel/lifecycle.ts";
import { addPaise, asAmount, type PaiseSum, rupeesText, sumParts } from "../kernel/money.ts";
import { entriesAbout, findDues, readBalances } from "../ledger/read-books.ts";
import {
  assertWritten,
  duesOutstanding,
  type Entry,
  type Movement,
  refuseMoved,
} from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { setOffUnsentPayouts } from "../payouts/collect-dues.ts";
import { lockPayoutsOfSettlement, recallPayoutsOfSettlement } from "../payouts/recall-payouts.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { readAnySettlement } from "./read-settlements.ts";
import { untaxReversed } from "../taxes/tax-legs.ts";
import { toTaxableLeg } from "./decide-legs.ts";
import { buildSettlementChanges, moveSettlement } from "./move-settlement.ts";
import {
  buildCreditMovement,
  buildRefundReturn,
  buildReversalMovements,
  buildSellerShare,
} from "./movements.ts";
import { eventByState, noSettlement } from "./rules.ts";
import {
  type LegRow,
  listLegs,
  lockSettlements,
  setSettlements,
  type SettlementRow,
} from "./store.ts";

export async function reverseSettlement(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { settlementId, reason }: { readonly settlementId: string; readonly reason: string },
): Promise<ProposedAct | { readonly outcome: "reversed" }> {
  const row = await readAnySettlement(ctx.db, settlementId);
  // The command was run before.
  if (row.state === "reversed" && row.reason === reason) return { outcome: "reversed" };
  const acted = await actWithApproval(ctx, operator, {
    kind: settlementReversal,
    environment: row.environment,
    subjectId: settlementId,
    terms: { reason },
    people: 2,
  });
  return tellOutcome(acted, "reversed");
}

export const settlementReversal: ApprovalKind<{ readonly reason: string }> = {
  name: "settlement.reverse",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId: settlementId, terms: { reason } }, now) {
    const firmIds = await lockPayoutsOfParties(tx, settlementId);
    const [before] = await lockSettlements(tx, [settlementId]);
    if (!before) throw noSettlement(settlementId);
    const after = moveSettlement(before, "reverse", { reason, now });
    const legs = await listLegs(tx, [settlementId]);
    const delivered = legs.filter((leg) => leg.state === "delivered");
    const paise = sumParts(delivered.map((leg) => leg.buyer_paise));
    return {
      summary: `${delivered.length} credits go back to their sellers and ${rupeesText(paise)} rupees to the buyer of ${settlementId}: ${reason}`,
      valuePaise: paise,
      facts: { version: before.version, state: before.state },
      shows: [
        { title: "Credits that go back", rows: delivered.map((leg) => showLeg(before, leg)) },
      ],
      proposal: buildSettlementChanges({ action: "propose_reversal", before, after: before, legs }),
      async carryOut() {
        tx.defer(setSettlements([after]));
        const undone = await undoSettlement(tx, { settlement: before, legs, firmIds, now });
        const event = eventByState[after.state];
        const told = buildSettlementChanges({ action: "reverse", event, before, after, legs });
        return { changes: [...undone, ...told] };
      },
    };
  },
};

type SettlementToUndo = {
  readonly settlement: SettlementRow;
  readonly legs: readonly LegRow[];
  readonly firmIds: readonly string[];
  readonly now: Date;
};

/**
 * Locks the payouts of a deal, and what has not left of those of its firms and of their desks, whose
 * commission is clawed back; returns the firms. Who is in a deal never changes.
 */
async function lockPayoutsOfParties(tx: Tx, settlementId: string): Promise<readonly string[]> {
  const { legs, ...settlement } = await readAnySettlement(tx, settlementId);
  const buyer = [settlement.buyer_firm_id, settlement.buyer_desk_id];
  const sellers = legs.flatMap((leg) => [leg.seller_firm_id, leg.seller_desk_id]);
  const firmIds = [...new Set([...buyer, ...sellers])].filter((firmId) => !isHouse(firmId));
  await lockPayoutsOfSettlement(tx, settlementId, firmIds);
  return firmIds;
}

async function undoSettlement(
  tx: Tx,
  { settlement, legs, firmIds, now }: SettlementToUndo,
): Promise<Change[]> {
  const { environment, buyer_firm_id: buyerFirmId } = settlement;
  const delivered = legs.filter((leg) => leg.state === "delivered");
  const recalled = await recallPayoutsOfSettlement(tx, settlement.settlement_id, now);
  const credits = await giveBackCredits(
    tx,
    environment,
    delivered.map((leg) => ({
      scripNo: leg.scrip_no,
      holderFirmId: buyerFirmId,
      deskId: leg.seller_desk_id,
      firmId: leg.seller_firm_id,
      facePaise: leg.face_paise,
    })),
    { reason: "reversed", now },
  );
  const sellers = [...new Set(delivered.map((leg) => leg.seller_firm_id))];
  const balances = await readBalances(tx, environment, sellers);
  const available = new Map(
    balances.map(({ firm_id, available_paise }) => [
      firm_id,
      addPaise(available_paise, recalled.paiseByFirm.get(firm_id) ?? 0),
    ]),
  );
  const untaxed = await untaxReversed(
    tx,
    delivered.map((leg) => ({
      ...toTaxableLeg(settlement, leg),
      deliveredAt: leg.answered_at ?? leg.dealt_at,
    })),
    now,
  );
  for (const [firmId, paise] of untaxed.returned) {
    available.set(firmId, addPaise(available.get(firmId) ?? 0, paise));
  }
  const reversals = buildReversals({ delivered, buyerFirmId, available });
  const commissions = await clawBackCommissions(tx, environment, settlement.settlement_id);
  const entries = [...untaxed.entries, ...reversals, ...commissions];
  const owing = firmIds.map((firmId) => ({ environment, firmId }));
  const { resolutions } = recalled;
  const written = await writeBooks(tx, { resolutions, entries, owing }, now);
  assertWritten(written.resolutions);
  refuseMoved(written.entries);
  assertWritten(written.entries);
  const collected = await setOffUnsentPayouts(tx, environment, [...written.owing], now);
  return [...recalled.changes, ...credits, ...collected];
}

/** One reversing entry per delivered leg; `available` is reduced leg by leg. */
export function buildReversals({
  delivered,
  buyerFirmId,
  available,
}: {
  readonly delivered: readonly LegRow[];
  readonly buyerFirmId: string;
  readonly available: Map<string, PaiseSum>;
}): Entry[] {
  return delivered.map((leg) => ({
    environment: leg.environment,
    kind: "reversal",
    subject: leg.settlement_id,
    ordinal: leg.ordinal,
    phase: "posted",
    movements: buildReversalMovements(leg, buyerFirmId, available),
  }));
}

type LateTransfer = { readonly scrip_no: string; readonly reference: string };

export async function takeBackRefund(
  ctx: Pick<Context, "db" | "now" | "log">,
  operator: Actor,
  { settlementId, ...terms }: LateTransfer & { readonly settlementId: string },
): Promise<ProposedAct | { readonly outcome: "taken_back" }> {
  const { environment } = await readAnySettlement(ctx.db, settlementId);
  const acted = await actWithApproval(ctx, operator, {
    kind: refundReturn,
    environment,
    subjectId: settlementId,
    terms,
    people: 2,
  });
  ctx.log.error(
    { settlement_id: settlementId, scrip_no: terms.scrip_no, outcome: acted.outcome },
    "customs has transferred a credit whose buyer was refunded",
  );
  return tellOutcome(acted, "taken_back");
}

export const refundReturn: ApprovalKind<LateTransfer> = {
  name: "settlement.take_back",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId: settlementId, terms: { scrip_no, reference } }, now) {
    const firmIds = await lockPayoutsOfParties(tx, settlementId);
    const [settlement] = await lockSettlements(tx, [settlementId]);
    if (!settlement) throw noSettlement(settlementId);
    const legs = await listLegs(tx, [settlementId]);
    const leg = legs.find((each) => each.scrip_no === scrip_no);
    if (!leg) throw new Failure("not_found", `no credit ${scrip_no} in ${settlementId}`);
    if (leg.state !== "failed") {
      throw wrongState(`the transfer of ${scrip_no} is ${leg.state}`, { state: leg.state });
    }
    const late = { settlement, leg, firmIds, now };
    const stage = await findStage(tx, late);
    const told = { before: settlement, after: settlement, legs };
    const seen = `${scrip_no} of ${settlementId}, transferred after its refund`;
    return {
      summary:
        stage === "take"
          ? `${rupeesText(leg.buyer_paise)} rupees are taken back from the buyer of ${seen}: ${reference}`
          : `${rupeesText(leg.seller_paise)} rupees go to the seller of ${seen}: ${reference}`,
      valuePaise: leg.buyer_paise,
      facts: { version: settlement.version, stage },
      shows: [{ title: "Credit", rows: [showLeg(settlement, leg)] }],
      proposal: buildSettlementChanges({ action: "propose_take_back", ...told }),
      async carryOut() {
        const changes = stage === "take" ? await take(tx, late) : await settle(tx, late);
        return {
          changes: [...changes, ...buildSettlementChanges({ action: "take_back", ...told })],
        };
      },
    };
  },
};

type Late = {
  readonly settlement: SettlementRow;
  readonly leg: LegRow;
  readonly firmIds: readonly string[];
  readonly now: Date;
};

async function findStage(tx: Tx, { settlement, leg }: Late): Promise<"take" | "settle"> {
  const { environment, settlement_id: subject, buyer_firm_id: buyerFirmId } = settlement;
  const written = await entriesAbout(tx, { environment, kind: "late_transfer", subject });
  const has = (stage: "take" | "settle") =>
    written.some(({ ordinal }) => ordinal === toOrdinal(leg, stage));
  if (!has("take")) return "take";
  if (has("settle")) {
    throw new Failure("conflict", `the refund for ${leg.scrip_no} was taken back before`, {
      detail: { reason: "taken_back_before", settlement_id: subject },
    });
  }
  const dues = (await tx.run(findDues(environment, [buyerFirmId]))).get(buyerFirmId) ?? 0;
  if (dues > 0) throw duesOutstanding(dues);
  return "settle";
}

async function take(tx: Tx, late: Late): Promise<readonly Change[]> {
  const { settlement, leg } = late;
  const { environment, buyer_firm_id: buyerFirmId } = settlement;
  const handed = await handOver(tx, late);
  const [balance] = await readBalances(tx, environment, [buyerFirmId]);
  const covered = Math.min(leg.buyer_paise, Math.max(0, asAmount(balance?.available_paise ?? 0)));
  const isWhole = isHouse(buyerFirmId) || covered === leg.buyer_paise;
  const movements = [
    ...(handed.length > 0 ? [buildCreditMovement(leg, buyerFirmId)] : []),
    ...buildRefundReturn(leg, buyerFirmId, covered),
  ];
  const entries = [
    ...buildStage(late, "take", movements),
    ...(isWhole ? buildStage(late, "settle", buildSellerShare(leg)) : []),
  ];
  return [...handed, ...(await write(tx, late, entries))];
}

async function settle(tx: Tx, late: Late): Promise<readonly Change[]> {
  const entries = buildStage(late, "settle", buildSellerShare(late.leg));
  return await write(tx, late, entries);
}

/** Makes the seller's holding the buyer's; nothing where the seller holds the credit no more. */
async function handOver(tx: Tx, { settlement, leg, now }: Late): Promise<readonly Change[]> {
  return await giveBackCredits(
    tx,
    settlement.environment,
    [
      {
        scripNo: leg.scrip_no,
        holderFirmId: leg.seller_firm_id,
        deskId: settlement.buyer_desk_id,
        firmId: settlement.buyer_firm_id,
      },
    ],
    { reason: "transferred_late", ifHeld: true, now },
  );
}

async function write(
  tx: Tx,
  { settlement: { environment }, firmIds, now }: Late,
  entries: readonly Entry[],
): Promise<readonly Change[]> {
  const owing = firmIds.map((firmId) => ({ environment, firmId }));
  const written = await writeBooks(tx, { entries, owing }, now);
  refuseMoved(written.entries);
  assertWritten(written.entries);
  return await setOffUnsentPayouts(tx, environment, [...written.owing], now);
}

function buildStage(
  { settlement, leg }: Late,
  stage: "take" | "settle",
  movements: readonly Movement[],
): Entry[] {
  if (movements.length === 0) return [];
  return [
    {
      environment: settlement.environment,
      kind: "late_transfer",
      subject: settlement.settlement_id,
      ordinal: toOrdinal(leg, stage),
      phase: "posted",
      movements: [...movements],
    },
  ];
}

/** A leg has two entries: what its buyer gives back, and what its seller gets. */
function toOrdinal({ ordinal }: LegRow, stage: "take" | "settle"): number {
  return ordinal * 2 + (stage === "take" ? 0 : 1);
}

/** A credit of a deal, as who approves that it is undone sees it. */
function showLeg({ buyer_firm_id }: SettlementRow, leg: LegRow) {
  const { scrip_no, seller_firm_id, face_paise, seller_paise, buyer_paise } = leg;
  return { scrip_no, seller_firm_id, buyer_firm_id, face_paise, seller_paise, buyer_paise };
}
