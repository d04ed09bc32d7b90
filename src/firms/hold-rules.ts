// An account has an id, which stands for its number, IFSC and holder's name together with the firm's
// name: what the bank is asked about. When one of these changes, or the bank is asked again, the
// account gets another id and is unconfirmed. `listHolds` says, in every state of a firm, why it is
// not paid now; whoever schedules, files, releases or sends a payout asks it.

import { dayMs } from "../kernel/time.ts";
import type { CheckName } from "../outside/question-rules.ts";
import type { FirmCheck, FirmState } from "./rules.ts";

export type Hold = {
  readonly on: "payouts";
  readonly reason: FirmHoldReason;
  /** When it ends by itself; null when it waits for an event. */
  readonly until: Date | null;
};

export const beneficiaryHoldMs = dayMs;

export const identityFields = ["legal_name", "iec", "pan", "gstin"] as const;

/** The fields that each check is about. */
const checkSubjects: Readonly<Record<CheckName, readonly string[]>> = {
  IEC_ACTIVE: identityFields,
  PAN_MATCH: identityFields,
  GSTIN_MATCH: identityFields,
  FLAGGED_IEC: identityFields,
  BANK_NAME_MATCH: ["legal_name", "bank_sealed"],
};

/** The checks that still hold after a change: an answer about something else is forgotten. */
export function keepChecks(checks: readonly FirmCheck[], changes: object): readonly FirmCheck[] {
  return checks.filter(({ check }) => !checkSubjects[check].some((field) => field in changes));
}

export const firmHoldReasons = [
  "firm_suspended",
  "firm_rejected",
  "firm_flagged",
  "firm_offboarded",
  "beneficiary_change",
  "bank_not_verified",
] as const;

export type FirmHoldReason = (typeof firmHoldReasons)[number];

/** The states whose money waits for a person, whatever the bank says of the account. */
const stateHolds: Readonly<Record<FirmState, FirmHoldReason | null>> = {
  registered: null,
  verifying: null,
  action_required: null,
  verified: null,
  authorized: null,
  suspended: "firm_suspended",
  rejected: "firm_rejected",
  offboarding: null,
  offboarded: "firm_offboarded",
};

/** What decides whether a firm's account may be paid. */
type PaidFirm = {
  readonly connection_state: FirmState;
  readonly checks: readonly FirmCheck[];
  readonly account_id: string | null;
  readonly account_confirmed_at: Date | null;
  readonly hold_reason: FirmHoldReason | null;
  readonly hold_until: Date | null;
};

/**
 * May this account be paid now? It may when this is empty, and otherwise these are the reasons why
 * payouts to the firm wait. The bank's yes must be about the account that is there now.
 */
export function listHolds(firm: PaidFirm, now: Date): Hold[] {
  const holds: Hold[] = [];
  const add = (reason: FirmHoldReason, until: Date | null = null) =>
    holds.push({ on: "payouts", reason, until });
  const stateHold = stateHolds[firm.connection_state];
  if (stateHold) add(stateHold);
  // A rejected firm that drains is flagged as before.
  if (hasOutcome(firm, "FLAGGED_IEC", "fail")) add("firm_flagged");
  if (firm.hold_reason !== null && firm.hold_until !== null && firm.hold_until > now) {
    add(firm.hold_reason, firm.hold_until);
  }
  if (firm.account_id !== null && !isAccountConfirmed(firm)) add("bank_not_verified");
  return holds;
}

/** Whether the bank's yes is about the account that the firm has now. */
export function isAccountConfirmed(
  firm: Pick<PaidFirm, "account_confirmed_at" | "checks">,
): boolean {
  return firm.account_confirmed_at !== null && hasOutcome(firm, "BANK_NAME_MATCH", "pass");
}

function hasOutcome(
  { checks }: Pick<PaidFirm, "checks">,
  name: CheckName,
  outcome: FirmCheck["outcome"],
): boolean {
  return checks.some((found) => found.check === name && found.outcome === outcome);
}
