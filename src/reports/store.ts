// Frozen statements and their pages, what desks earned in commission, and the sums of a firm's credits.

import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { addDays, type IstDay, type IstMonth } from "../kernel/time.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { SchemeSums } from "./position-rules.ts";

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
type PageKey = {
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

/** Of one firm and month: what the register of the month shows. */
export type RegisterRow = FrozenRow & { readonly legal_name: string };

/** The final statements of a month, by the firm's id. */
export async function listRegisterRows(
  db: Db,
  { environment, period }: { readonly environment: Environment; readonly period: IstMonth },
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<RegisterRow[]> {
  return await db.rows(sql`
    select s.*, firms.legal_name
    from (
      select ${frozenColumns}
      from statements
      where firm_id > ${after} and period = ${period} and environment = ${environment}
      order by firm_id
      limit ${limit}
    ) as s
    join firms on firms.firm_id = s.firm_id
    order by s.firm_id`);
}

/** The desks of the sandbox whose clocks are ahead, in seconds. */
export async function listClocksAhead(
  db: Db,
): Promise<{ readonly desk_id: string; readonly ahead_s: number }[]> {
  return await db.rows(sql`
    select desk_id, ahead_s
    from desk_clocks
    where ahead_s > 0
    order by desk_id`);
}

export async function findClockAhead(db: Db, deskId: string): Promise<number> {
  const [row] = await db.rows<{ ahead_s: number }>(sql`
    select ahead_s
    from desk_clocks
    where desk_id = ${deskId}`);
  return row?.ahead_s ?? 0;
}

/** The desk of each firm, in the order of the firms' ids. */
export async function listDesksOfFirms(
  db: Db,
  firmIds: readonly string[],
): Promise<{ readonly firm_id: string; readonly desk_id: string }[]> {
  return await db.rows(sql`
    select firm_id, desk_id
    from firms
    where firm_id = any(${firmIds}::text[])
    order by firm_id`);
}

/** The next firms of a desk by id; no index has this order. */
export async function listFirmsOfDesk(
  db: Db,
  deskId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly firmIds: readonly string[]; readonly next: string | undefined }> {
  const rows = await db.rows<{ firm_id: string }>(sql`
    select firm_id
    from firms
    where desk_id = ${deskId} and firm_id || '' > ${after}
    order by firm_id || ''
    limit ${limit}`);
  const firmIds = rows.map(({ firm_id }) => firm_id);
  return { firmIds, next: firmIds.length === limit ? firmIds.at(-1) : undefined };
}

export type EarningRow = {
  readonly earned_by: string;
  readonly credits: number;
  readonly face_paise: PaiseSum;
  readonly commission_paise: PaiseSum;
};

/**
 * Sums the commission entries of a desk. The ordinal of an entry encodes its leg and side
 * (`entriesPerLeg` to a leg); an entry that takes commission back counts negative.
 */
export async function listEarnings(
  db: Db,
  desk: { readonly environment: Environment; readonly deskId: string },
  {
    by,
    from,
    to,
    entriesPerLeg,
  }: {
    readonly by: "day" | "firm" | "scheme";
    readonly from: Date;
    readonly to: Date;
    readonly entriesPerLeg: number;
  },
): Promise<EarningRow[]> {
  return await db.rows(sql`
    select
      case ${by}::text
        when 'day' then to_char(c.at at time zone interval '05:30', 'YYYY-MM-DD')
        when 'scheme' then l.scheme
        else case when c.is_sale then l.seller_firm_id else s.buyer_firm_id end
      end as earned_by,
      sum(sign(c.paise))::bigint as credits,
      sum(sign(c.paise) * l.face_paise) as face_paise,
      sum(c.paise) as commission_paise
    from (
      select f.at, e.subject, e.ordinal / ${entriesPerLeg}::int as leg, e.ordinal % 2 = 0 as is_sale,
        (
          select sum(
            case when split_part(m.to_account, ':', 2) = f.firm_id then m.amount else -m.amount end
          )
          from unnest(e.movements) as m
        ) as paise
      from ledger_firm_entries as f
      join ledger_entries as e on e.entry_no = f.entry_no
      where f.firm_id = ${desk.deskId} and f.at >= ${from} and f.at < ${to}
        and e.environment = ${desk.environment} and e.kind = 'commission'
    ) as c
    join settlement_legs as l on l.settlement_id = c.subject and l.ordinal = c.leg
    join settlements as s on s.settlement_id = c.subject
    group by earned_by
    order by earned_by`);
}

/**
 * A credit that lapsed and that the clock has not come to yet is not held any more. Inside only the
 * firm is asked for: what is live has an index of its own, which a plan made for few rows would read
 * whole for each firm.
 */
export async function sumCredits(
  db: Db,
  { deskId, firmId }: Visibility,
  today: IstDay,
): Promise<SchemeSums[]> {
  return await db.rows(sql`
    select
      scheme,
      count(*) as count,
      coalesce(sum(face_paise) filter (where state = 'listed'), 0) as available_paise,
      coalesce(sum(face_paise) filter (where state = 'reserved'), 0) as reserved_paise,
      coalesce(sum(face_paise) filter (where state = 'in_settlement'), 0)
        as in_settlement_paise,
      coalesce(sum(face_paise) filter (where expires_on <= ${addDays(today, 30)}::date), 0)
        as expiring_30_paise,
      coalesce(sum(face_paise) filter (where expires_on <= ${addDays(today, 60)}::date), 0)
        as expiring_60_paise,
      coalesce(sum(face_paise) filter (where expires_on <= ${addDays(today, 90)}::date), 0)
        as expiring_90_paise,
      coalesce(sum(face_paise) filter (where balance_shown_on is not null), 0)
        as shown_by_customs_paise,
      min(balance_shown_on) as shown_from
    from firms as f
    cross join lateral (
      select scheme, face_paise, state, expires_on, balance_shown_on
      from credits as held
      where held.firm_id = f.firm_id
      offset 0
    ) as c
    where f.desk_id = ${deskId} and (${firmId}::text is null or f.firm_id = ${firmId})
      and c.state in ('listed', 'reserved', 'in_settlement') and c.expires_on >= ${today}::date
    group by scheme
    order by scheme`);
}

export async function listFirmIds(db: Db, { deskId, firmId }: Visibility): Promise<string[]> {
  const rows = await db.rows<{ firm_id: string }>(sql`
    select firm_id
    from firms
    where desk_id = ${deskId} and (${firmId}::text is null or firm_id = ${firmId})`);
  return rows.map((row) => row.firm_id);
}

/** When a statement of a month in live was last written; null before the first. */
export async function findLastFrozen(db: Db, period: IstMonth): Promise<Date | null> {
  const [row] = await db.rows<{ at: Date | null }>(sql`
    select max(frozen_at) as at
    from statements
    where environment = 'live' and period = ${period}`);
  return row?.at ?? null;
}
