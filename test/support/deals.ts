// Deals on the tape, put where settlement would put them.

import type { Environment } from "../../src/kernel/caller.ts";
import { houseFirmId, newId } from "../../src/kernel/ids.ts";
import { priceCeil, priceFloor } from "../../src/kernel/money.ts";
import type { Scheme } from "../../src/kernel/scheme.ts";
import type { Service } from "./service.ts";

export type TestDeal = {
  readonly environment?: Environment;
  readonly scheme?: Scheme;
  readonly facePaise: number;
  readonly sellerBps: number;
  /** What the buyer pays; the seller's price unless said otherwise. */
  readonly buyerBps?: number;
  readonly sellerFirmId?: string;
  /** The house unless said otherwise. */
  readonly buyerFirmId?: string;
  readonly state?: "pending" | "failed";
  readonly scripNo?: string;
  /** Now unless said otherwise. */
  readonly dealtAt?: Date;
};

/** One settlement with one leg per deal: a credit that some firm sells. */
export async function addDeals(
  { ctx }: Pick<Service, "ctx">,
  deals: readonly TestDeal[],
): Promise<void> {
  const rows = deals.map((deal) => buildRow(deal, ctx.now()));
  await ctx.db.pool.query(
    `with deals as (
      select * from jsonb_to_recordset($1::jsonb) as d (
        settlement_id text, environment text, scheme text, buyer text, seller text, scrip_no text,
        face_paise bigint, seller_bps int, buyer_bps int, seller_paise bigint, buyer_paise bigint,
        dealt_at timestamptz, state text
      )
    ), settled as (
      insert into settlements (
        settlement_id, environment, scheme, origin, buyer_desk_id, buyer_firm_id, state, face_paise,
        buyer_paise, due_at, version, created_at, updated_at
      )
      select settlement_id, environment, scheme, 'ord_test', buyer, buyer, state, face_paise,
        buyer_paise, case state when 'pending' then dealt_at + interval '10 years' end, 1, dealt_at,
        dealt_at
      from deals
    ), legs as (
      insert into settlement_legs (
        settlement_id, scrip_no, environment, scheme, dealt_at, seller_desk_id, seller_firm_id,
        face_paise, seller_bps, buyer_bps, seller_paise, buyer_paise, ordinal, state,
        answered_at
      )
      select settlement_id, scrip_no, environment, scheme, dealt_at, seller, seller, face_paise,
        seller_bps, buyer_bps, seller_paise, buyer_paise, 0, state,
        case state when 'failed' then dealt_at end
      from deals
    )
    insert into deal_minutes as m (environment, scheme, minute, deals, shown_paise)
    select environment, scheme, date_trunc('minute', dealt_at, 'UTC') as minute, count(*),
      sum(shown_face(face_paise))
    from deals
    group by environment, scheme, minute
    on conflict (environment, scheme, minute) do update
    set deals = m.deals + excluded.deals, shown_paise = m.shown_paise + excluded.shown_paise`,
    [JSON.stringify(rows)],
  );
}

function buildRow(deal: TestDeal, now: Date) {
  const { environment = "sandbox", scheme = "RODTEP", facePaise, sellerBps } = deal;
  const { buyerBps = sellerBps, dealtAt = now } = deal;
  const body = newId("evt", dealtAt).slice(4);
  return {
    settlement_id: `stl_${body}`,
    environment,
    scheme,
    buyer: deal.buyerFirmId ?? houseFirmId[environment],
    seller: deal.sellerFirmId ?? newId("frm", dealtAt),
    scrip_no: deal.scripNo ?? body.toUpperCase().slice(2),
    face_paise: facePaise,
    seller_bps: sellerBps,
    buyer_bps: buyerBps,
    seller_paise: priceFloor(facePaise, sellerBps),
    buyer_paise: priceCeil(facePaise, buyerBps),
    dealt_at: dealtAt,
    state: deal.state ?? "pending",
  };
}
