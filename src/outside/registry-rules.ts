// The simulated customs registry. The facts of a question decide the answer, so that a test can
// choose it:
//
//   PAN digits 9999       PAN_MATCH fails: the firm needs action
//   PAN digits 9998       the IEC is flagged: the firm is rejected
//   other PANs            all checks pass
//   scrip_no ending 0404  not held by the firm
//   scrip_no ending 0405  held only as ROSCTL
//   scrip_no ending 0406  held only with an expiry on 31 December
//   scrip_no ending 0407  customs suspends the credit during its transfer
//   scrip_no ending 0408  the transfer is not answered before its deadline; then nothing is pending
//   scrip_no ending 0409  the transfer is refused

import type { Questions } from "./question-rules.ts";

type Identity = Questions["firm_identity"];
type TransferQuestion = Questions["credit_transfer"];
type Holding = Questions["credit_holding"];

export function simulateIdentity({ pan, gstin }: Identity["facts"]): Identity["answer"] {
  const digits = pan.slice(5, 9);
  const mismatch = digits === "9999";
  const flagged = digits === "9998";
  return {
    checks: [
      { check: "IEC_ACTIVE", outcome: "pass", cure: null },
      mismatch
        ? { check: "PAN_MATCH", outcome: "fail", cure: "correct the PAN or IEC and verify again" }
        : { check: "PAN_MATCH", outcome: "pass", cure: null },
      ...(gstin === null ? [] : [{ check: "GSTIN_MATCH", outcome: "pass", cure: null } as const]),
      flagged
        ? { check: "FLAGGED_IEC", outcome: "fail", cure: null }
        : { check: "FLAGGED_IEC", outcome: "pass", cure: null },
    ],
  };
}

export function simulateHolding({
  scrip_no,
  scheme,
  expires_on,
}: Holding["facts"]): Holding["answer"] {
  if (scrip_no.endsWith("0404")) return { held: false, reason: "not_held" };
  const differs =
    (scrip_no.endsWith("0405") && scheme !== "ROSCTL") ||
    (scrip_no.endsWith("0406") && !expires_on.endsWith("-12-31"));
  if (differs) return { held: false, reason: "facts_differ" };
  return { held: true, reason: null };
}

/** The desk's scenario decides; without one, the scrip number. */
export function simulateTransfer({
  scrip_no,
  scenario,
}: TransferQuestion["facts"]): TransferQuestion["answer"] | undefined {
  if (scenario === "credit_suspended" || scrip_no.endsWith("0407")) return { outcome: "suspended" };
  if (scenario === "transfer_timeout" || scrip_no.endsWith("0408")) return undefined;
  const isRefused =
    scenario === "transfer_refused" || scenario === "wrong_iec" || scrip_no.endsWith("0409");
  return { outcome: isRefused ? "refused" : "transferred" };
}
