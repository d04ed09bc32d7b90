// From what an operator saw to an answer of the inquiry's kind.

import { Failure, unprocessable } from "../kernel/failure.ts";
import type { Attestation } from "./answer-inquiries.ts";
import { type CheckName, type CheckResult, checksAsked, type Inquiry } from "./rules.ts";

export type Finding = {
  readonly inquiryId: string;
  readonly reference: string;
  /** The checks that failed; the others that were asked passed. */
  readonly failed: readonly { readonly check: CheckName; readonly cure: string | null }[];
  /** Whether the firm holds the credit; only for a question about one. */
  readonly held: boolean | undefined;
};

export function attestationOf(inquiry: Inquiry | undefined, finding: Finding): Attestation {
  const { inquiryId, reference } = finding;
  if (!inquiry) throw new Failure("not_found", `no open inquiry ${inquiryId}`);
  return { inquiryId, reference, answer: answerOf(inquiry, finding) };
}

function answerOf(inquiry: Inquiry, { failed, held }: Finding): Attestation["answer"] {
  if (
    inquiry.kind === "deal_funding" ||
    inquiry.kind === "credit_transfer" ||
    inquiry.kind === "payout"
  ) {
    throw wrongForm(
      inquiry,
      inquiry.kind,
      "is answered by the commands of crosses, settlements and payouts",
    );
  }
  if (inquiry.kind === "credit_holding") {
    if (held === undefined || failed.length > 0) throw wrongForm(inquiry, "held", "is the answer");
    return { held, reason: held ? null : "not_held" };
  }
  if (held !== undefined) throw wrongForm(inquiry, "held", "is no answer");
  const asked = checksAsked(inquiry);
  const stray = failed.find(({ check }) => !asked.includes(check));
  if (stray) throw wrongForm(inquiry, stray.check, "was not asked");
  const checks = asked.map((check): CheckResult => {
    const failure = failed.find((candidate) => candidate.check === check);
    return failure ? { ...failure, outcome: "fail" } : { check, outcome: "pass", cure: null };
  });
  return { checks };
}

function wrongForm({ inquiry_id, kind }: Inquiry, path: string, problem: string): Failure {
  return unprocessable({ path, problem: `${problem} to ${inquiry_id}, a question of ${kind}` });
}
