// A kind of act that takes two people; `approval-kinds.ts` lists them all.

import { hash } from "node:crypto";

import type { Actor, Change, OperatorRole } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Failure } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import type { ApprovalRow } from "./approval-store.ts";

/** The terms of a proposal, as JSON: everything needed to carry it out. */
export type Terms = Readonly<Record<string, unknown>>;

export type Proposed<Meant extends Terms = Terms> = {
  readonly environment: Environment;
  /** The subject; at most one proposal of a kind is open about it. */
  readonly subjectId: string;
  readonly terms: Meant;
};

/** A table that an approver sees: rows by their names on the wire. */
export type ShownPart = {
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
};

export type Prepared = {
  /** One sentence for the approver: what will happen. */
  readonly summary: string;
  /** Null when it moves no money. */
  readonly valuePaise: number | null;
  /** The facts that are approved. When they have changed since the proposal, it is void. */
  readonly facts: object;
  /** What is approved in full: payees and amounts, or what was and what becomes of it. */
  readonly shows?: readonly ShownPart[];
  /** Why no machine may do or propose it. */
  readonly refusesMachine?: Failure | undefined;
  /** Changes to record on the subject's desk at the proposal, beside the proposal's own. */
  readonly proposal?: readonly Change[];
  /** Does the act; the answer goes to the approver. Without `proposedBy` one person does it alone. */
  carryOut(actor: Actor, proposedBy?: string): Promise<Done>;
};

export type Done = { readonly changes: readonly Change[]; readonly answer?: object };

export type ApprovalKind<Meant extends Terms = Terms> = {
  readonly name: string;
  /** The roles that may propose and approve; an admin always may. */
  readonly proposers: readonly OperatorRole[];
  readonly approvers: readonly OperatorRole[];
  /** How long a proposal stays open. */
  readonly validHours: number;
  /**
   * Locks the subject, in the order of locks, and refuses an act that is not possible. It writes
   * nothing: `carryOut` does, in the same transaction or never.
   */
  prepare(tx: Tx, proposed: Proposed<Meant>, now: Date): Promise<Prepared>;
  /** Whether what the act failed with has passed, so that the act is tried again. */
  isPassing?(error: unknown): boolean;
};

const attemptsMax = 5;

/** Does work of a kind, and does it again after an error that has passed. */
export async function retryPassing<Result>(
  kind: Pick<ApprovalKind<never>, "isPassing">,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attemptsMax || kind.isPassing?.(error) !== true) throw error;
    }
  }
}

export const validHoursUsual = 72;

/** Proposals belong to the house: their changes are recorded on its desk. */
export function buildApprovalChange(
  action: "propose" | "approve" | "reject" | "void" | "expire",
  row: ApprovalRow,
): Change {
  const house = houseFirmId[row.environment];
  const version = action === "propose" ? 1 : 2;
  const href = `/ops/approvals/${row.approval_id}`;
  return {
    environment: row.environment,
    deskId: house,
    firmId: house,
    action: `approval.${action}`,
    entity: { type: "approval", id: row.approval_id, version, href },
    after: toAuditView(row),
  };
}

function toAuditView(row: ApprovalRow): object {
  const { proposed_at: _proposed, expires_at: _expires, decided_at: _decided, ...told } = row;
  return told;
}

/** Equal facts have equal digests: the JSON is canonical. */
export function digestFacts(facts: object): string {
  return hash("sha256", canonicalJson(facts));
}
