// Statements on resting orders: for the book, for the matcher and for the workers that end them.

import { exactJson } from "../kernel/json.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Bps, Paise } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, query, type Query, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { SetAsideCredit } from "./order-rules.ts";
import { orderColumns, type OrderRow, orders } from "./order-store.ts";

/** The schemes in which an order rests. */
export async function listRestingSchemes(db: Db, environment: Environment): Promise<Scheme[]> {
  const rows = await db.rows<{ scheme: Scheme }>(sql`
    select s.scheme
    from unnest(${schemes}::text[]) as s (scheme)
    where exists (
      select
      from orders
      where environment = ${environment} and scheme = s.scheme and state = 'open' and side = 'buy'
    ) or exists (
      select
      from orders
      where environment = ${environment} and scheme = s.scheme and state = 'open' and side = 'sell'
    )`);
  return rows.map(({ scheme }) => scheme);
}

type RestingBuysQuery = {
  readonly schemes: readonly Scheme[];
  readonly now: Date;
  /** Most rows per scheme, and per desk of it. */
  readonly limit: number;
  readonly ofDesk: number;
  /** Most rows per desk that are checked for firms that may trade. */
  readonly throughDesk: number;
};

/**
 * The resting buys with priority, per scheme, by price, then time, of firms that may trade. Every
 * desk's best comes before any desk's second best, so that no desk hides the orders of others. The
 * recursive part is a loose index scan over the desks.
 */
export function listRestingBuys(
  environment: Environment,
  { schemes, now, limit, ofDesk, throughDesk }: RestingBuysQuery,
): Query<OrderRow[]> {
  return query(sql`
    select ${orderColumns}
    from unnest(${schemes}::text[]) as s (scheme)
    cross join lateral (
      with recursive desks (desk_id) as (
        (
          select r.desk_id
          from orders as r
          where r.environment = ${environment} and r.scheme = s.scheme
            and r.state = 'open' and r.side = 'buy'
          order by r.desk_id
          limit 1
        )
        union all
        select (
          select r.desk_id
          from orders as r
          where r.environment = ${environment} and r.scheme = s.scheme
            and r.state = 'open' and r.side = 'buy' and r.desk_id > desks.desk_id
          order by r.desk_id
          limit 1
        )
        from desks
        where desks.desk_id is not null
      )
      select best.*
      from desks
      cross join lateral (
        select
          of_desk.*,
          row_number() over (
            order by of_desk.price_bps desc, of_desk.created_at, of_desk.order_id
          ) as place
        from (
          select r.*
          from orders as r
          where r.environment = ${environment} and r.scheme = s.scheme
            and r.state = 'open' and r.side = 'buy' and r.desk_id = desks.desk_id
            and (r.expires_at is null or r.expires_at > ${now})
          order by r.price_bps desc, r.created_at, r.order_id
          limit ${throughDesk}
        ) as of_desk
        cross join lateral (
          select connection_state, mandate
          from firms as found
          where found.firm_id = of_desk.firm_id
          limit 1
        ) as f
        where f.connection_state = 'authorized'
          and (f.mandate is null or (f.mandate ->> 'valid_until')::timestamptz > ${now})
        order by place
        limit ${ofDesk}
      ) as best
      order by best.place, best.price_bps desc, best.created_at, best.order_id
      limit ${limit}
    ) as o
    order by o.scheme, o.price_bps desc, o.created_at, o.order_id`);
}

/** Resting sells up to this limit, cheapest first, then earliest. */
export async function listRestingSells(
  db: Db,
  of: {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly limitBpsMax: Bps;
    readonly now: Date;
    /** The last row of the page before. */
    readonly after: OrderRow | undefined;
    readonly limit: number;
  },
): Promise<OrderRow[]> {
  return await db.rows(sql`
    select ${orderColumns}
    from orders as o
    where o.environment = ${of.environment} and o.scheme = ${of.scheme}
      and o.state = 'open' and o.side = 'sell' and o.limit_bps <= ${of.limitBpsMax}
      and (o.expires_at is null or o.expires_at > ${of.now})
      and (o.limit_bps, o.created_at, o.order_id) > (
        ${of.after?.limit_bps ?? 0}::int,
        coalesce(${of.after?.created_at ?? null}::timestamptz, '-infinity'),
        ${of.after?.order_id ?? ""}
      )
    order by o.limit_bps, o.created_at, o.order_id
    limit ${of.limit}`);
}

export type OfferedRow = Pick<
  OrderRow,
  "order_id" | "firm_id" | "scheme" | "state" | "limit_bps" | "scrip_nos" | "resting_scrip_nos"
>;

export type OfferedPageRow = OfferedRow & Pick<OrderRow, "created_at">;

/**
 * Resting sells, one page. The pages follow the index of resting sells, whose columns never change
 * while an order rests; no page reads the rows of the pages before.
 */
export async function listOffered(
  db: Db,
  environment: Environment,
  { after, limit }: { readonly after: OfferedPageRow | undefined; readonly limit: number },
): Promise<OfferedPageRow[]> {
  return await db.rows(sql`
    select
      order_id, firm_id, scheme, state, limit_bps, scrip_nos, resting_scrip_nos, created_at
    from orders
    where environment = ${environment} and state = 'open' and side = 'sell'
      and (scheme, limit_bps, created_at, order_id) > (
        ${after?.scheme ?? ""},
        ${after?.limit_bps ?? 0}::int,
        coalesce(${after?.created_at ?? null}::timestamptz, '-infinity'),
        ${after?.order_id ?? ""}
      )
    order by scheme, limit_bps, created_at, order_id
    limit ${limit}`);
}

/**
 * Sells that rest or rested and were changed by transaction `since` or later, and the horizon for
 * the next call. Rows with an id above all transactions come from a restored backup; the load has
 * read them.
 */
export async function listOfferedSince(
  db: Db,
  environment: Environment,
  since: string | null,
): Promise<{ readonly horizon: string; readonly rows: OfferedRow[] }> {
  const [horizon] = await db.rows<{ horizon: string; rows: OfferedRow[] }>(sql`
    select
      pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
      coalesce(
        (
          select jsonb_agg(
            jsonb_build_object(
              'order_id', o.order_id, 'firm_id', o.firm_id, 'scheme', o.scheme, 'state', o.state,
              'limit_bps', o.limit_bps, 'scrip_nos', o.scrip_nos,
              'resting_scrip_nos', o.resting_scrip_nos
            )
          )
          from orders as o
          where o.environment = ${environment} and o.rested and o.side = 'sell'
            and o.changed_in >= ${since}::xid8
            and o.changed_in < pg_snapshot_xmax(pg_current_snapshot())
        ),
        '[]'
      ) as rows`);
  if (!horizon) throw new Error("there is always a horizon");
  return horizon;
}

/**
 * Credits of resting sells that are not available: of the firms of these orders, of firms that may
 * not trade, and of expired sells.
 */
export async function listNotOffered(
  db: Db,
  environment: Environment,
  { beside, now }: { readonly beside: readonly string[]; readonly now: Date },
): Promise<string[]> {
  const rows = await db.rows<{ scrip_no: string }>(sql`
    select unnest(o.resting_scrip_nos) as scrip_no
    from orders as o
    where o.environment = ${environment} and o.state = 'open' and o.side = 'sell'
      and o.firm_id in (
        select firm_id
        from orders
        where order_id = any(${beside}::text[])
        union
        select firm_id
        from firms
        where environment = ${environment}
          and (
            connection_state <> 'authorized'
            or (mandate ->> 'valid_until')::timestamptz <= ${now}
          )
      )
    union
    select unnest(o.resting_scrip_nos)
    from orders as o
    where o.environment = ${environment} and o.state = 'open' and o.side = 'sell'
      and o.expires_at <= ${now}`);
  return rows.map((row) => row.scrip_no);
}

/** Partly dealt sells whose remainder is below the minimum that may rest. */
export async function listBelowMinimum(
  db: Db,
  environment: Environment,
  {
    scheme,
    minPaise,
    limit,
    except,
  }: { scheme: Scheme; minPaise: Paise; limit: number; except: readonly string[] },
): Promise<string[]> {
  const rows = await db.rows<{ order_id: string }>(sql`
    select o.order_id
    from orders as o
    where o.environment = ${environment} and o.scheme = ${scheme}
      and o.state = 'open' and o.side = 'sell'
      and o.dealt_paise > 0 and o.covered_paise - o.dealt_paise < ${minPaise}
      and o.order_id <> all(${except}::text[])
    limit ${limit}`);
  return rows.map((row) => row.order_id);
}

export async function listSetAside(
  db: Db,
  asked: readonly { readonly orderId: string; readonly scripNo: string }[],
): Promise<SetAsideCredit[]> {
  const numbers = orders.rows(
    { order_id: ({ orderId }) => orderId, scrip_no: ({ scripNo }) => scripNo },
    asked,
  );
  return await db.rows(sql`
    select a.scrip_no, o.scheme, o.limit_bps, o.order_id, o.expires_at,
      o.state = 'open' and a.scrip_no = any(o.resting_scrip_nos) as rests,
      c.state as credit_state, c.face_paise, c.expires_on, f.pan, f.connection_state, f.mandate
    from ${numbers} as a
    join orders as o on o.order_id = a.order_id
    join firms as f on f.firm_id = o.firm_id
    left join credits as c
      on c.environment = o.environment and c.scrip_no = a.scrip_no
      and c.standing = 'live' and c.reserved_for = o.order_id
      and c.state in ('reserved', 'suspended')`);
}

/**
 * Open sells with a credit that has ended at customs or expired. `limit 1` makes it an index lookup
 * per credit, whatever the table statistics say.
 */
export async function listOrdersWithoutCredits(
  db: Db,
  environment: Environment,
  {
    scheme,
    today,
    limit,
    except,
  }: Pick<Choice, "except"> & {
    readonly scheme: Scheme;
    readonly today: IstDay;
    readonly limit: number;
  },
): Promise<string[]> {
  const rows = await db.rows<{ order_id: string }>(sql`
    select o.order_id
    from orders as o
    where o.environment = ${environment} and o.scheme = ${scheme}
      and o.state = 'open' and o.side = 'sell'
      and o.order_id <> all(${except}::text[])
      and exists (
        select
        from unnest(o.resting_scrip_nos) as r (scrip_no)
        left join lateral (
          select true as is_there
          from credits as c
          where c.environment = o.environment and c.scrip_no = r.scrip_no
            and c.standing = 'live' and c.reserved_for = o.order_id
            and c.state in ('reserved', 'suspended')
            and c.expires_on >= ${today}::date
          limit 1
        ) as c on true
        where c.is_there is null
      )
    limit ${limit}`);
  return rows.map((row) => row.order_id);
}

/** What the matcher saw of a scheme at its last run, and what has changed since. */
export type Seen = {
  readonly scheme: Scheme;
  /** Card versions by scheme. */
  readonly seen_cards: Readonly<Partial<Record<Scheme, number>>>;
  /** Changes of all transactions below this id were seen. */
  readonly seen_before: string;
  /** All transactions below this id have ended: a read now sees their changes. */
  readonly seen_from: string;
  /** Whether an order of the scheme that rests or rested has changed since. */
  readonly rested_since: boolean;
};

/** One row per scheme. */
export async function listSeen(db: Db, environment: Environment): Promise<Seen[]> {
  return await db.rows(sql`
    select
      l.scheme, l.seen_cards, l.seen_before::text as seen_before,
      pg_snapshot_xmin(pg_current_snapshot())::text as seen_from,
      exists (
        select 1
        from orders as o
        where o.environment = l.environment and o.scheme = l.scheme
          and o.rested and o.changed_in >= l.seen_before
          and o.changed_in < pg_snapshot_xmax(pg_current_snapshot())
      ) as rested_since
    from match_locks as l
    where l.environment = ${environment}`);
}

export async function setSeen(
  tx: Tx,
  { environment, scheme }: { readonly environment: Environment; readonly scheme: Scheme },
  { cards, before }: { readonly cards: Seen["seen_cards"]; readonly before: string },
): Promise<void> {
  await tx.rows(sql`
    update match_locks
    set seen_cards = ${exactJson(cards)}::jsonb, seen_before = ${before}::xid8
    where environment = ${environment} and scheme = ${scheme}`);
}
