// An act of two people is a proposal until a second person approves it.
//
//   proposed ──approve──▶ approved   it was carried out, in the same transaction
//       ├──────reject───▶ rejected   by an approver, or by its proposer
//       ├──────void─────▶ voided     its facts have changed, or its proposer replaced it
//       └──────expire───▶ expired    nobody decided in time

import { type Actor, isSamePerson, operator, type OperatorRole } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { wrongRole } from "./rules.ts";

export const approvalStates = ["proposed", "approved", "rejected", "voided", "expired"] as const;

export type ApprovalState = (typeof approvalStates)[number];

export const approvalLifecycle = {
  noun: "proposal",
  initial: ["proposed"],
  states: approvalStates,
  moves: {
    approve: { from: ["proposed"], to: "approved" },
    reject: { from: ["proposed"], to: "rejected" },
    void: { from: ["proposed"], to: "voided", by: "clock" },
    expire: { from: ["proposed"], to: "expired", by: "clock" },
  },
} as const satisfies Lifecycle<ApprovalState>;

/** Money, credits and attestations of this value or more take two people: one crore rupees. */
export const twoPeopleFromPaise = 1_000_000_000;
/** A rate card that moves a price, or raises a limit, by this much or more takes two people. */
export const twoPeopleFromBps = 100;

/** For routine work in small pieces: the daily limit of one person is this multiple of the limit. */
export const aloneLimitFactor = 10;

/** The period over which the acts of one person are summed. */
export const aloneHours = 24;

/** The kinds of acts that bring money or credits in. What one person does alone of them is one sum. */
const kindsBringingIn: readonly string[] = [
  "deposit.add",
  "deal.fund",
  "bank.import",
  "bank.assign",
  "question.attest",
  "inventory.add",
];

/** The kinds that one person's acts are summed over together with those of this kind. */
export function listKindsSummed(kind: string): readonly string[] {
  return kindsBringingIn.includes(kind) ? kindsBringingIn : [kind];
}

/** An actor without a role did not sign in: the service has no people yet. */
function mayAct({ role }: Actor, roles: readonly OperatorRole[]): boolean {
  return role === undefined || role === "admin" || roles.includes(role);
}

/** A machine proposes what its operations take it for; it is given the role of a viewer for all else. */
export function refuseProposing(
  actor: Actor,
  { name, proposers }: { readonly name: string; readonly proposers: readonly OperatorRole[] },
): void {
  if (actor.machine === undefined) refuseRole(actor, proposers, `to propose ${name}`);
}

export function refuseRole(actor: Actor, roles: readonly OperatorRole[], what: string): void {
  if (mayAct(actor, roles)) return;
  const allowed: OperatorRole[] = [...new Set([...roles, "admin" as const])];
  throw wrongRole(what, { role: actor.role, allowed });
}

/** The refusal of an act of one person that takes the approval of two. */
export function approvalRequired(message: string, kind: string): Failure {
  return new Failure("conflict", message, { detail: { reason: "approval_required", kind } });
}

export function noProposal(approvalId: string): Failure {
  return new Failure("not_found", `no proposal ${approvalId}`);
}

/** Two people can only be told apart by their names. */
export function refuseUnnamed({ id }: Actor): void {
  if (id !== operator.id) return;
  throw new Failure("forbidden", "this takes two people: say who you are (--operator NAME)", {
    detail: { reason: "operator_unnamed" },
  });
}

export function refuseProposer(
  actor: Actor,
  {
    proposed_by: proposedBy,
    held_by: heldBy,
  }: { readonly proposed_by: string; readonly held_by: string | null },
): void {
  if (heldBy !== null && isSamePerson(actor.id, heldBy)) {
    throw new Failure("forbidden", `you hold the token of ${proposedBy}: somebody else approves`, {
      detail: { reason: "own_machine", proposed_by: proposedBy },
    });
  }
  if (!isSamePerson(actor.id, proposedBy)) return;
  throw new Failure("forbidden", "somebody else must approve what you proposed", {
    detail: { reason: "own_proposal", proposed_by: proposedBy },
  });
}

/** Whom the directory signs in approves within this time of proving who they are there. */
const provedForMs = 5 * 60_000;

export function refuseStale({ provedAt }: Actor, now: Date): void {
  if (!provedAt || now.getTime() - provedAt.getTime() < provedForMs) return;
  throw new Failure("forbidden", "to approve, sign in again by the directory", {
    detail: { reason: "sign_in_again" },
  });
}

/** The state of a proposal at a time: an undecided one expires without a write. */
export function findStateAt(
  { state, expires_at }: { readonly state: ApprovalState; readonly expires_at: Date },
  now: Date,
): ApprovalState {
  return state === "proposed" && expires_at <= now ? "expired" : state;
}
