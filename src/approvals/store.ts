import { sql, type Tx } from "../platform/postgres.ts";

export type ApprovalRow = {
  readonly action: string;
  readonly subject_id: string;
  readonly terms: Readonly<Record<string, string | number>>;
  readonly proposed_by: string;
  readonly confirmed_by: string | null;
};

/** What was proposed about a subject; whoever proposes at the same time waits. */
export async function lockApproval(
  tx: Tx,
  action: string,
  subjectId: string,
): Promise<ApprovalRow | undefined> {
  const [row] = await tx.rows<ApprovalRow>(sql`
    select action, subject_id, terms, proposed_by, confirmed_by
    from approvals
    where action = ${action} and subject_id = ${subjectId}
    for update`);
  return row;
}

/** A proposal takes the place of an earlier one that nobody has confirmed. */
export async function setProposal(
  tx: Tx,
  { action, subject_id, terms, proposed_by }: Omit<ApprovalRow, "confirmed_by">,
  now: Date,
): Promise<void> {
  await tx.rows(sql`
    insert into approvals (action, subject_id, terms, proposed_by, proposed_at)
    values (${action}, ${subject_id}, ${JSON.stringify(terms)}::jsonb, ${proposed_by}, ${now})
    on conflict (action, subject_id) do update
    set terms = excluded.terms, proposed_by = excluded.proposed_by,
      proposed_at = excluded.proposed_at`);
}

export async function setConfirmed(
  tx: Tx,
  { action, subjectId, by }: { readonly action: string; subjectId: string; by: string },
  now: Date,
): Promise<void> {
  await tx.rows(sql`
    update approvals
    set confirmed_by = ${by}, confirmed_at = ${now}
    where action = ${action} and subject_id = ${subjectId}`);
}
