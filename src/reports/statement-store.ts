import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import type { IstMonth } from "../kernel/time.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";

export type FrozenRow = {
  readonly firm_id: string;
  readonly period: IstMonth;
  readonly environment: Environment;
  readonly opening_paise: PaiseSum;
  readonly closing_paise: PaiseSum;
  readonly commission_paise: PaiseSum;
  readonly dues_paise: PaiseSum;
  readonly seen_entry_no: number;
  readonly frozen_at: Date;
  readonly digest: Buffer;
};

const frozenColumns = fragment`
  firm_id, period, environment, opening_paise, closing_paise, commission_paise, dues_paise,
  seen_entry_no, frozen_at, digest`;

/** False when another process has stored the statement before. */
export async function insertStatement(
  tx: Tx,
  row: FrozenRow & { readonly body: string },
): Promise<boolean> {
  const inserted = await tx.rows(sql`
    insert into statements (${frozenColumns}, body)
    values (
      ${row.firm_id}, ${row.period}, ${row.environment}, ${row.opening_paise},
      ${row.closing_paise}, ${row.commission_paise}, ${row.dues_paise}, ${row.seen_entry_no},
      ${row.frozen_at}, ${row.digest}, ${row.body}
    )
    on conflict do nothing
    returning 1`);
  return inserted.length > 0;
}

export async function findStatement(
  db: Db,
  firmId: string,
  period: IstMonth,
): Promise<(FrozenRow & { readonly body: string; readonly is_whole: boolean }) | undefined> {
  const [row] = await db.rows<FrozenRow & { body: string; is_whole: boolean }>(sql`
    select ${frozenColumns}, body, sha256(convert_to(body, 'UTF8')) = digest as is_whole
    from statements
    where firm_id = ${firmId} and period = ${period}`);
  return row;
}

/** The pages of one run that freezes a statement. */
export type PageKey = {
  readonly firmId: string;
  readonly period: IstMonth;
  readonly seenEntryNo: number;
};

/** Idempotent: the same page has the same lines. */
export async function insertPage(
  db: Db,
  { firmId, period, seenEntryNo }: PageKey,
  { pageNo, body }: { readonly pageNo: number; readonly body: string },
): Promise<void> {
  await db.rows(sql`
    insert into statement_pages (firm_id, period, seen_entry_no, page_no, body)
    values (${firmId}, ${period}, ${seenEntryNo}, ${pageNo}, ${body})
    on conflict do nothing`);
}

/**
 * Deletes pages that do not belong to the stored statements: those of runs that crashed or came second,
 * which read the books up to another entry. Pages of a second run that crashed go with the next month.
 */
export async function deletePagesLeft(
  tx: Tx,
  { firmId, periods }: { readonly firmId: string; readonly periods: readonly IstMonth[] },
): Promise<void> {
  await tx.rows(sql`
    delete from statement_pages as p
    using statements as s
    where p.firm_id = ${firmId} and p.period = any(${periods}::text[])
      and s.firm_id = p.firm_id and s.period = p.period and s.seen_entry_no <> p.seen_entry_no`);
}

/** Pages from one up to, not including, another. */
export async function listPages(
  db: Db,
  { firmId, period, seenEntryNo }: PageKey,
  { from, below }: { readonly from: number; readonly below: number },
): Promise<{ readonly page_no: number; readonly body: string }[]> {
  return await db.rows(sql`
    select page_no, body
    from statement_pages
    where firm_id = ${firmId} and period = ${period} and seen_entry_no = ${seenEntryNo}
      and page_no >= ${from} and page_no < ${below}
    order by page_no`);
}

/** The last statement before a month. */
export async function findLatestBefore(
  db: Db,
  firmId: string,
  period: IstMonth,
): Promise<FrozenRow | undefined> {
  const [row] = await db.rows<FrozenRow>(sql`
    select ${frozenColumns}
    from statements
    where firm_id = ${firmId} and period < ${period}
    order by period desc
    limit 1`);
  return row;
}

export async function listFrozen(db: Db, firmId: string): Promise<FrozenRow[]> {
  return await db.rows(sql`
    select ${frozenColumns}
    from statements
    where firm_id = ${firmId}
    order by period desc`);
}

/** The firms, of those given, that have a statement of this month. */
export async function listFirmsFrozen(
  db: Db,
  firmIds: readonly string[],
  period: IstMonth,
): Promise<string[]> {
  const rows = await db.rows<{ firm_id: string }>(sql`
    select firm_id
    from statements
    where firm_id = any(${firmIds}::text[]) and period = ${period}`);
  return rows.map(({ firm_id }) => firm_id);
}
