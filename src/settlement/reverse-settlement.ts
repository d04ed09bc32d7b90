// Undoes a settlement that was a mistake, by correcting entries: written entries stay. It takes two
// operators, who give the same reason.
//
//   payouts    unsent ones are recalled; while one is with the bank, the reversal is refused
//   credits    go back, if the buyer still holds them unreserved
//   money      goes back from the seller's balance; a shortfall becomes the seller's dues, which come
//              out of its other payouts before these leave
//   commission is clawed back from the desks

import { actWithApproval, tellOutcome, type Waiting } from "../operators/act-with-approval.ts";
import { type ApprovalKind, validHoursUsual } from "../operators/approval-kind.ts";
import { clawBackCommissions } from "./commissions.ts";
import { giveBackCredits } from "../credits/settle-credits.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { addPaise, type PaiseSum, rupeesText, sumParts } from "../kernel/money.ts";
import { readBalances } from "../ledger/read-books.ts";
import { assertWritten, type Entry, refuseMoved } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { setOffUnsentPayouts } from "../payouts/collect-dues.ts";
import { lockPayoutsOfSettlement, recallPayoutsOfSettlement } from "../payouts/recall-payouts.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { readAnySettlement } from "./read-settlements.ts";
import { untaxReversed } from "./tax-legs.ts";
import { toTaxableLeg } from "./decide-legs.ts";
import { buildSettlementChanges, moveSettlement } from "./move-settlement.ts";
import { buildReversalMovements } from "./movements.ts";
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
): Promise<Waiting | { readonly outcome: "reversed" }> {
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
    await lockPayoutsOfSettlement(tx, settlementId);
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
      proposal: buildSettlementChanges({ action: "propose_reversal", before, after: before, legs }),
      async carryOut() {
        await setSettlements(tx, [after]);
        const undone = await undoSettlement(tx, { settlement: before, legs, now });
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
  readonly now: Date;
};

async function undoSettlement(
  tx: Tx,
  { settlement, legs, now }: SettlementToUndo,
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
    })),
    now,
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
  const written = await writeBooks(tx, { resolutions: recalled.resolutions, entries }, now);
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
