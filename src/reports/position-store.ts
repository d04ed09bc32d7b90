import { addDays, type IstDay } from "../kernel/time.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";
import type { SchemeSums } from "./position-rules.ts";

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
        as expiring_90_paise
    from firms as f
    cross join lateral (
      select scheme, face_paise, state, expires_on
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
