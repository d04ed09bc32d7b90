import type { Environment } from "../kernel/caller.ts";
import { exactJson } from "../kernel/json.ts";
import type { Visibility } from "../kernel/visibility.ts";
import type { ListedRows } from "../platform/postgres/list.ts";
import { type Db, fragment, part, sql, type Tx } from "../platform/postgres/postgres.ts";
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

export type DeskApprovalRow = {
  readonly approval_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly kind: DeskApprovalKind;
  readonly state: DeskApprovalState;
  /** Deleted once it is decided. */
  readonly terms_sealed: Buffer | null;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly fact: string;
  readonly proposed_by: string;
  readonly proposed_name: string;
  readonly decided_by: string | null;
  readonly decided_name: string | null;
  readonly reason: string | null;
  readonly payout_id: string | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly expires_at: Date;
};

const approvalColumns = fragment`
  approval_id, environment, desk_id, firm_id, kind, state, terms_sealed, shown, fact, proposed_by,
  proposed_name, decided_by, decided_name, reason, payout_id, version, created_at, updated_at, expires_at`;

export const listApprovalRows = ({ deskId, firmId }: Visibility): ListedRows<DeskApprovalRow> => ({
  columns: approvalColumns,
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
    select ${approvalColumns}
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
    select ${approvalColumns}
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

export async function insertDeskApproval(tx: Tx, row: DeskApprovalRow): Promise<void> {
  await tx.rows(sql`
    insert into desk_approvals (${approvalColumns})
    values (
      ${row.approval_id}, ${row.environment}, ${row.desk_id}, ${row.firm_id}, ${row.kind},
      ${row.state}, ${row.terms_sealed}, ${exactJson(row.shown)}::jsonb, ${row.fact},
      ${row.proposed_by}, ${row.proposed_name}, ${row.decided_by}, ${row.decided_name},
      ${row.reason}, ${row.payout_id}, ${row.version}, ${row.created_at}, ${row.updated_at},
      ${row.expires_at}
    )`);
}

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
