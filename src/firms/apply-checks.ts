import { recordChanges } from "../events/record-changes.ts";
import type { Answered } from "../inquiries/rules.ts";
import type { Actor } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Tx } from "../platform/postgres.ts";
import { changedFirm, changeOfFirm, type Decision } from "./change-firm.ts";
import { answeredChecks, type FirmCheck, firmLifecycle, mergeChecks, verdictOf } from "./rules.ts";
import { type FirmRow, lockFirms, setFirms } from "./store.ts";

type Answers = readonly Answered<"firm_identity" | "bank_account">[];

/** What the registry and the bank found about firms: their checks, and the state that follows. */
export async function applyChecks(
  tx: Tx,
  actor: Actor,
  answered: Answers,
  now: Date,
): Promise<void> {
  const found = checksByFirm(answered);
  const firms = await lockFirms(tx, [...found.keys()]);
  const decided = firms.map((firm) => {
    const decision = decide(firm, found.get(firm.firm_id) ?? [], now);
    return { firm, changed: changedFirm(firm, decision.changes, now), decision };
  });
  await setFirms(
    tx,
    decided.map(({ changed }) => changed),
  );
  await recordChanges(
    tx,
    actor,
    decided.map(({ firm, changed, decision }) => changeOfFirm(firm, changed, decision, now)),
    now,
  );
}

function checksByFirm(answered: Answers): Map<string, FirmCheck[]> {
  const found = new Map<string, FirmCheck[]>();
  for (const { subject_id, answer, as_of } of answered) {
    const checks = answeredChecks(answer.checks, istTimestamp(as_of));
    found.set(subject_id, [...(found.get(subject_id) ?? []), ...checks]);
  }
  return found;
}

const eventOfVerdict = {
  confirm: "firm.verified",
  require_action: "firm.action_required",
  reject: "firm.rejected",
} as const;

function decide(firm: FirmRow, found: readonly FirmCheck[], now: Date): Decision {
  const checks = mergeChecks(firm.checks, found);
  const changes = { checks, checked_at: now };
  const failed = checks.filter(({ outcome }) => outcome === "fail");
  if (firm.connection_state !== "verifying") {
    // A firm that trades and changed its bank: it goes on, unpaid until the bank agrees.
    const isFailure = found.some(({ outcome }) => outcome === "fail");
    const event = { name: "firm.action_required", data: { checks: failed } };
    return { action: "check", changes, ...(isFailure && { event }) };
  }
  const verdict = verdictOf(checks);
  if (verdict === "pending") return { action: "check", changes };
  const state = advance(firmLifecycle, firm.connection_state, verdict);
  return {
    action: verdict,
    changes: { ...changes, connection_state: state },
    event: { name: eventOfVerdict[verdict], data: { checks: failed } },
  };
}
