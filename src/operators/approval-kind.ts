// A kind of act that takes two people. `approval-kinds.ts` lists all of them.

import { hash } from "node:crypto";

import type { Actor, Change, OperatorRole } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import type { ApprovalRow } from "./approval-store.ts";

/** What was proposed, as JSON: everything that carrying it out needs. */
export type Terms = Readonly<Record<string, unknown>>;

export type Proposed<Meant extends Terms = Terms> = {
  readonly environment: Environment;
  /** What it is about; one proposal of a kind is open about it at a time. */
  readonly subjectId: string;
  readonly terms: Meant;
};

export type Prepared = {
  /** One sentence for whoever decides: what will happen. */
  readonly summary: string;
  /** What it moves, in paise; null when it moves no money. */
  readonly valuePaise: number | null;
  /** What the decision rests on. When this has changed since it was proposed, the proposal is void. */
  readonly facts: object;
  /** Recorded on the desk of the thing when it is proposed, beside the proposal's own record. */
  readonly proposal?: readonly Change[];
  /**
   * Does it; what it answers is recorded and shown to whoever approved. `proposedBy` is missing when
   * one person does it alone.
   */
  carryOut(actor: Actor, proposedBy?: string): Promise<Done>;
};

export type Done = { readonly changes: readonly Change[]; readonly answer?: object };

export type ApprovalKind<Meant extends Terms = Terms> = {
  readonly name: string;
  /** Who may propose and who may approve it; an admin may always. */
  readonly proposers: readonly OperatorRole[];
  readonly approvers: readonly OperatorRole[];
  /** How long a proposal waits. */
  readonly validHours: number;
  /**
   * Locks what it is about, in the order of locks, and refuses what cannot be done. It writes nothing:
   * that is for `carryOut`, which runs in the same transaction or never.
   */
  prepare(tx: Tx, proposed: Proposed<Meant>, now: Date): Promise<Prepared>;
};

/** How long a proposal waits where its kind has no reason for another time. */
export const validHoursUsual = 72;

/** Proposals are the operator's own: their records are on the house's desk. */
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
    before:
      action === "propose" ? null : toAuditView({ ...row, state: "proposed", decided_by: null }),
    after: toAuditView(row),
  };
}

function toAuditView(row: ApprovalRow): object {
  const { proposed_at: _proposed, expires_at: _expires, decided_at: _decided, ...told } = row;
  return told;
}

/** Two things are the same when their canonical JSON is. */
export function digestFacts(facts: object): string {
  return hash("sha256", canonicalJson(facts));
}
