import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";

export type HouseDealt = {
  readonly scheme: Scheme;
  readonly bought: number;
  readonly bought_face_paise: PaiseSum;
  readonly bought_paise: PaiseSum;
  readonly sold: number;
  readonly sold_face_paise: PaiseSum;
  readonly sold_paise: PaiseSum;
  readonly matched: number;
  readonly matched_face_paise: PaiseSum;
  readonly kept_paise: PaiseSum;
  readonly fees_paise: PaiseSum;
  readonly result_paise: PaiseSum;
};

/**
 * What the house bought, sold and matched in a span, of what has not failed. The result is its money,
 * less taxes, and its credits at the mid that was in force when each was dealt, rounded down once.
 */
export async function sumHouseDealt(
  db: Db,
  {
    environment,
    houseId,
    from,
    to,
  }: {
    readonly environment: Environment;
    readonly houseId: string;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<HouseDealt[]> {
  return await db.rows(sql`
    select scheme,
      count(*) filter (where buys)::int as bought,
      coalesce(sum(face_paise) filter (where buys), 0) as bought_face_paise,
      coalesce(sum(buyer_paise) filter (where buys), 0) as bought_paise,
      count(*) filter (where sells)::int as sold,
      coalesce(sum(face_paise) filter (where sells), 0) as sold_face_paise,
      coalesce(sum(buyer_paise - taxes_paise) filter (where sells), 0) as sold_paise,
      count(*) filter (where not buys and not sells)::int as matched,
      coalesce(sum(face_paise) filter (where not buys and not sells), 0) as matched_face_paise,
      coalesce(sum(buyer_paise - seller_paise - taxes_paise)
        filter (where not buys and not sells), 0) as kept_paise,
      sum(buyer_fee_paise + seller_fee_paise) as fees_paise,
      floor(sum(
        (case when buys then 0 else buyer_paise end
          - case when sells then 0 else seller_paise end
          - taxes_paise)::numeric * 10000
        + (case when buys then face_paise else 0 end
          - case when sells then face_paise else 0 end)::numeric * mid_bps
      ) / 10000) as result_paise
    from (
      select l.scheme, l.face_paise, l.seller_paise, l.buyer_paise, l.buyer_fee_paise,
        l.seller_fee_paise, l.buyer_gst_paise + l.seller_gst_paise as taxes_paise,
        s.buyer_firm_id = ${houseId} as buys, l.seller_firm_id = ${houseId} as sells,
        card.mid_bps
      from (
        select scheme, mid_bps, published_at,
          coalesce(lead(published_at) over (partition by scheme order by version), 'infinity')
            as replaced_at
        from rate_cards
        where environment = ${environment} and scheme = any(${schemes}::text[])
      ) as card
      join settlement_legs as l on l.environment = ${environment} and l.scheme = card.scheme
        and l.dealt_at >= greatest(card.published_at, ${from}::timestamptz)
        and l.dealt_at < least(card.replaced_at, ${to}::timestamptz)
      join settlements as s on s.settlement_id = l.settlement_id
      where card.published_at < ${to} and card.replaced_at > ${from} and not l.private
        and l.state <> 'failed' and s.state <> 'reversed'
    ) as dealt
    group by scheme`);
}
