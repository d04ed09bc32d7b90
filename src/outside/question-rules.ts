// Questions: the questions to customs (the registry) and banks, and their answers. A question stays
// open until it is answered; every answer has an `as_of`.

import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import type { PayoutScenario, TransferScenario } from "./scenario-rules.ts";

export type Port = "registry" | "bank";

export const ports = ["registry", "bank"] as const satisfies readonly Port[];

/** The kinds of questions with their facts and answers. */
export type Questions = {
  /**
   * Is this importer-exporter code active, unflagged, and does it belong to this name, PAN and GSTIN? The
   * bank is asked whether an account bears the name, so the name must be the firm's own.
   */
  firm_identity: {
    port: "registry";
    facts: { legal_name: string; iec: string; pan: string; gstin: string | null };
    answer: { checks: readonly CheckResult[] };
  };
  /** Does this account bear the firm's name? */
  bank_account: {
    port: "bank";
    facts: {
      legal_name: string;
      account_name: string;
      last4: string;
      ifsc: string;
      /** Stands for the whole account, of which the number is not told. */
      account_id: string;
    };
    answer: { checks: readonly CheckResult[] };
  };
  /** Does the firm of this importer-exporter code hold this scrip, with these facts? */
  credit_holding: {
    port: "registry";
    facts: {
      iec: string;
      scrip_no: string;
      scheme: Scheme;
      face_paise: number;
      expires_on: IstDay;
    };
    answer: { held: boolean; reason: string | null };
  };
  /** Has the buyer's money for this settlement or cross arrived? */
  deal_funding: {
    port: "bank";
    facts: { firm_id: string; paise: number };
    answer: { arrived: boolean; reference: string | null };
  };
  /** Did this credit pass from its seller to its buyer? */
  credit_transfer: {
    port: "registry";
    facts: {
      settlement_id: string;
      scrip_no: string;
      face_paise: number;
      seller_iec: string | null;
      buyer_iec: string | null;
      /** The scenario that the sandbox desk has set. */
      scenario: TransferScenario | null;
    };
    answer: { outcome: TransferOutcome };
  };
  /** Did this payment reach its account, or come back? */
  payout: {
    port: "bank";
    facts: {
      rail: string;
      utr: string;
      paise: number;
      ifsc: string;
      last4: string;
      scenario: PayoutScenario | null;
    };
    answer: { outcome: "paid" | "returned"; reason: string | null };
  };
};

/**
 * `suspended`: customs has suspended the credit, and it was not transferred. `nothing_pending`: it was
 * not transferred, and no transfer of it is pending.
 */
export const transferOutcomes = ["transferred", "refused", "suspended", "nothing_pending"] as const;

export type TransferOutcome = (typeof transferOutcomes)[number];

export type QuestionKind = keyof Questions;

export const questionKinds = [
  "firm_identity",
  "bank_account",
  "credit_holding",
  "deal_funding",
  "credit_transfer",
  "payout",
] as const satisfies readonly QuestionKind[];

export const checkNames = [
  "IEC_ACTIVE",
  "PAN_MATCH",
  "GSTIN_MATCH",
  "BANK_NAME_MATCH",
  "FLAGGED_IEC",
] as const;

export type CheckName = (typeof checkNames)[number];

/** The checks of the registry; GSTIN_MATCH only for a firm with a GSTIN. */
export function listIdentityChecks({ gstin }: { readonly gstin: string | null }): CheckName[] {
  return checkNames.filter(
    (check) => check !== "BANK_NAME_MATCH" && (check !== "GSTIN_MATCH" || gstin !== null),
  );
}

/** The checks of the bank. */
export const accountChecks = ["BANK_NAME_MATCH"] as const satisfies readonly CheckName[];

export function listAskedChecks(
  question: Question<"firm_identity" | "bank_account">,
): readonly CheckName[] {
  return question.kind === "bank_account" ? accountChecks : listIdentityChecks(question.facts);
}

export type CheckResult = {
  readonly check: CheckName;
  readonly outcome: "pass" | "fail";
  /** How the firm can cure a failed check. */
  readonly cure: string | null;
};

export type Question<Kind extends QuestionKind = QuestionKind> = {
  [K in Kind]: {
    readonly question_id: string;
    readonly environment: Environment;
    readonly desk_id: string;
    readonly port: Questions[K]["port"];
    readonly kind: K;
    readonly subject_id: string;
    readonly facts: Questions[K]["facts"];
    readonly due_at: Date;
    readonly created_at: Date;
  };
}[Kind];

export type AnsweredQuestion<Kind extends QuestionKind = QuestionKind> = {
  [K in Kind]: Question<K> & {
    readonly answer: Questions[K]["answer"];
    readonly as_of: Date;
    readonly reference: string | null;
  };
}[Kind];

/**
 * The simulated ports: pure functions, so that the sandbox is predictable. Undefined leaves the
 * question open, like a port that never replies.
 */
export type Simulators = {
  readonly [Kind in QuestionKind]: (
    facts: Questions[Kind]["facts"],
  ) => Questions[Kind]["answer"] | undefined;
};

export function simulate(
  simulators: Simulators,
  question: Question,
): AnsweredQuestion["answer"] | undefined {
  switch (question.kind) {
    case "firm_identity":
      return simulators.firm_identity(question.facts);
    case "bank_account":
      return simulators.bank_account(question.facts);
    case "credit_holding":
      return simulators.credit_holding(question.facts);
    case "deal_funding":
      return simulators.deal_funding(question.facts);
    case "credit_transfer":
      return simulators.credit_transfer(question.facts);
    case "payout":
      return simulators.payout(question.facts);
  }
}

export function noOpenQuestion(questionIds: readonly string[]): Failure {
  return new Failure("not_found", `no open question ${questionIds.join(", ")}`);
}
