import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";

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
