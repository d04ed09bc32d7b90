// An act that takes two people is a kind (`approval-kind.ts`), listed in `approval-kinds.ts`:
//
//   prepare     locks what the act is about, reads the facts it rests on, says what will happen
//   propose     a row that waits for another person; changed facts void it
//   carry out   in the transaction of the approval, after preparing again
//
// The sandbox asks nobody, and small acts take one person: what one does alone in 24 hours adds up, over
// all kinds that bring money or credits in.

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, isSamePerson, personKey } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { carryOutApproved } from "./decide-approval.ts";
import {
  type ApprovalKind,
  buildApprovalChange,
  digestFacts,
  type Done,
  type Prepared,
  type Proposed,
  retryPassing,
  type Terms,
} from "./approval-kind.ts";
import {
  aloneHours,
  listKindsSummed,
  refuseProposing,
  refuseRole,
  refuseUnnamed,
  findStateAt,
} from "./approval-rules.ts";
import {
  type ApprovalRow,
  findOpen,
  insertAlone,
  insertApproval,
  lockPerson,
  lockSubject,
  setDecided,
  sumAlone,
} from "./approval-store.ts";

/** An act that waits for a second person, and the proposal that person decides. */
export type ProposedAct = { readonly outcome: "proposed"; readonly approval_id: string };
export type Acted = ProposedAct | { readonly outcome: "done"; readonly answer: Done["answer"] };

/** What whoever acted is told: the proposal, or the act's own word for done. */
export function tellOutcome<Word extends string>(
  acted: Acted,
  done: Word,
): ProposedAct | { readonly outcome: Word } {
  return acted.outcome === "proposed" ? acted : { outcome: done };
}

/**
 * Does an act that takes one person or two. An act of two is proposed by the first call and done by the
 * same call of a second person, or when a second person approves the proposal. The sandbox takes one.
 */
export async function actWithApproval<Meant extends Terms>(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { kind, people, alonePerDayPaise, ...proposed }: Act<Meant>,
): Promise<Acted> {
  const now = ctx.now();
  refuseProposing(actor, kind);
  const isLive = proposed.environment === "live";
  // Daily limits apply to signed-in people only: a name given on the command line proves nothing.
  const limits = [alonePerDayPaise, actor.machine?.dayLimitPaise].flatMap((paise) => paise ?? []);
  const limit =
    isLive && actor.role !== undefined && limits.length > 0 ? Math.min(...limits) : undefined;
  const act = async (tx: Tx): Promise<Acted> => {
    if (limit !== undefined) await lockPerson(tx, personKey(actor.id));
    await lockSubject(tx, kind.name, proposed.subjectId);
    const prepared = await kind.prepare(tx, proposed, now);
    if (actor.machine && prepared.refusesMachine) throw prepared.refusesMachine;
    const asked = { kind, proposed, prepared, now };
    const isTooMuch = limit !== undefined && (await isPastLimit(tx, actor, { ...asked, limit }));
    if (isLive && (people === 2 || isTooMuch)) {
      refuseUnnamed(actor);
      return await proposeOrApprove(tx, actor, asked);
    }
    const { changes, answer } = await prepared.carryOut(actor);
    if (limit !== undefined) await recordAlone(tx, actor, asked);
    await recordChanges(tx, actor, changes, now);
    return { outcome: "done", answer };
  };
  return await retryPassing(kind, async () => await ctx.db.transaction(act));
}

type Act<Meant extends Terms> = Proposed<Meant> & {
  readonly kind: ApprovalKind<Meant>;
  /** How many people the act takes. */
  readonly people: 1 | 2;
  /**
   * The sum that one person may do alone in a day, of this kind and those it is summed with; above it
   * the act takes two.
   */
  readonly alonePerDayPaise?: number;
};

async function isPastLimit(
  tx: Tx,
  actor: Actor,
  { kind, prepared, now, limit }: PreparedAct & { readonly limit: number },
): Promise<boolean> {
  const since = new Date(now.getTime() - aloneHours * 3_600_000);
  const kinds = listKindsSummed(kind.name);
  const before = await sumAlone(tx, { personKey: personKey(actor.id), kinds, since });
  return before + (prepared.valuePaise ?? 0) >= limit;
}

async function recordAlone(
  tx: Tx,
  actor: Actor,
  { kind, proposed, prepared, now }: PreparedAct,
): Promise<void> {
  await insertAlone(tx, {
    person_key: personKey(actor.id),
    kind: kind.name,
    at: now,
    subject_id: proposed.subjectId,
    value_paise: prepared.valuePaise ?? 0,
  });
}

type PreparedAct = {
  readonly kind: ApprovalKind<never>;
  readonly proposed: Proposed;
  readonly prepared: Prepared;
  readonly now: Date;
};

async function proposeOrApprove(tx: Tx, actor: Actor, asked: PreparedAct): Promise<Acted> {
  const { kind, proposed, prepared, now } = asked;
  const open = await findOpen(tx, kind.name, proposed.subjectId);
  if (!open) return await propose(tx, actor, asked);
  const isSame = canonicalJson(open.terms) === canonicalJson(proposed.terms);
  // Facts can only be compared under the same terms.
  const isChanged = isSame && open.facts_hash !== digestFacts(prepared.facts);
  const isStale = findStateAt(open, now) === "expired" || isChanged;
  if (isStale || (isSamePerson(open.proposed_by, actor.id) && !isSame)) {
    // Replaces a stale proposal, or the proposer's own with other terms.
    return await propose(tx, actor, asked, open);
  }
  if (isSamePerson(open.proposed_by, actor.id)) return waitFor(open);
  if (!isSame) {
    throw new Failure("conflict", `${open.proposed_by} proposed something else`, {
      detail: { reason: "terms_differ", proposed_by: open.proposed_by, proposed: open.terms },
    });
  }
  refuseRole(actor, kind.approvers, `to approve ${kind.name}`);
  const { answer } = await carryOutApproved(tx, actor, { row: open, prepared, now });
  return { outcome: "done", answer };
}

/** Inserts a proposal and ends the one that it replaces. */
async function propose(
  tx: Tx,
  actor: Actor,
  { kind, proposed, prepared, now }: PreparedAct,
  ended?: ApprovalRow,
): Promise<ProposedAct> {
  const row: ApprovalRow = {
    approval_id: newId("apr", now),
    kind: kind.name,
    environment: proposed.environment,
    subject_id: proposed.subjectId,
    state: "proposed",
    terms: proposed.terms,
    summary: prepared.summary,
    value_paise: prepared.valuePaise,
    facts_hash: digestFacts(prepared.facts),
    proposed_by: actor.id,
    held_by: actor.machine?.heldBy ?? null,
    proposed_at: now,
    expires_at: new Date(now.getTime() + kind.validHours * 3_600_000),
    decided_by: null,
    decided_at: null,
    reason: null,
  };
  const event = {
    name: "approval.proposed",
    from: null,
    to: row.state,
    data: {
      kind: row.kind,
      value_paise: row.value_paise,
      proposed_by: row.proposed_by,
      approvers: kind.approvers,
      expires_at: istTimestamp(row.expires_at),
    },
  };
  const changes = [...(prepared.proposal ?? []), { ...buildApprovalChange("propose", row), event }];
  if (ended) {
    const isLate = findStateAt(ended, now) === "expired";
    const isOwn = isSamePerson(ended.proposed_by, actor.id);
    const whyVoid = isOwn ? "proposed anew" : "the facts have changed";
    const after: ApprovalRow = {
      ...ended,
      state: isLate ? "expired" : "voided",
      decided_by: actor.id,
      decided_at: now,
      reason: isLate ? null : whyVoid,
    };
    await setDecided(tx, after);
    changes.unshift(buildApprovalChange(isLate ? "expire" : "void", after));
  }
  await insertApproval(tx, [row]);
  await recordChanges(tx, actor, changes, now);
  return waitFor(row);
}

function waitFor({ approval_id }: ApprovalRow): ProposedAct {
  return { outcome: "proposed", approval_id };
}
