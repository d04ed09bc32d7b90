import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Db, fragment, sql } from "../platform/postgres.ts";
import type { IndexFigure } from "./rules.ts";

const figureColumns = fragment`
  scheme, day, basis, index_bps, deals_on, deal_count, seller_count, face_paise`;

/** Fixes a day for good; nothing happens when another process has done so before. */
export async function insertFigure(db: Db, figure: IndexFigure, now: Date): Promise<void> {
  await db.rows(sql`
    insert into rate_index_days (
      scheme, day, basis, index_bps, deals_on, deal_count, seller_count, face_paise, fixed_at
    )
    values (
      ${figure.scheme}, ${figure.day}, ${figure.basis}, ${figure.index_bps}, ${figure.deals_on},
      ${figure.deal_count}, ${figure.seller_count}, ${figure.face_paise}, ${now}
    )
    on conflict (scheme, day) do nothing`);
}

export async function findFigure(
  db: Db,
  scheme: Scheme,
  day: IstDay,
): Promise<IndexFigure | undefined> {
  const [row] = await db.rows<IndexFigure>(sql`
    select ${figureColumns}
    from rate_index_days
    where scheme = ${scheme} and day = ${day}`);
  return row;
}

/** The last fixed figure; before a day, when one is given. */
export async function findLastFigure(
  db: Db,
  scheme: Scheme,
  before: IstDay | null,
): Promise<IndexFigure | undefined> {
  const [row] = await db.rows<IndexFigure>(sql`
    select ${figureColumns}
    from rate_index_days
    where scheme = ${scheme} and (${before}::date is null or day < ${before}::date)
    order by day desc
    limit 1`);
  return row;
}

/** Fixed figures by rising day, both ends included. */
export async function listFigures(
  db: Db,
  scheme: Scheme,
  { from, to }: { readonly from: IstDay; readonly to: IstDay },
): Promise<IndexFigure[]> {
  return await db.rows(sql`
    select ${figureColumns}
    from rate_index_days
    where scheme = ${scheme} and day between ${from} and ${to}
    order by day`);
}
