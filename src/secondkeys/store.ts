import type { Environment } from "../kernel/caller.ts";
import type { Visibility } from "../kernel/visibility.ts";
import type { ListedRows } from "../platform/postgres/list.ts";
import { type Db, part, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bytes, int, json, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import { sealedColumn } from "../platform/sealed-column.ts";
import type { DeskApprovalKind, DeskApprovalState, SecondKeyRules } from "./rules.ts";

export type RulesRow = SecondKeyRules & {
  readonly desk_id: string;
  readonly environment: Environment;
  readonly version: number;
  readonly updated_at: Date;
};

export async function findRules(db: Db, deskId: string): Promise<RulesRow | undefined> {
  const [row] = await db.rows<RulesRow>(sql`
    select desk_id, environment, bank_changes, withdrawals_from_paise, version, updated_at
    from second_key_rules
    where desk_id = ${deskId}`);
  return row;
}

/** Serializes changes of a desk's rules, and its proposals. */
export async function lockRules(tx: Tx, deskId: string): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('second keys'), hashtext(${deskId}))`);
}

export async function putRules(tx: Tx, row: RulesRow): Promise<void> {
  await tx.rows(sql`
    insert into second_key_rules (
      desk_id, environment, bank_changes, withdrawals_from_paise, version, updated_at
    )
    values (
      ${row.desk_id}, ${row.environment}, ${row.bank_changes}, ${row.withdrawals_from_paise},
      ${row.version}, ${row.updated_at}
    )
    on conflict (desk_id) do update
    set bank_changes = excluded.bank_changes,
      withdrawals_from_paise = excluded.withdrawals_from_paise, version = excluded.version,
      updated_at = excluded.updated_at`);
}

const deskApprovals = table("desk_approvals", {
  approval_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  kind: text<DeskApprovalKind>(),
  state: text<DeskApprovalState>(),
  /** Deleted once it is decided. */
  terms_sealed: bytes().orNull,
  shown: json<Readonly<Record<string, unknown>>>(),
  fact: text(),
  proposed_by: text(),
  proposed_name: text(),
  decided_by: text().orNull,
  decided_name: text().orNull,
  reason: text().orNull,
  payout_id: text().orNull,
  version: int(),
  created_at: time(),
  updated_at: time(),
  expires_at: time(),
});
export type DeskApprovalRow = RowOf<typeof deskApprovals>;

export const listApprovalRows = ({ deskId, firmId }: Visibility): ListedRows<DeskApprovalRow> => ({
  columns: deskApprovals.columns,
  found: part`
    from desk_approvals
    where desk_id = ${deskId} and (${firmId}::text is null or firm_id = ${firmId})`,
  newestFirst: ["created_at", "approval_id"],
});

export async function findApprovalOfDesk(
  db: Db,
  deskId: string,
  approvalId: string,
): Promise<DeskApprovalRow | undefined> {
  const [row] = await db.rows<DeskApprovalRow>(sql`
    select ${deskApprovals.columns}
    from desk_approvals
    where desk_id = ${deskId} and approval_id = ${approvalId}`);
  return row;
}

export async function lockApprovalOfDesk(
  tx: Tx,
  deskId: string,
  approvalId: string,
): Promise<DeskApprovalRow | undefined> {
  const [row] = await tx.rows<DeskApprovalRow>(sql`
    select ${deskApprovals.columns}
    from desk_approvals
    where desk_id = ${deskId} and approval_id = ${approvalId}
    for update`);
  return row;
}

export async function countOpenApprovals(tx: Tx, deskId: string, now: Date): Promise<number> {
  const [row] = await tx.rows<{ count: number }>(sql`
    select count(*)::int as count
    from desk_approvals
    where desk_id = ${deskId} and state = 'proposed' and expires_at > ${now}`);
  return row?.count ?? 0;
}

export const { insert: insertDeskApproval } = rowsBy(deskApprovals, { key: ["approval_id"] });

export async function setApprovalDecided(tx: Tx, row: DeskApprovalRow): Promise<void> {
  await tx.rows(sql`
    update desk_approvals
    set state = ${row.state}, terms_sealed = null, decided_by = ${row.decided_by},
      decided_name = ${row.decided_name}, reason = ${row.reason}, payout_id = ${row.payout_id},
      version = ${row.version}, updated_at = ${row.updated_at}
    where approval_id = ${row.approval_id}`);
}

export const termsColumn = sealedColumn({
  table: "desk_approvals",
  id: "approval_id",
  sealed: "terms_sealed",
});
