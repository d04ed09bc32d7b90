import type { Environment } from "../kernel/caller.ts";
import type { TimeSpan } from "../kernel/query-time.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bigint, json, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import type { ApprovalState } from "./approval-rules.ts";

const approvals = table("approvals", {
  approval_id: text(),
  kind: text(),
  environment: text<Environment>(),
  subject_id: text(),
  state: text<ApprovalState>(),
  terms: json<Readonly<Record<string, unknown>>>(),
  summary: text(),
  value_paise: bigint().orNull,
  facts_hash: text(),
  proposed_by: text(),
  /** Who holds the token of the machine that proposed it. */
  held_by: text().orNull,
  proposed_at: time(),
  expires_at: time(),
  decided_by: text().orNull,
  decided_at: time().orNull,
  reason: text().orNull,
});
export type ApprovalRow = RowOf<typeof approvals>;

/** Serializes proposals and decisions about one subject. */
export async function lockSubject(tx: Tx, kind: string, subjectId: string): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('approvals'), hashtext(${`${kind} ${subjectId}`}))`);
}

export async function findOpen(
  tx: Tx,
  kind: string,
  subjectId: string,
): Promise<ApprovalRow | undefined> {
  const [row] = await tx.rows<ApprovalRow>(sql`
    select ${approvals.columns}
    from approvals
    where kind = ${kind} and subject_id = ${subjectId} and state = 'proposed'`);
  return row;
}

export const { find: findApproval, insert: insertApproval } = rowsBy(approvals, {
  key: ["approval_id"],
});

/** The approved proposals about these subjects; their facts may have changed since. */
export async function listApproved(
  db: Db,
  kind: string,
  subjectIds: readonly string[],
): Promise<Pick<ApprovalRow, "subject_id" | "facts_hash">[]> {
  return await db.rows(sql`
    select subject_id, facts_hash
    from approvals
    where kind = ${kind} and subject_id = any(${subjectIds}::text[]) and state = 'approved'`);
}

/** The subject is locked. */
export async function setDecided(tx: Tx, row: ApprovalRow): Promise<void> {
  await tx.rows(sql`
    update approvals
    set state = ${row.state}, decided_by = ${row.decided_by}, decided_at = ${row.decided_at},
      reason = ${row.reason}
    where approval_id = ${row.approval_id}`);
}

export async function countOpen(db: Db, now: Date): Promise<number> {
  const [row] = await db.rows<{ count: number }>(sql`
    select count(*)::int as count
    from approvals
    where state = 'proposed' and expires_at > ${now}`);
  return row?.count ?? 0;
}

type AloneRow = {
  readonly person_key: string;
  readonly kind: string;
  readonly at: Date;
  readonly subject_id: string;
  readonly value_paise: number;
};

/** Serializes the acts of one person, so that their sum is exact. */
export async function lockPerson(tx: Tx, key: string): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('approvals'), hashtext(${`alone ${key}`}))`);
}

export async function sumAlone(
  tx: Tx,
  {
    personKey,
    kinds,
    since,
  }: { readonly personKey: string; readonly kinds: readonly string[]; readonly since: Date },
): Promise<number> {
  const [row] = await tx.rows<{ paise: number }>(sql`
    select least(coalesce(sum(value_paise), 0), 9007199254740991)::bigint as paise
    from acts_alone
    where person_key = ${personKey} and kind = any(${kinds}::text[]) and at > ${since}`);
  return row?.paise ?? 0;
}

export async function insertAlone(tx: Tx, row: AloneRow): Promise<void> {
  await tx.rows(sql`
    insert into acts_alone (person_key, kind, at, subject_id, value_paise)
    values (
      ${row.person_key}, ${row.kind}, ${row.at}, ${row.subject_id}, ${row.value_paise}
    )`);
}

export type ApprovalSearch = TimeSpan & {
  readonly environment: Environment | null;
  readonly kind: string | null;
  readonly state: ApprovalState | null;
  readonly before: string | null;
  readonly now: Date;
  readonly limit: number;
};

/**
 * Newest first: ids are made in the order of time. An undecided proposal past its time counts as
 * expired; those that wait are said to be undecided once more, for their index.
 */
export async function listApprovals(
  db: Db,
  { environment, kind, state, before, from, to, now, limit }: ApprovalSearch,
): Promise<ApprovalRow[]> {
  return await db.rows(sql`
    select ${approvals.columns}
    from approvals
    where (${environment}::text is null or environment = ${environment})
      and (${kind}::text is null or kind = ${kind})
      and (${state}::text is null or ${state} = case
        when state = 'proposed' and expires_at <= ${now} then 'expired'
        else state
      end)
      and (${state}::text is distinct from 'proposed' or state = 'proposed')
      and (${before}::text is null or approval_id < ${before})
      and (${from}::timestamptz is null or proposed_at >= ${from})
      and (${to}::timestamptz is null or proposed_at < ${to})
    order by approval_id desc
    limit ${limit}`);
}
