import type { TimeSpan } from "../kernel/query-time.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { type ApprovalKind, digestFacts, type Terms } from "./approval-kind.ts";
import { findStateAt, noProposal } from "./approval-rules.ts";
import {
  type ApprovalRow,
  type ApprovalSearch,
  countOpen,
  findApproval,
  listApprovals as listRows,
  listApproved,
} from "./approval-store.ts";

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

export type ApprovalView = ReturnType<typeof viewApproval>;

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

export async function showApproval(
  ctx: Pick<Context, "db" | "now">,
  approvalId: string,
): Promise<ApprovalView> {
  const row = await findApproval(ctx.db, approvalId);
  if (!row) throw noProposal(approvalId);
  return viewApproval(row, ctx.now());
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
