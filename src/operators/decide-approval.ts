// A second person decides about a proposal. Approval and act are one transaction under the lock of the
// subject, so an act is carried out once or not at all.

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, isSamePerson, refuseBadReason } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  type ApprovalKind,
  buildApprovalChange,
  digestFacts,
  type Done,
  type Prepared,
  retryPassing,
} from "./approval-kind.ts";
import {
  approvalLifecycle,
  refuseProposer,
  refuseStale,
  refuseRole,
  refuseUnnamed,
  findStateAt,
  noProposal,
} from "./approval-rules.ts";
import { type ApprovalRow, findApproval, lockSubject, setDecided } from "./approval-store.ts";

type DecidedApproval = { readonly approval: ApprovalRow; readonly answer?: Done["answer"] };

export async function approveProposal(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { approvalId, kinds }: { readonly approvalId: string; readonly kinds: readonly ApprovalKind[] },
): Promise<DecidedApproval> {
  const now = ctx.now();
  refuseUnnamed(actor);
  const seen = await findApproval(ctx.db, approvalId);
  if (!seen) throw noProposal(approvalId);
  const kind = findKind(kinds, seen);
  const approve = async (tx: Tx): Promise<DecidedApproval> => {
    const row = await lockProposal(tx, approvalId);
    refuseRole(actor, kind.approvers, `to approve ${kind.name}`);
    // A repeated approval changes nothing.
    if (row.state === "approved" && isSamePerson(row.decided_by ?? "", actor.id)) {
      return { approval: row };
    }
    if (findStateAt(row, now) === "expired")
      return await end(tx, actor, { row, to: "expired", now });
    advance(approvalLifecycle, row.state, "approve");
    refuseProposer(actor, row);
    const { environment, subject_id: subjectId, terms } = row;
    const prepared = await kind.prepare(tx, { environment, subjectId, terms }, now);
    if (digestFacts(prepared.facts) !== row.facts_hash) {
      return await end(tx, actor, { row, to: "voided", reason: "the facts have changed", now });
    }
    return await carryOutApproved(tx, actor, { row, prepared, now });
  };
  const decided = await retryPassing(kind, async () => await ctx.db.transaction(approve));
  const { state, reason, expires_at } = decided.approval;
  if (state === "approved") return decided;
  // The end of the proposal is committed first; then the approver is refused.
  throw new Failure("conflict", `the proposal is ${state}${reason === null ? "" : `: ${reason}`}`, {
    detail: { reason: state, expires_at: expires_at.toISOString() },
  });
}

/** The subject is locked and the facts are unchanged; approved here or by asking for the same again. */
export async function carryOutApproved(
  tx: Tx,
  actor: Actor,
  { row, prepared, now }: { readonly row: ApprovalRow; prepared: Prepared; now: Date },
): Promise<DecidedApproval> {
  refuseProposer(actor, row);
  refuseStale(actor, now);
  const { changes, answer } = await prepared.carryOut(actor, row.proposed_by);
  const approval: ApprovalRow = {
    ...row,
    state: "approved",
    decided_by: actor.id,
    decided_at: now,
  };
  await setDecided(tx, approval);
  await recordChanges(tx, actor, [...changes, buildApprovalChange("approve", approval)], now);
  return { approval, ...(answer !== undefined && { answer }) };
}

/** Approvers may reject a proposal, and its proposer may withdraw it. */
export async function rejectProposal(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  {
    approvalId,
    reason,
    kinds,
  }: { readonly approvalId: string; reason: string; kinds: readonly ApprovalKind[] },
): Promise<ApprovalRow> {
  const now = ctx.now();
  refuseUnnamed(actor);
  refuseBadReason(reason);
  return await ctx.db.transaction(async (tx) => {
    const row = await lockProposal(tx, approvalId);
    const kind = findKind(kinds, row);
    const isOwn = isSamePerson(actor.id, row.proposed_by);
    if (!isOwn) refuseRole(actor, kind.approvers, `to reject ${kind.name}`);
    advance(approvalLifecycle, findStateAt(row, now), "reject");
    const { approval } = await end(tx, actor, { row, to: "rejected", reason, now });
    return approval;
  });
}

async function lockProposal(tx: Tx, approvalId: string): Promise<ApprovalRow> {
  const seen = await findApproval(tx, approvalId);
  if (seen) await lockSubject(tx, seen.kind, seen.subject_id);
  // Read again under the lock: the previous holder may have decided.
  const row = seen && (await findApproval(tx, approvalId));
  if (!row) throw noProposal(approvalId);
  return row;
}

export function findKind(
  kinds: readonly ApprovalKind[],
  { kind: name }: Pick<ApprovalRow, "kind">,
): ApprovalKind {
  const kind = kinds.find((candidate) => candidate.name === name);
  if (kind) return kind;
  throw new Failure("conflict", `${name} cannot be decided any more`, {
    detail: { reason: "unknown_kind" },
  });
}

type End = {
  readonly row: ApprovalRow;
  readonly to: "rejected" | "voided" | "expired";
  readonly reason?: string;
  readonly now: Date;
};

async function end(
  tx: Tx,
  actor: Actor,
  { row, to, reason = row.reason ?? undefined, now }: End,
): Promise<DecidedApproval> {
  const approval: ApprovalRow = {
    ...row,
    state: to,
    decided_by: actor.id,
    decided_at: now,
    reason: reason ?? null,
  };
  const action = ({ rejected: "reject", voided: "void", expired: "expire" } as const)[to];
  await setDecided(tx, approval);
  await recordChanges(tx, actor, [buildApprovalChange(action, approval)], now);
  return { approval };
}
