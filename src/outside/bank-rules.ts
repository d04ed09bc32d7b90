// The simulated bank. The facts of a question decide the answer, so that a test can choose it:
//
//   bank_account   passes when the account's name is the firm's, ignoring case and punctuation
//   deal_funding   the money has arrived
//   payout         paid; an account ending in 0000 is closed and returns the payment

import { createHash } from "node:crypto";

import type { Questions } from "./question-rules.ts";

type FundingQuestion = Questions["deal_funding"];
type Payout = Questions["payout"];
type Account = Questions["bank_account"];

export function simulateAccount({ legal_name, account_name }: Account["facts"]): Account["answer"] {
  if (normalizeName(legal_name) === normalizeName(account_name)) {
    return { checks: [{ check: "BANK_NAME_MATCH", outcome: "pass", cure: null }] };
  }
  const cure = "give an account in the firm's own name";
  return { checks: [{ check: "BANK_NAME_MATCH", outcome: "fail", cure }] };
}

function normalizeName(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]+/g, "");
}

export function simulateFunding(_facts: FundingQuestion["facts"]): FundingQuestion["answer"] {
  return { arrived: true, reference: null };
}

export function simulatePayout({ last4, scenario }: Payout["facts"]): Payout["answer"] {
  if (last4 === "0000" || scenario === "payout_returned")
    return { outcome: "returned", reason: "account_closed" };
  return { outcome: "paid", reason: null };
}

/** The bank's reference of a payment; the same payment gets the same one. */
export function makeSimulatedUtr(rail: string, paymentId: string): string {
  const digest = createHash("sha256").update(`${rail} ${paymentId}`).digest("hex");
  return `SIM${rail}${digest.slice(0, 14).toUpperCase()}`;
}
