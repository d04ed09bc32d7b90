import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Tx } from "../platform/postgres.ts";
import { lockApproval, setConfirmed, setProposal } from "./store.ts";

export type Proposal = {
  readonly action: "settlement.reverse" | "payout.send" | "commission.pay";
  readonly subjectId: string;
  /** What is agreed to: the second operator must mean the same. */
  readonly terms: Readonly<Record<string, string | number>>;
  readonly operator: Actor;
  readonly now: Date;
};

/**
 * What takes two operators: the first call proposes, and the same call by another operator confirms.
 * The thing itself is locked by the caller, so nobody confirms twice.
 */
export async function takeTwo(tx: Tx, proposal: Proposal): Promise<"proposed" | "confirmed"> {
  const { action, subjectId, terms, operator, now } = proposal;
  const known = await lockApproval(tx, action, subjectId);
  if (!known || known.proposed_by === operator.id) {
    await setProposal(tx, { action, subject_id: subjectId, terms, proposed_by: operator.id }, now);
    return "proposed";
  }
  if (canonicalJson(known.terms) !== canonicalJson(terms)) {
    throw new Failure("conflict", `${known.proposed_by} proposed something else`, {
      detail: { reason: "terms_differ", proposed_by: known.proposed_by, proposed: known.terms },
    });
  }
  await setConfirmed(tx, { action, subjectId, by: operator.id }, now);
  return "confirmed";
}
