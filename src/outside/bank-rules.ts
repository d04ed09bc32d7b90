// The simulated bank decides by the form of what it is asked, so that a test can choose:
//
//   an account    bears the firm's name when the name given with it is the firm's, letter case and
//                 spacing aside
//   a buyer       pays what it owes
//   a payment     arrives, but for an account ending 0000, which is closed

import { createHash } from "node:crypto";

import type { Inquiries } from "./inquiry-rules.ts";

type Funding = Inquiries["deal_funding"];
type Payout = Inquiries["payout"];
type Account = Inquiries["bank_account"];

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

export function simulateFunding(_facts: Funding["facts"]): Funding["answer"] {
  return { arrived: true, reference: null };
}

export function simulatePayout({ last4, scenario }: Payout["facts"]): Payout["answer"] {
  if (last4 === "0000" || scenario === "payout_returned")
    return { outcome: "returned", reason: "account_closed" };
  return { outcome: "paid", reason: null };
}

/** What a bank would name a payment by: the same for the same payment. */
export function makeSimulatedUtr(rail: string, paymentId: string): string {
  const digest = createHash("sha256").update(`${rail} ${paymentId}`).digest("hex");
  return `SIM${rail}${digest.slice(0, 14).toUpperCase()}`;
}
