// Lists of credits over all desks, for the operator.

import type { BandSum } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Environment } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import type { PageRequest } from "../kernel/page.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";
import { creditColumns, type CreditRow } from "./store.ts";

type CreditNarrowing = DeskSearch & {
  readonly scheme: string | null;
  readonly status: string | null;
};

/** The newest have the largest ids. */
export async function listAllCreditRows(
  db: Db,
  filter: CreditNarrowing & { readonly fromId: string | null; readonly toId: string | null },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<CreditRow[]> {
  return await db.rows(sql`
    select ${creditColumns}
    from credits as c
    where (${after?.id ?? null}::text is null or c.credit_id < ${after?.id ?? null})
      and (${filter.environment}::text is null or c.environment = ${filter.environment})
      and (${filter.deskId}::text is null or c.desk_id = ${filter.deskId})
      and (${filter.scheme}::text is null or c.scheme = ${filter.scheme})
      and (${filter.status}::text is null or c.state = ${filter.status})
      and (${filter.fromId}::text is null or c.credit_id >= ${filter.fromId})
      and (${filter.toId}::text is null or c.credit_id < ${filter.toId})
    order by c.credit_id desc
    limit ${fetch}`);
}

export async function listCreditRowsOfFirm(
  db: Db,
  filter: CreditNarrowing,
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<CreditRow[]> {
  return await db.rows(sql`
    select ${creditColumns}
    from credits as c
    where c.firm_id = ${filter.firmId}
      and (c.created_at, c.credit_id) < (
        coalesce(${after?.at ?? null}::timestamptz, 'infinity'), ${after?.id ?? ""}
      )
      and (${filter.environment}::text is null or c.environment = ${filter.environment})
      and (${filter.scheme}::text is null or c.scheme = ${filter.scheme})
      and (${filter.status}::text is null or c.state = ${filter.status})
      and (${filter.from}::timestamptz is null or c.created_at >= ${filter.from})
      and (${filter.to}::timestamptz is null or c.created_at < ${filter.to})
    order by c.created_at desc, c.credit_id desc
    limit ${fetch}`);
}

/** Every claim and holding of a number, newest first; each standing has an index of its own. */
export async function listCreditRowsByNumber(
  db: Db,
  scripNo: string,
  limit: number,
): Promise<CreditRow[]> {
  return await db.rows(sql`
    select ${creditColumns}
    from (
      select credit_id
      from credits
      where environment in ('live', 'sandbox') and scrip_no = ${scripNo} and standing = 'live'
      union all
      select credit_id
      from credits
      where environment in ('live', 'sandbox') and scrip_no = ${scripNo} and standing = 'claim'
      union all
      select credit_id
      from credits
      where environment in ('live', 'sandbox') and scrip_no = ${scripNo} and standing is null
    ) as of_number
    join credits as c on c.credit_id = of_number.credit_id
    order by c.credit_id desc
    limit ${limit}`);
}

/** How many credits the house offers of each scheme, counted up to a number. */
export async function countOffered(
  db: Db,
  environment: Environment,
  most: number,
): Promise<ReadonlyMap<Scheme, number>> {
  const rows = await db.rows<{ scheme: Scheme; offered: number }>(sql`
    select s.scheme, o.offered
    from unnest(${schemes}::text[]) as s (scheme)
    cross join lateral (
      select count(*)::int as offered
      from (
        select
        from credits as c
        where c.environment = ${environment} and c.house_offers and c.scheme = s.scheme
        limit ${most}
      ) as found
    ) as o`);
  return new Map(rows.map(({ scheme, offered }) => [scheme, offered]));
}

/** What the house offers, by the days that are left, between these bounds. */
export async function sumOfferedByDaysLeft(
  db: Db,
  environment: Environment,
  { today, bounds }: { readonly today: IstDay; readonly bounds: readonly number[] },
): Promise<BandSum[]> {
  return await db.rows(sql`
    select width_bucket(c.expires_on - ${today}::date, ${bounds}::int[]) as band,
      count(*)::int as count, sum(c.face_paise) as face_paise
    from credits as c
    where c.environment = ${environment} and c.house_offers
    group by 1`);
}

/** The highest number that a credit of the synthetic shelf has; its last digit says nothing. */
export async function findLastShelved(db: Db, deskId: string, prefix: string): Promise<number> {
  const [row] = await db.rows<{ last: number }>(sql`
    select coalesce(max(substr(scrip_no, length(${prefix}) + 1)::bigint / 10), 0)::int as last
    from credits
    where desk_id = ${deskId} and starts_with(scrip_no, ${prefix})`);
  return row?.last ?? 0;
}
