// The lifecycle of a firm, its checks and holds.
//
//   registered ──verify──▶ verifying ──confirm──▶ verified ──authorize──▶ authorized ──suspend──▶ suspended
//                           │ │  ▲ ▲                 │                       │ ▲                     │
//                           │ │  │ └─change_identity─┴───────────────────────┘ └───────resume────────┘
//                           │ │  └─────────verify─────┐
//                           │ └─require_action─▶ action_required
//                           └─reject─▶ rejected
//
//   from each of these:  ──offboard──▶ offboarded    ──drain──▶ offboarding ──finish──▶ offboarded
//
// The identity decides whether a firm trades, the bank account whether it is paid: a new name or code
// leads back to `verifying` and ends the mandate, a new account only holds payouts. Account numbers
// are sealed, bound to the firm's id.

import { type CheckName, type CheckResult, checkNames } from "../outside/question-rules.ts";
import { Failure } from "../kernel/failure.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { addDays, daysBetween, type IstDay, istDay } from "../kernel/time.ts";

export const firmStates = [
  "registered",
  "verifying",
  "action_required",
  "verified",
  "authorized",
  "suspended",
  "rejected",
  "offboarding",
  "offboarded",
] as const;

export type FirmState = (typeof firmStates)[number];

export const firmRoles = ["exporter", "importer", "both"] as const;

export type FirmRole = (typeof firmRoles)[number];

const beforeLeaving = [
  "registered",
  "verifying",
  "action_required",
  "verified",
  "authorized",
  "suspended",
  "rejected",
] as const satisfies readonly FirmState[];

/**
 * `authorized_at` after a move to a state: suspension and its end keep it; a new verification
 * clears it, and the next authorization sets it anew.
 */
export function keepAuthorizedAt(
  firm: { readonly connection_state: FirmState; readonly authorized_at: Date | null },
  state: FirmState = firm.connection_state,
  now: Date,
): Date | null {
  const keeps: readonly FirmState[] = ["authorized", "suspended", "offboarding", "offboarded"];
  if (!keeps.includes(state)) return null;
  return state === "authorized" ? (firm.authorized_at ?? now) : firm.authorized_at;
}

/**
 * `change_identity` is a PATCH of name, IEC, PAN or GSTIN; `drain` starts an offboarding that waits
 * for open business, and `finish` ends it.
 */
export const firmLifecycle = {
  noun: "firm",
  initial: ["registered"],
  states: firmStates,
  moves: {
    vouch: { from: ["registered"], to: "authorized", by: "operator" },
    verify: { from: ["registered", "action_required"], to: "verifying" },
    change_identity: { from: ["verifying", "verified", "authorized"], to: "verifying" },
    require_action: { from: ["verifying"], to: "action_required", by: "registry" },
    reject: { from: ["verifying"], to: "rejected", by: "registry" },
    confirm: { from: ["verifying"], to: "verified", by: "registry" },
    authorize: { from: ["verified"], to: "authorized" },
    suspend: { from: ["authorized"], to: "suspended" },
    resume: { from: ["suspended"], to: "authorized" },
    offboard: { from: beforeLeaving, to: "offboarded" },
    drain: { from: beforeLeaving, to: "offboarding" },
    finish: { from: ["offboarding"], to: "offboarded", by: "clock" },
  },
} as const satisfies Lifecycle<FirmState>;

/** A check of a firm: pending, or answered as of a time. */
export type FirmCheck = {
  readonly check: CheckName;
  readonly outcome: "pass" | "fail" | "pending";
  readonly cure: string | null;
  readonly as_of: string | null;
};

/** Who initiates a firm's transfers on the customs portal. */
export const transferInitiators = ["house", "firm"] as const;

export type Mandate = {
  readonly signatory_name: string;
  readonly reference: string;
  readonly valid_until: string;
  /** The house where it is left out. */
  readonly transfers?: (typeof transferInitiators)[number];
};

/** What the customs portal shows of a firm. */
export type PortalParty = { readonly iec: string | null; readonly name: string | null };

/** Whether a firm's mandate counts, or will again when its suspension ends. */
export function mayTrade(state: FirmState): boolean {
  return state === "authorized" || state === "suspended";
}

/** A desk is warned so many days before a mandate ends. */
const mandateWarningDays = [30, 7, 1] as const;

/** The day of the next warning after today; null when there is no mandate or no warning left. */
export function findMandateDueDay(mandate: Mandate | null, now: Date): IstDay | null {
  if (mandate === null) return null;
  const last = istDay(new Date(mandate.valid_until));
  const days = mandateWarningDays.map((before) => addDays(last, -before));
  return days.find((day) => day > istDay(now)) ?? null;
}

/** Days from today to the last day of a mandate; negative when it has ended. */
export function countMandateDays({ valid_until }: Mandate, now: Date): number {
  return daysBetween(istDay(now), istDay(new Date(valid_until)));
}

/** From where a firm sends money: what the bank, or two people, have confirmed. */
export type Remitter = {
  readonly environment: Environment;
  /** Whole account numbers. */
  readonly accounts: readonly string[];
  /** The holder of the firm's account, in the spelling that the bank has confirmed. */
  readonly name: string | null;
};

export function buildPendingChecks(names: readonly CheckName[]): FirmCheck[] {
  return checkNames
    .filter((check) => names.includes(check))
    .map((check) => ({ check, outcome: "pending", cure: null, as_of: null }));
}

/** Newer checks replace older ones of the same name. */
export function mergeChecks(
  known: readonly FirmCheck[],
  newer: readonly FirmCheck[],
): readonly FirmCheck[] {
  const byName = new Map([...known, ...newer].map((check) => [check.check, check]));
  return checkNames.flatMap((name) => byName.get(name) ?? []);
}

export function toFirmChecks(results: readonly CheckResult[], asOf: string): FirmCheck[] {
  return results.map(({ check, outcome, cure }) => ({ check, outcome, cure, as_of: asOf }));
}

/** The move that the checks decide once none is pending. A flagged IEC is rejected for good. */
export function decideVerification(
  checks: readonly FirmCheck[],
): "pending" | "reject" | "require_action" | "confirm" {
  if (checks.some(({ outcome }) => outcome === "pending")) return "pending";
  const failed = checks.filter(({ outcome }) => outcome === "fail");
  if (failed.some(({ check }) => check === "FLAGGED_IEC")) return "reject";
  return failed.length > 0 ? "require_action" : "confirm";
}

/** The conflict of an act that takes an authorized firm. */
export function firmNotAuthorized(state: FirmState): Failure {
  return new Failure("conflict", `the firm is ${state}, not authorized`, {
    detail: { reason: "firm_not_authorized", state },
  });
}

/** The refusal of an act on a desk's own firm that only the operator may do. */
export function onlyByOperator(message: string): Failure {
  return new Failure("forbidden", message, { detail: { reason: "own_firm" } });
}

/** Why this firm may not trade now; undefined when it may. */
export function findTradingRefusal(
  {
    connection_state,
    mandate,
  }: { readonly connection_state: FirmState; readonly mandate: Mandate | null },
  now: Date,
): Failure | undefined {
  if (connection_state !== "authorized") {
    return firmNotAuthorized(connection_state);
  }
  // The desk's own firm has no mandate: the operator vouched for it.
  if (mandate && new Date(mandate.valid_until) <= now) {
    return new Failure("conflict", "the firm's mandate has ended", {
      detail: { reason: "mandate_expired", state: connection_state },
    });
  }
  return undefined;
}

/** Masks personal data of a firm that has left. */
export function maskEmail(email: string): string {
  return `${email.slice(0, 1)}***@***`;
}

export function maskPhone(phone: string): string {
  return `XXXXXX${phone.slice(-2)}`;
}

export const maskedName = "***";

/** The company and the group of a firm: a trade within either is not at arm's length. */
export type Ownership = { readonly pan: string | null; readonly groupId: string | null };
