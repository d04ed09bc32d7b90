// The lifecycle of a firm, its checks and holds, and the forms of Indian identifiers. Identifiers
// are checked by form only; the registry and the bank are asked whether they are true.
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

import { createHash } from "node:crypto";

import { type CheckName, type CheckResult, checkNames } from "../outside/inquiry-rules.ts";
import { Failure } from "../kernel/failure.ts";
import { isCleanText } from "../kernel/json.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { addDays, daysBetween, type IstDay, istDay } from "../kernel/time.ts";

export const legalNameLengthMax = 200;

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

export type Mandate = {
  readonly signatory_name: string;
  readonly reference: string;
  readonly valid_until: string;
};

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

const panForm = /^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$/;
const legacyIecForm = /^[0-9]{10}$/;
const gstinForm = /^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/;
const cinForm = /^[LU][0-9]{5}[A-Z]{2}[0-9]{4}[A-Z]{3}[0-9]{6}$/;
const ifscForm = /^[A-Z]{4}0[A-Z0-9]{6}$/;
const accountNoForm = /^[0-9]{9,18}$/;
const emailForm = /^[^\s@<>()[\]\\,;:"]+@[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.[a-z]{2,63}$/;
const internationalPhoneForm = /^\+[1-9][0-9]{7,14}$/;
const indianMobileForm = /^[6-9][0-9]{9}$/;
const indianTrunkForm = /^0[1-9][0-9]{9}$/;
const base36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export function isLegalName(text: string): boolean {
  const length = Array.from(text).length; // Characters, as the database counts them.
  return text.trim() !== "" && length <= legalNameLengthMax && isCleanText(text);
}

export function isPan(text: string): boolean {
  return panForm.test(text);
}

/** An importer-exporter code is the firm's PAN, or ten digits for one from before 2017. */
export function isIec(text: string): boolean {
  return isPan(text) || legacyIecForm.test(text);
}

/** The rule that a value breaks, as the end of a sentence that begins with the field's name. */
export type Problem = string | undefined;

export function findPanProblem(pan: string): Problem {
  if (isPan(pan)) return undefined;
  return "must be five letters (the fourth one of ABCFGHJLPT), four digits and a letter";
}

export function findIecProblem(iec: string, pan: string | null): Problem {
  if (!isIec(iec)) return "must be the firm's PAN, or ten digits";
  if (pan !== null && isPan(iec) && iec !== pan)
    return "must equal the PAN when it is not ten digits";
  return undefined;
}

export function findGstinProblem(gstin: string, pan: string | null): Problem {
  if (!gstinForm.test(gstin)) {
    return "must be two digits, the PAN, an entity number, the letter Z and a check character";
  }
  if (gstin.at(-1) !== computeGstinCheckCharacter(gstin.slice(0, 14))) {
    return "has a wrong check character: it was mistyped";
  }
  if (pan !== null && gstin.slice(2, 12) !== pan) return "must hold the PAN in characters 3 to 12";
  return undefined;
}

export function findCinProblem(cin: string, pan: string | null): Problem {
  if (!cinForm.test(cin)) {
    return "must be L or U, five digits, two letters, four digits, three letters and six digits";
  }
  if (pan !== null && pan[3] !== "C") {
    return "is for companies only: the fourth letter of the PAN would be C";
  }
  return undefined;
}

export function findIfscProblem(ifsc: string): Problem {
  if (ifscForm.test(ifsc)) return undefined;
  return "must be four letters, a zero and six letters or digits";
}

export function findAccountNoProblem(accountNo: string): Problem {
  return accountNoForm.test(accountNo) ? undefined : "must be 9 to 18 digits";
}

export function findEmailProblem(email: string): Problem {
  return emailForm.test(email) && !email.includes("..") ? undefined : "must be an email address";
}

/** The number with its country code; undefined when it cannot be a telephone number. */
export function toInternationalPhone(text: string): string | undefined {
  const digits = text.replace(/[\s().-]+/g, "");
  if (internationalPhoneForm.test(digits)) return digits;
  if (indianMobileForm.test(digits)) return `+91${digits}`;
  if (indianTrunkForm.test(digits)) return `+91${digits.slice(1)}`;
  return undefined;
}

export function findPhoneProblem(text: string): Problem {
  if (toInternationalPhone(text) !== undefined) return undefined;
  return "must be ten Indian digits, or + and a country code and a number";
}

/** Luhn's check modulo 36, with factors 1 and 2 in turn. */
export function computeGstinCheckCharacter(first14: string): string {
  const sum = Array.from(first14).reduce((total, character, index) => {
    const product = base36.indexOf(character) * (index % 2 === 0 ? 1 : 2);
    return total + Math.floor(product / 36) + (product % 36);
  }, 0);
  return base36.charAt((36 - (sum % 36)) % 36);
}

/** Upper case without spaces. */
export function normalizeIdentifier(text: string): string {
  return text.replace(/\s+/g, "").toUpperCase();
}

export function maskAccountNo(last4: string): string {
  return `XXXXXX${last4}`;
}

/** Masks personal data of a firm that has left. */
export function maskEmail(email: string): string {
  return `${email.slice(0, 1)}***@***`;
}

export function maskPhone(phone: string): string {
  return `XXXXXX${phone.slice(-2)}`;
}

export const maskedName = "***";

/**
 * A well-formed PAN of a company, the same for the same seed. Its digits stay below 9000: the
 * simulated registry gives 9998 and 9999 a meaning.
 */
export function makeSyntheticPan(seed: string): string {
  const bytes = createHash("sha256").update(seed).digest();
  const letter = (index: number) => String.fromCharCode(65 + ((bytes[index] ?? 0) % 26));
  const digits = String(bytes.readUInt32BE(8) % 9_000).padStart(4, "0");
  return `${letter(0)}${letter(1)}${letter(2)}C${letter(3)}${digits}${letter(4)}`;
}

/** The company and the group of a firm: a trade within either is not at arm's length. */
export type Ownership = { readonly pan: string | null; readonly groupId: string | null };
