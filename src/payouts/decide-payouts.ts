// Decides the moves of payouts: on an earning, at a review, on an answer of the bank, or by the
// operator. Pure; the use cases load and store.

import { type PaiseSum, splitByAmount, sumParts } from "../kernel/money.ts";
import { wrongState, writeStep } from "../kernel/lifecycle.ts";
import { makeSimulatedUtr } from "../outside/bank-rules.ts";
import type { AnsweredQuestion } from "../outside/question-rules.ts";
import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { setOff } from "../ledger/dues.ts";
import type { Entry, Resolution } from "../ledger/rules.ts";
import type { RailLimits } from "../taxes/tax-rules.ts";
import { buildPayoutChange, movePayout } from "./move-payout.ts";
import {
  resolveAccount,
  findHold,
  computeNextLook,
  type Payee,
  type PayoutAction,
  chooseRail,
} from "./rules.ts";
import type { PayoutLineRow, PayoutRow } from "./store.ts";

/**
 * Money to pay to a firm: the proceeds of a settlement, by order, or a withdrawal of its balance. Of a
 * payout that is sent again, what was set off before is not paid again.
 */
export type Earning = {
  readonly environment: Environment;
  readonly deskId: string;
  readonly firmId: string;
  readonly settlementId: string | null;
  /** For a withdrawal, which has no lines. */
  readonly withdrawnPaise?: number;
  readonly setOffPaise?: number;
  readonly resendOf?: string;
  /** Set where the id was already returned to the caller. */
  readonly payoutId?: string;
  readonly lines: readonly Omit<PayoutLineRow, "payout_id">[];
};

/** What an earning comes to, and what of it is set off from the firm's dues. */
export type DividedEarning = Earning & { readonly paise: number; readonly setOffPaise: number };

/** Sets each firm's dues off from its earnings, in order; `owed` is reduced. */
export function divideEarnings(
  earnings: readonly Earning[],
  owed: Map<string, PaiseSum>,
): DividedEarning[] {
  return earnings.map((earning) => {
    const { firmId, withdrawnPaise, setOffPaise: before = 0 } = earning;
    const gross = withdrawnPaise ?? sumParts(earning.lines.map((line) => line.paise));
    const divided = setOff(gross - before, owed.get(firmId) ?? 0);
    owed.set(firmId, divided.duesPaise);
    const paise = Number(divided.restPaise); // An amount, since it is at most one.
    return { ...earning, paise, setOffPaise: gross - paise };
  });
}

export function buildPayout(
  earning: DividedEarning,
  {
    payee,
    limits,
    now,
  }: { readonly payee: Payee; readonly limits: RailLimits; readonly now: Date },
): PayoutRow {
  const { environment, paise } = earning;
  const account = resolveAccount(payee, environment);
  // The soundness of the ledger is checked when the money is sent.
  const hold = findHold(payee, { environment, ledgerSound: true });
  const state = hold ? "held" : "scheduled";
  const reason = hold?.reason ?? null;
  return {
    payout_id: earning.payoutId ?? newId("pay", now),
    environment,
    desk_id: earning.deskId,
    firm_id: earning.firmId,
    kind: earning.settlementId === null ? "withdrawal" : "settlement",
    settlement_id: earning.settlementId,
    resend_of: earning.resendOf ?? null,
    paise,
    set_off_paise: earning.setOffPaise,
    rail: chooseRail(paise, limits),
    ifsc: account?.ifsc ?? null,
    last4: account?.last4 ?? null,
    account_id: null,
    state,
    reason,
    held_until: hold?.until ?? null,
    utr: null,
    remitted_with: null,
    remitted_paise: null,
    look_at: now,
    history: [writeStep(state, now, reason)],
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

/** A pending entry: it holds the firm's money until the bank confirms the payment. */
export function buildPayoutEntry({ environment, payout_id, firm_id, paise }: PayoutRow): Entry {
  return {
    environment,
    kind: "payout",
    subject: payout_id,
    phase: "pending",
    movements: [
      { from: { kind: "firm_cash", firmId: firm_id }, to: { kind: "external_bank" }, paise },
    ],
  };
}

/** A payout before and after a move. */
export type MovedPayout = {
  readonly action: PayoutAction;
  readonly before: PayoutRow;
  readonly after: PayoutRow;
};

/** Applies the bank's answer about sent money. */
export function answerPayout(
  before: PayoutRow,
  answer: AnsweredQuestion<"payout">["answer"] | undefined,
  now: Date,
): MovedPayout {
  const action = answer?.outcome === "paid" ? "confirm" : "return";
  const after = movePayout(before, action, { reason: answer?.reason ?? null, now });
  return { action, before, after };
}

/** Instructs payouts of one payee as one remittance of a file. */
export function instructTogether(
  rows: readonly PayoutRow[],
  limits: RailLimits,
  now: Date,
): MovedPayout[] {
  const known = new Map(rows.map((row) => [row.payout_id, row]));
  return remitTogether(rows, limits).map((remitted) => ({
    action: "instruct",
    before: known.get(remitted.payout_id) ?? remitted,
    after: movePayout(remitted, "instruct", { now }),
  }));
}

/** The outcome of a remittance in a bank statement. */
export type StatementOutcome =
  | { readonly outcome: "paid"; readonly utr: string }
  | { readonly outcome: "returned"; readonly reason: string };

/** A return after payment is a `bounce`: the posted entry is corrected by another. */
export function applyStatementOutcome(
  before: PayoutRow,
  shown: StatementOutcome,
  now: Date,
): MovedPayout {
  if (shown.outcome === "paid") {
    const after = { ...movePayout(before, "confirm", { now }), utr: shown.utr };
    return { action: "confirm", before, after };
  }
  const action = before.state === "paid" ? "bounce" : "return";
  return { action, before, after: movePayout(before, action, { reason: shown.reason, now }) };
}

/** Puts money that bounced back into the firm's balance. */
export function buildBounceEntry({ environment, payout_id, firm_id, paise }: PayoutRow): Entry {
  return {
    environment,
    kind: "payout_return",
    subject: payout_id,
    phase: "posted",
    movements: [
      { from: { kind: "external_bank" }, to: { kind: "firm_cash", firmId: firm_id }, paise },
    ],
  };
}

/** Posts the entry of a paid payout and voids that of a returned one. */
export function buildResolution({ environment, payout_id, state }: PayoutRow): Resolution {
  const as = state === "paid" ? "posted" : "voided";
  return { environment, kind: "payout", subject: payout_id, as };
}

/** The unsent payouts of a settlement. Refused while one is with the bank, its outcome unknown. */
export function listUnsent(rows: readonly PayoutRow[]): PayoutRow[] {
  const underWay = rows.find((row) => row.state === "sent" || row.state === "instructed");
  if (underWay) {
    throw new Failure("conflict", `the payout ${underWay.payout_id} is with the bank`, {
      detail: { reason: `payout_${underWay.state}`, payout_id: underWay.payout_id },
    });
  }
  return rows.filter((row) => row.state === "scheduled" || row.state === "held");
}

export function recallAll(rows: readonly PayoutRow[], reason: string, now: Date): MovedPayout[] {
  return rows.map((before) => ({
    action: "recall",
    before,
    after: movePayout(before, "recall", { reason, now }),
  }));
}

/** The earning of a returned payout that is sent again, with the same lines. */
export function buildResendEarning(
  row: PayoutRow,
  { lines, isReversed }: { lines: readonly PayoutLineRow[]; isReversed: boolean },
): Earning {
  refuseUnreturned(row, isReversed);
  return {
    environment: row.environment,
    deskId: row.desk_id,
    firmId: row.firm_id,
    settlementId: row.settlement_id,
    ...(row.kind === "withdrawal" && { withdrawnPaise: row.paise + row.set_off_paise }),
    setOffPaise: row.set_off_paise,
    resendOf: row.payout_id,
    lines: lines.map(({ payout_id: _id, ...line }) => line),
  };
}

function refuseUnreturned({ state }: PayoutRow, isReversed: boolean): void {
  if (state !== "returned") {
    throw wrongState(`a payout that is ${state} is not sent again`, { state });
  }
  if (isReversed) {
    throw new Failure("conflict", "the deal that it paid for was reversed", {
      detail: { reason: "settlement_reversed" },
    });
  }
}

type ReviewContext = {
  readonly ledgerSound: boolean;
  readonly bankUp: boolean;
  readonly limits: RailLimits;
  readonly now: Date;
};

/** A payout after a review, and its changes. */
type ReviewedPayout = { readonly after: PayoutRow; readonly changes: readonly Change[] };

/**
 * Reviews unsent payouts: holds them, releases them, or sends them. In the sandbox the payouts of one
 * payee are sent as one remittance, or as several where they come to more than one amount; live money waits for an operator.
 */
export function reviewPayouts(
  rows: readonly PayoutRow[],
  findPayee: (firmId: string) => Payee,
  { ledgerSound, bankUp, limits, now }: ReviewContext,
): ReviewedPayout[] {
  const looked = rows.map((row) =>
    holdOrRelease(row, findPayee(row.firm_id), { ledgerSound, now }),
  );
  const leaving = looked.filter(
    ({ after }) => bankUp && after.state === "scheduled" && isSentAutomatically(after.environment),
  );
  const sent = new Map<string, MovedPayout>();
  const byPayee = Map.groupBy(
    leaving.map(({ after }) => after),
    ({ firm_id }) => firm_id,
  );
  for (const together of [...byPayee.values()].flatMap(splitByAmount)) {
    const remitted = remitTogether(together, limits);
    const [first] = remitted;
    const utr = first ? makeSimulatedUtr(first.rail, first.payout_id) : null;
    for (const before of remitted) {
      const account = resolveAccount(findPayee(before.firm_id), before.environment);
      const account_id = account?.accountId ?? null;
      const after = { ...movePayout(before, "send", { now }), utr, account_id };
      sent.set(before.payout_id, { action: "send", before, after });
    }
  }
  return looked.map(({ after, changes }) => {
    const moved = sent.get(after.payout_id);
    return moved
      ? { after: moved.after, changes: [...changes, buildPayoutChange(moved)] }
      : { after, changes };
  });
}

/** Joins payouts of one payee into one remittance, by the rail of the sum; the oldest is the lead. */
function remitTogether(rows: readonly PayoutRow[], limits: RailLimits): PayoutRow[] {
  const ordered = rows.toSorted((a, b) => (a.payout_id < b.payout_id ? -1 : 1));
  const [first] = ordered;
  if (!first) return [];
  const paise = sumParts(ordered.map((row) => row.paise));
  const remittance = {
    remitted_with: first.payout_id,
    remitted_paise: paise,
    rail: chooseRail(paise, limits),
  };
  return ordered.map((row) => ({ ...row, ...remittance }));
}

function holdOrRelease(
  row: PayoutRow,
  payee: Payee,
  { ledgerSound, now }: Pick<ReviewContext, "ledgerSound" | "now">,
): ReviewedPayout {
  const { environment } = row;
  const hold = findHold(payee, { environment, ledgerSound });
  const account = resolveAccount(payee, environment);
  let after: PayoutRow = {
    ...row,
    ifsc: account?.ifsc ?? null,
    last4: account?.last4 ?? null,
    look_at: computeNextLook(environment, now),
  };
  const changes: Change[] = [];
  const move = (action: PayoutAction) => {
    const before = after;
    after = movePayout(before, action, { reason: hold?.reason ?? null, now });
    changes.push(buildPayoutChange({ action, before, after }));
  };
  if (hold) {
    if (row.state === "scheduled") move("hold");
    return { after: { ...after, reason: hold.reason, held_until: hold.until }, changes };
  }
  if (row.state === "held") move("release");
  return { after, changes };
}

function isSentAutomatically(environment: Environment): boolean {
  return environment === "sandbox";
}
