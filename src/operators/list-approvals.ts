import type { OperatorRole } from "../kernel/actor.ts";
import type { TimeSpan } from "../kernel/query-time.ts";
import { Failure } from "../kernel/failure.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  type ApprovalKind,
  digestFacts,
  retryPassing,
  type ShownPart,
  type Terms,
} from "./approval-kind.ts";
import { findStateAt, noProposal } from "./approval-rules.ts";
import {
  type ApprovalRow,
  type ApprovalSearch,
  countOpen,
  findApproval,
  listApprovals as listRows,
  listApproved,
} from "./approval-store.ts";
import { findKind } from "./decide-approval.ts";

export function viewApproval(row: ApprovalRow, now: Date) {
  return {
    approval_id: row.approval_id,
    kind: row.kind,
    environment: row.environment,
    subject_id: row.subject_id,
    status: findStateAt(row, now),
    summary: row.summary,
    value_paise: row.value_paise,
    proposed_by: row.proposed_by,
    proposed_at: istTimestamp(row.proposed_at),
    age_s: Math.max(0, Math.floor((now.getTime() - row.proposed_at.getTime()) / 1_000)),
    expires_at: istTimestamp(row.expires_at),
    decided_by: row.decided_by,
    decided_at: row.decided_at && istTimestamp(row.decided_at),
    reason: row.reason,
    terms: row.terms,
  };
}

type ApprovalView = ReturnType<typeof viewApproval>;

export async function listApprovals(
  ctx: Pick<Context, "db" | "now">,
  {
    from = null,
    to = null,
    before,
    ...search
  }: Omit<ApprovalSearch, "now" | "before" | "from" | "to"> &
    Partial<TimeSpan> & {
      /** Only those made before this one. */
      readonly before?: string | undefined;
    },
): Promise<ApprovalView[]> {
  const now = ctx.now();
  const narrowed = { ...search, from, to, before: before ?? null };
  const rows = await listRows(ctx.db.planned, { ...narrowed, now });
  return rows.map((row) => viewApproval(row, now));
}

export async function countWaitingApprovals(ctx: Pick<Context, "db" | "now">): Promise<number> {
  return await countOpen(ctx.db, ctx.now());
}

/** Longer tables are shown from their beginning. */
const shownRowsMax = 500;

type Look = {
  /** The roles that decide it, besides admins. */
  readonly approvers: readonly OperatorRole[];
  readonly shown: readonly (ShownPart & { readonly count: number })[];
  /** Whether the facts are others than when it was proposed, so that approving it voids it. */
  readonly changed: boolean | null;
  /** Why it cannot be carried out as things are. */
  readonly hindrance: string | null;
};

/** A proposal with who may decide it, and while it is open what carrying it out would do now. */
export async function showApproval(
  ctx: Pick<Context, "db" | "now">,
  approvalId: string,
  kinds: readonly ApprovalKind[],
): Promise<ApprovalView & Look> {
  const row = await findApproval(ctx.db, approvalId);
  if (!row) throw noProposal(approvalId);
  const view = viewApproval(row, ctx.now());
  const isOpen = view.status === "proposed";
  const approvers = kinds.find(({ name }) => name === row.kind)?.approvers ?? [];
  const nothing = { shown: [], changed: null, hindrance: null };
  return { ...view, approvers, ...(isOpen ? await lookAhead(ctx, row, kinds) : nothing) };
}

/** Prepares the act as its approval would, and takes everything back. */
async function lookAhead(
  ctx: Pick<Context, "db" | "now">,
  { environment, subject_id: subjectId, terms, facts_hash, ...row }: ApprovalRow,
  kinds: readonly ApprovalKind[],
): Promise<Omit<Look, "approvers">> {
  try {
    const kind = findKind(kinds, row);
    const proposed = { environment, subjectId, terms };
    const prepared = await retryPassing(kind, () =>
      ctx.db.transaction((tx) => kind.prepare(tx, proposed, ctx.now()), { rollBack: true }),
    );
    const { shows = [], facts } = prepared;
    return {
      shown: shows.map(({ title, rows }) => ({
        title,
        count: rows.length,
        rows: rows.slice(0, shownRowsMax),
      })),
      changed: digestFacts(facts) !== facts_hash,
      hindrance: null,
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { shown: [], changed: null, hindrance: error.message };
  }
}

/**
 * The subjects that are approved with unchanged facts. For a kind whose approval permits a later act.
 */
export async function findApproved<Meant extends Terms>(
  db: Db,
  { name }: Pick<ApprovalKind<Meant>, "name">,
  things: readonly { readonly subjectId: string; readonly facts: object }[],
): Promise<Set<string>> {
  const rows = await listApproved(
    db,
    name,
    things.map(({ subjectId }) => subjectId),
  );
  const approved = new Set(rows.map(({ subject_id, facts_hash }) => `${subject_id} ${facts_hash}`));
  return new Set(
    things
      .filter(({ subjectId, facts }) => approved.has(`${subjectId} ${digestFacts(facts)}`))
      .map(({ subjectId }) => subjectId),
  );
}
