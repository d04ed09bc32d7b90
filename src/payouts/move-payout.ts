import { type FirmState, firmNotAuthorized } from "../firms/rules.ts";
import type { Change } from "../kernel/actor.ts";
import type { Failure } from "../kernel/failure.ts";
import { advance, writeStep } from "../kernel/lifecycle.ts";
import type { PaiseSum } from "../kernel/money.ts";
import type { FirmBalances } from "../ledger/read-books.ts";
import {
  duesOutstanding,
  type EntryRefusal,
  type Written,
  insufficientFunds,
} from "../ledger/rules.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { toPayoutFacts } from "./read-payouts.ts";
import { eventByState, computeNextLook, type PayoutAction, payoutLifecycle } from "./rules.ts";
import { listPayoutsById, listPayoutsBySettlement, type PayoutRow } from "./store.ts";

/** Moves a payout and appends the step to its history. */
export function movePayout(
  row: PayoutRow,
  action: PayoutAction,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): PayoutRow {
  const state = advance(payoutLifecycle, row.state, action);
  const isUnsent = state === "scheduled" || state === "held";
  // A payout that is unsent again leaves its remittance.
  const remitted = isUnsent && {
    account_id: null,
    remitted_with: null,
    remitted_paise: null,
  };
  return {
    ...row,
    ...remitted,
    state,
    reason,
    held_until: null,
    look_at: isUnsent ? computeNextLook(row.environment, now) : null,
    history: [...row.history, writeStep(state, now, reason)],
    version: row.version + 1,
    updated_at: now,
  };
}

/** A change of a payout, as events and the audit trail record it. */
export function buildPayoutChange({
  action,
  before,
  after,
}: {
  readonly action: PayoutAction | "schedule";
  readonly before: PayoutRow | null;
  readonly after: PayoutRow;
}): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `payout.${action}`,
    entity: {
      type: "payout",
      id: after.payout_id,
      version: after.version,
      href: `/v1/payouts/${after.payout_id}`,
    },
    after: toPayoutFacts(after),
    event: {
      name: eventByState[after.state],
      from: before?.state ?? null,
      to: after.state,
      data: toPayoutFacts(after),
    },
  };
}

/** The states in which a firm may withdraw. A suspended firm may: its payout is held. */
const withdrawalStates: readonly FirmState[] = ["authorized", "suspended", "offboarding"];

export function refuseFirmState({
  connection_state,
}: {
  readonly connection_state: FirmState;
}): void {
  if (withdrawalStates.includes(connection_state)) return;
  throw firmNotAuthorized(connection_state);
}

/** Refuses an amount that is not available; a firm that owes has nothing available. */
export function refuseInsufficient(
  balance: Pick<FirmBalances, "available_paise" | "dues_paise"> | undefined,
  paise: number,
): void {
  const available = balance?.available_paise ?? 0;
  const dues = balance?.dues_paise ?? 0;
  if (dues > 0) throw duesOutstanding(dues, available);
  if (paise > available) throw lowBalance(available);
}

/** Refuses when the balance fell between the check and the entry. */
export function refuseUnfunded(written: readonly Written<EntryRefusal>[]): void {
  for (const result of written) {
    if (!result.ok && result.refusal.reason === "insufficient_funds") {
      throw lowBalance(result.refusal.availablePaise);
    }
  }
}

function lowBalance(available: PaiseSum): Failure {
  return insufficientFunds(`the firm has ${available} paise available`, available);
}

/** A payment with its reference at the bank. */
type PaymentFacts = Pick<
  PayoutRow,
  "payout_id" | "firm_id" | "kind" | "paise" | "rail" | "utr" | "state" | "updated_at"
>;

/** Bounds one statement: decoding more rows at once would block the event loop. */
const payoutsAtOnce = 500;

/** By payout. */
export async function findPaymentsById(
  db: Db,
  payoutIds: readonly string[],
): Promise<ReadonlyMap<string, PaymentFacts>> {
  const byId = new Map<string, PaymentFacts>();
  for (let from = 0; from < payoutIds.length; from += payoutsAtOnce) {
    const rows = await listPayoutsById(db, payoutIds.slice(from, from + payoutsAtOnce));
    for (const row of rows) byId.set(row.payout_id, row);
  }
  return byId;
}

/** The payouts of a settlement, in the order in which they were scheduled. */
export async function listPaymentsOfSettlement(
  db: Db,
  settlementId: string,
): Promise<readonly PaymentFacts[]> {
  return await listPayoutsBySettlement(db, settlementId);
}
