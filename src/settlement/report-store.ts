import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { flag, int, json, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import type { QueuedRow } from "./ledger-report-rules.ts";

const ledgerReports = table("ledger_reports", {
  report_id: text(),
  environment: text<Environment>(),
  /** Of the file and its time. */
  digest: text(),
  as_of: time(),
  is_whole: flag(),
  transferred: int(),
  refused: int(),
  pending: int(),
  absent: int(),
  missing: int(),
  known: int(),
  queued: json<readonly QueuedRow[]>(),
  imported_at: time(),
  imported_by: text(),
});
export type LedgerReportRow = RowOf<typeof ledgerReports>;

const reportColumns = ledgerReports.as("r");

export async function insertReport(tx: Tx, row: LedgerReportRow): Promise<void> {
  await tx.rows(sql`
    insert into ledger_reports ${ledgerReports.values(ledgerReports.all, [row])}`);
}

export async function findReport(
  db: Db,
  environment: Environment,
  digest: string,
): Promise<LedgerReportRow | undefined> {
  const [row] = await db.rows<LedgerReportRow>(sql`
    select ${reportColumns}
    from ledger_reports as r
    where r.environment = ${environment} and r.digest = ${digest}`);
  return row;
}

/** Newest first. */
export async function listReports(
  db: Db,
  {
    environment,
    before,
    limit,
  }: {
    readonly environment: Environment;
    readonly before: string | null;
    readonly limit: number;
  },
): Promise<LedgerReportRow[]> {
  return await db.rows(sql`
    select ${reportColumns}
    from ledger_reports as r
    where r.environment = ${environment}
      and (${before}::text is null or r.report_id < ${before})
    order by r.report_id desc
    limit ${limit}`);
}

/** The open settlements whose parties were told to begin. */
export async function listBegunIds(
  db: Db,
  environment: Environment,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ settlement_id: string }>(sql`
    select s.settlement_id
    from unnest(array['funded', 'transfer_initiated']) as open (state)
    cross join lateral (
      select found.settlement_id
      from settlements as found
      where found.environment = ${environment} and found.state = open.state
        and found.due_at is not null and found.begun
      order by found.due_at
      limit ${limit}
    ) as s
    order by s.settlement_id
    limit ${limit}`);
  return rows.map((row) => row.settlement_id);
}

/** The settlements in which these credits were dealt, whatever became of them. */
export async function listIdsOfCredits(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ settlement_id: string }>(sql`
    select distinct l.settlement_id
    from unnest(${scripNos}::text[]) as asked (scrip_no)
    cross join lateral (
      select settlement_id
      from settlement_legs as found
      where found.environment = ${environment} and found.scrip_no = asked.scrip_no
      offset 0
    ) as l
    order by l.settlement_id`);
  return rows.map((row) => row.settlement_id);
}
