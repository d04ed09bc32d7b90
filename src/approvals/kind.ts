// A kind of act that takes two people. `approval-kinds.ts` lists all of them.

import type { Actor, Change, OperatorRole } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Tx } from "../platform/postgres.ts";

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
