// What deals were worth to the clients, from the stored rows alone. A credit is worth the mid of the
// card that priced its deal, less what the card takes off for its remaining life: each deal is looked
// at with either worth, and none may leave the clients with more than they had.

import { isHouse } from "../../src/kernel/ids.ts";
import { dayNumber, istDay } from "../../src/kernel/time.ts";
import type { Queryable } from "../support/invariants.ts";

export type Balance = {
  readonly deals: number;
  /** What the clients together lost by dealing; below zero they gained. */
  readonly clientsLostPaise: bigint;
  /** Each way in which clients gained, or in which the house's money is not explained. */
  readonly breaches: readonly string[];
};

type Leg = {
  readonly settlement_id: string;
  readonly scrip_no: string;
  readonly state: string;
  readonly dealt_at: Date;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly seller_order_id: string | null;
  readonly buyer_order_id: string | null;
  readonly face_paise: string;
  readonly seller_paise: string;
  readonly buyer_paise: string;
  readonly expires_on: string | null;
  readonly mid_bps: number;
  readonly validity_bands: readonly { readonly from_days: number; readonly bps: number }[];
};

const par = 10_000n;

export async function valueDeals(db: Queryable): Promise<Balance> {
  const legs = await listLegs(db);
  const live = legs.filter(({ state }) => state !== "failed");
  const byDeal = Map.groupBy(live, sideOfDeal);
  const breaches = [...byDeal].flatMap(([deal, parts]) => {
    // In parts of a paisa, as worth is not rounded.
    const gains = [worthAtMid, worthByLife].map((worth) =>
      sum(parts.map((leg) => computeGain(leg, worth(leg)))),
    );
    return gains.some((gain) => gain > 0n)
      ? [`${deal}: clients gained ${gains.join(" and ")} ten-thousandths of a paisa`]
      : [];
  });
  const lost = -sum(live.map((leg) => computeGain(leg, worthAtMid(leg)))) / par;
  return {
    deals: byDeal.size,
    clientsLostPaise: lost,
    breaches: [...breaches, ...(await houseBreaches(db, legs))],
  };
}

/** The parts of one order with the house are rounded together; between clients each leg stands alone. */
function sideOfDeal(leg: Leg): string {
  if (isHouse(leg.buyer_firm_id)) return `sell ${leg.seller_order_id}`;
  if (isHouse(leg.seller_firm_id)) return `buy ${leg.buyer_order_id}`;
  return `${leg.scrip_no} of ${leg.settlement_id}`;
}

/** What all clients together have more by a leg, in ten-thousandths of a paisa. */
function computeGain(leg: Leg, worth: bigint): bigint {
  if (isHouse(leg.buyer_firm_id)) return BigInt(leg.seller_paise) * par - worth;
  if (isHouse(leg.seller_firm_id)) return worth - BigInt(leg.buyer_paise) * par;
  return (BigInt(leg.seller_paise) - BigInt(leg.buyer_paise)) * par;
}

function worthAtMid({ face_paise, mid_bps }: Leg): bigint {
  return BigInt(face_paise) * BigInt(mid_bps);
}

function worthByLife(leg: Leg): bigint {
  if (leg.expires_on === null) return worthAtMid(leg);
  const days = dayNumber(leg.expires_on) - dayNumber(istDay(leg.dealt_at));
  const band = leg.validity_bands.find(({ from_days }) => days >= from_days);
  return BigInt(leg.face_paise) * BigInt(leg.mid_bps + (band?.bps ?? 0));
}

/** The house has what delivered legs left it, wherever it keeps it or passed it on as commission. */
async function houseBreaches(db: Queryable, legs: readonly Leg[]): Promise<string[]> {
  const { rows } = await db.query(`
    select coalesce(sum(posted_paise), 0)::text as paise
    from ledger_balances
    where environment = 'sandbox'
      and kind in ('house_cash', 'house_fees', 'gst_payable', 'desk_commission')`);
  const [{ paise } = { paise: "0" }] = rows as { paise: string }[];
  const earned = sum(
    legs
      .filter(({ state }) => state === "delivered")
      .map((leg) => {
        if (isHouse(leg.buyer_firm_id)) return -BigInt(leg.seller_paise);
        if (isHouse(leg.seller_firm_id)) return BigInt(leg.buyer_paise);
        return BigInt(leg.buyer_paise) - BigInt(leg.seller_paise);
      }),
  );
  return earned === BigInt(paise)
    ? []
    : [`the house has ${paise} paise, its deals explain ${earned}`];
}

/**
 * A quote's card priced its order; any other deal was priced by the card of its moment. A holding of
 * the same instant that was given up before has the earlier change.
 */
async function listLegs(db: Queryable): Promise<Leg[]> {
  const { rows } = await db.query(`
    select l.settlement_id, l.scrip_no, l.state, l.dealt_at, l.seller_firm_id, s.buyer_firm_id,
      l.seller_order_id, s.buyer_order_id, l.face_paise::text, l.seller_paise::text,
      l.buyer_paise::text, held.expires_on::text, card.mid_bps, card.validity_bands
    from settlement_legs as l
    join settlements as s on s.settlement_id = l.settlement_id
    left join orders as o on o.order_id = coalesce(
      case when s.buyer_firm_id like 'frm_0000000000000000000000000%' then l.seller_order_id end,
      s.buyer_order_id)
    left join quotes as q on q.quote_ref = o.quote_ref
    left join lateral (
      select c.expires_on
      from credits as c
      where c.scrip_no = l.scrip_no and c.firm_id = l.seller_firm_id and c.created_at <= l.dealt_at
      order by c.created_at desc, c.changed_in desc
      limit 1
    ) as held on true
    join rate_cards as card
      on card.environment = l.environment and card.scheme = l.scheme
      and card.version = coalesce(
        q.card_version,
        (
          select max(r.version)
          from rate_cards as r
          where r.environment = l.environment and r.scheme = l.scheme
            and r.published_at <= l.dealt_at
        ),
        1
      )
    order by l.dealt_at, l.settlement_id, l.ordinal`);
  return rows as Leg[];
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
