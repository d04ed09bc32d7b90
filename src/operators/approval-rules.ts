// What takes two people is a proposal until somebody else approves it.
//
//   proposed ──approve──▶ approved   it was carried out, in the same transaction
//       ├──────reject───▶ rejected   by anybody who may approve it, or by its proposer
//       ├──────void─────▶ voided     the facts it rests on have changed, or its proposer changed it
//       └──────expire───▶ expired    nobody decided in time

import { type Actor, isSamePerson, operator, type OperatorRole } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";

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

export const reasonLengthMax = 500;

/** From this value on money, credits and attestations take two people: one crore rupees. */
export const twoPeopleFromPaise = 1_000_000_000;
/** From this change of a price on a rate card takes two people. */
export const twoPeopleFromBps = 100;

/** Work that comes in many small pieces: one person may do so many times the limit alone in a day. */
export const aloneLimitFactor = 10;

/** What one person does alone of one kind counts together for so long. */
export const aloneHours = 24;

/** A role is asked for only of people who have signed in: without people there are no roles. */
export function mayAct({ role }: Actor, roles: readonly OperatorRole[]): boolean {
  return role === undefined || role === "admin" || roles.includes(role);
}

export function refuseRole(actor: Actor, roles: readonly OperatorRole[], what: string): void {
  if (mayAct(actor, roles)) return;
  const allowed = [...new Set([...roles, "admin"])];
  throw new Failure("forbidden", `${what} takes the role ${allowed.join(" or ")}`, {
    detail: { reason: "role", role: actor.role, allowed },
  });
}

/** Whose name is not known cannot be told apart from the next one. */
export function refuseUnnamed({ id }: Actor): void {
  if (id !== operator.id) return;
  throw new Failure("forbidden", "this takes two people: say who you are (--operator NAME)", {
    detail: { reason: "operator_unnamed" },
  });
}

export function refuseProposer(actor: Actor, proposedBy: string): void {
  if (!isSamePerson(actor.id, proposedBy)) return;
  throw new Failure("forbidden", "somebody else must approve what you proposed", {
    detail: { reason: "own_proposal", proposed_by: proposedBy },
  });
}

/** What a stored proposal counts as now: one that nobody decided ends by itself. */
export function findStateAt(
  { state, expires_at }: { readonly state: ApprovalState; readonly expires_at: Date },
  now: Date,
): ApprovalState {
  return state === "proposed" && expires_at <= now ? "expired" : state;
}
