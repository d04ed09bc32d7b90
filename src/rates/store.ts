import { exactJson } from "../kernel/json.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Paise } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import {
  command,
  type Db,
  fragment,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import {
  bigint,
  int,
  day,
  numeric,
  shape,
  table,
  text,
  time,
  uuid,
} from "../platform/postgres/table.ts";
import {
  type AuthoredCard,
  type CardToday,
  type RateCard,
  type DeskDay,
  shelfShareCredits,
} from "./rules.ts";

const cardColumns = fragment`
  environment, scheme, version, state, mid_bps, half_spread_bps, size_bands, validity_bands,
  floor_bps, ceiling_bps, ask_ceiling_bps, face_max_paise, house_limit_paise, desk_share_bps,
  quote_window_s, rest_min_paise, margin_bps, fee_bps, default_bps, published_at, published_by, note`;

/** The card in force of every scheme that has one. */
export function listCurrentCards(environment: Environment): Query<RateCard[]> {
  return query(sql`
    select distinct on (scheme) ${cardColumns}
    from rate_cards
    where environment = ${environment}
    order by scheme, version desc`);
}

const moments = shape({ scheme: text<Scheme>(), at: time() });

/**
 * The mid of the cards that were in force then, by the position of the moment; before the first card,
 * its own.
 */
export function listMidsAt(
  environment: Environment,
  wanted: readonly { readonly scheme: Scheme; readonly at: Date }[],
): Query<
  (Pick<RateCard, "mid_bps" | "floor_bps" | "ask_ceiling_bps"> & { readonly position: number })[]
> {
  return query(sql`
    select asked.position::int as position, card.mid_bps, card.floor_bps, card.ask_ceiling_bps
    from ${moments.numbered(["scheme", "at"], wanted)} as asked
    cross join lateral (
      select mid_bps, floor_bps, ask_ceiling_bps
      from rate_cards
      where rate_cards.environment = ${environment} and rate_cards.scheme = asked.scheme
      order by published_at <= asked.at desc,
        case when published_at <= asked.at then version else -version end desc
      limit 1
    ) as card`);
}

/** What differs for single desks of the sandbox. */
export type CardOfDesks = CardToday & {
  /** They halted the market for themselves (scenario market_halt). */
  readonly halted_desks: readonly string[];
  /**
   * The desks that have half their share of something or more; null when there is none. They are few,
   * and who has less counts as having nothing.
   */
  readonly desk_days: Readonly<Record<string, DeskDay>> | null;
};

const todayColumns = fragment`
  card.*, least(coalesce(taken.taken_paise, 0), 9007199254740991)::bigint as taken_paise,
  coalesce((
    select case when fee.is_on then fee.gst_bps end
    from tax_rates as fee
    where fee.environment = card.environment and fee.line = 'fee'
      and fee.effective_from <= today.day
    order by fee.effective_from desc
    limit 1
  ), 0) as gst_bps,
  array(
    select desk_id
    from sandbox_scenarios
    where card.environment = 'sandbox' and scenario = 'market_halt'
  ) as halted_desks,
  (
    select jsonb_object_agg(d.desk_id, jsonb_build_object(
      'taken_paise', least(d.taken_paise, 9007199254740991), 'shelf_credits', d.shelf_credits
    ))
    from house_desk_days as d
    where card.environment = 'sandbox' and d.scheme = card.scheme and d.day = today.day
      and (
        d.taken_paise * 20000 >= card.house_limit_paise::numeric * card.desk_share_bps
        or d.shelf_credits * 2 >= today.shelf_share
      )
  ) as desk_days`;

/** Beside `today`, `e.environment` and `s.scheme`. */
const cardInForce = fragment`
  lateral (
    select *
    from rate_cards
    where rate_cards.environment = e.environment and rate_cards.scheme = s.scheme
    order by version desc
    limit 1
  ) as card
  left join house_days as taken
    on taken.environment = card.environment and taken.scheme = card.scheme
      and taken.day = today.day`;

/** The card in force of every scheme that has one, and what the house bought on this day. */
export function listCardsToday(
  environments: readonly Environment[],
  day: IstDay,
): Query<CardOfDesks[]> {
  return query(sql`
    select ${todayColumns}
    from (select ${day}::date as day, ${shelfShareCredits}::int as shelf_share) as today
    cross join unnest(${environments}::text[]) as e (environment)
    cross join unnest(${schemes}::text[]) as s (scheme)
    cross join ${cardInForce}`);
}

/** The same, with the holds of open quotes of other processes. */
export function listCardsWithQuotes(
  environments: readonly Environment[],
  { day, node, now }: { readonly day: IstDay; readonly node: string; readonly now: Date },
): Query<(CardOfDesks & { readonly quoted_paise: Paise })[]> {
  return query(sql`
    select ${todayColumns},
      (
        select least(coalesce(sum(q.face_paise), 0), 9007199254740991)::bigint
        from house_quoted as q
        where q.environment = card.environment and q.scheme = card.scheme
          and q.node_id <> ${node}::uuid and q.until >= ${now}
      ) as quoted_paise
    from (select ${day}::date as day, ${shelfShareCredits}::int as shelf_share) as today
    cross join unnest(${environments}::text[]) as e (environment)
    cross join unnest(${schemes}::text[]) as s (scheme)
    cross join ${cardInForce}`);
}

/** Market by market, newest first: every version, or only those in force. */
export async function listCardRows(
  db: Db,
  search: {
    readonly environment: Environment | null;
    readonly scheme: Scheme | null;
    readonly history: boolean;
  },
): Promise<AuthoredCard[]> {
  return await db.rows(sql`
    select ${cardColumns}, approved_by
    from rate_cards as card
    where (${search.environment}::text is null or environment = ${search.environment})
      and (${search.scheme}::text is null or scheme = ${search.scheme})
      and (${search.history}::boolean or not exists (
        select 1
        from rate_cards as later
        where later.environment = card.environment and later.scheme = card.scheme
          and later.version > card.version
      ))
    order by environment, scheme, version desc`);
}

/** An advisory lock, because cards are only inserted and there may be no row to lock. */
export async function lockScheme(tx: Tx, environment: Environment, scheme: Scheme): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('rate_cards'), hashtext(${`${environment} ${scheme}`}))`);
}

export async function findCurrentCard(
  db: Db,
  environment: Environment,
  scheme: Scheme,
): Promise<RateCard | undefined> {
  const [card] = await db.rows<RateCard>(sql`
    select ${cardColumns}
    from rate_cards
    where environment = ${environment} and scheme = ${scheme}
    order by version desc
    limit 1`);
  return card;
}

/** The last card that two operators approved or that is older than `since`; else the first card. */
export async function findSettledCard(
  db: Db,
  { environment, scheme, since }: { environment: Environment; scheme: Scheme; since: Date },
): Promise<RateCard | undefined> {
  const [card] = await db.rows<RateCard>(sql`
    select ${cardColumns}
    from rate_cards
    where environment = ${environment} and scheme = ${scheme}
      and (published_at <= ${since} or approved_by is not null or version = 1)
    order by version desc
    limit 1`);
  return card;
}

export async function insertCard(
  tx: Tx,
  card: RateCard,
  approvedBy: string | null = null,
): Promise<void> {
  await tx.rows(sql`
    insert into rate_cards (${cardColumns}, approved_by)
    values (
      ${card.environment}, ${card.scheme}, ${card.version}, ${card.state}, ${card.mid_bps},
      ${card.half_spread_bps}, ${exactJson(card.size_bands)}::jsonb,
      ${exactJson(card.validity_bands)}::jsonb, ${card.floor_bps}, ${card.ceiling_bps},
      ${card.ask_ceiling_bps}, ${card.face_max_paise}, ${card.house_limit_paise},
      ${card.desk_share_bps}, ${card.quote_window_s}, ${card.rest_min_paise}, ${card.margin_bps}, ${card.fee_bps},
      ${card.default_bps}, ${card.published_at},
      ${card.published_by}, ${card.note}, ${approvedBy}
    )`);
}

/** The least `default_bps` of the cards that were in force at `since` or later, of each scheme with a card. */
export function listDefaultBps(
  environment: Environment,
  since: Date,
): Query<{ readonly scheme: Scheme; readonly default_bps: number }[]> {
  return query(sql`
    select s.scheme, told.default_bps
    from unnest(${schemes}::text[]) as s (scheme)
    cross join lateral (
      select min(c.default_bps) as default_bps
      from rate_cards as c
      where c.environment = ${environment} and c.scheme = s.scheme
        and c.version >= coalesce((
          select before.version
          from rate_cards as before
          where before.environment = ${environment} and before.scheme = s.scheme
            and before.published_at <= ${since}
          order by before.version desc
          limit 1
        ), 1)
    ) as told
    where told.default_bps is not null`);
}

export async function findDefaultBps(
  db: Db,
  { environment, scheme, version }: Pick<RateCard, "environment" | "scheme" | "version">,
): Promise<number> {
  const [card] = await db.rows<{ default_bps: number }>(sql`
    select default_bps
    from rate_cards
    where environment = ${environment} and scheme = ${scheme} and version = ${version}`);
  if (!card) throw new Error("a card that priced something stays");
  return card.default_bps;
}

const houseDays = table("house_days", {
  environment: text<Environment>(),
  scheme: text<Scheme>(),
  day: day(),
  taken_paise: numeric<Paise>(),
});

export type HouseTaking = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly paise: number;
};

/** Adds to what the house has bought on that day. */
export function addToHouseDays(day: IstDay, added: readonly HouseTaking[]): Query<void> {
  const rows = added.map(({ environment, scheme, paise }) => ({
    environment,
    scheme,
    taken_paise: paise,
  }));
  return command(sql`
    insert into house_days as h ${houseDays.values(houseDays.all, rows, { day })}
    order by environment, scheme
    on conflict (environment, scheme, day)
    do update set taken_paise = h.taken_paise + excluded.taken_paise`);
}

const houseDeskDays = table("house_desk_days", {
  scheme: text<Scheme>(),
  day: day(),
  desk_id: text(),
  taken_paise: numeric<Paise>(),
  shelf_credits: int(),
});

/** What a desk gets of the sandbox's house. */
export type DeskTaking = DeskDay & { readonly scheme: Scheme; readonly desk_id: string };

/** Adds to what desks have had of the sandbox's house on that day. */
export function addToDeskDays(day: IstDay, added: readonly DeskTaking[]): Query<void> {
  return command(sql`
    insert into house_desk_days as h ${houseDeskDays.values(houseDeskDays.all, added, { day })}
    order by scheme, desk_id
    on conflict (scheme, day, desk_id) do update
    set taken_paise = h.taken_paise + excluded.taken_paise,
      shelf_credits = h.shelf_credits + excluded.shelf_credits`);
}

type QuotedRow = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly desk_id: string;
  readonly face_paise: Paise;
};

/** The holds of other processes. */
export function listQuotedElsewhere({
  node,
  now,
}: {
  readonly node: string;
  readonly now: Date;
}): Query<QuotedRow[]> {
  return query(sql`
    select environment, scheme, desk_id,
      least(sum(face_paise), 9007199254740991)::bigint as face_paise
    from house_quoted
    where node_id <> ${node}::uuid and until >= ${now} and face_paise > 0
    group by environment, scheme, desk_id`);
}

const houseQuoted = table("house_quoted", {
  environment: text<Environment>(),
  scheme: text<Scheme>(),
  desk_id: text(),
  node_id: uuid(),
  face_paise: bigint(),
  until: time(),
  sequence: bigint(),
});

export type Quoted = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly deskId: string;
  readonly paise: Paise;
  readonly until: Date;
};

/**
 * What the open quotes of this process hold of these desks; what others had told and has ended
 * goes.
 */
export function setQuoted(
  { node, sequence, now }: { readonly node: string; readonly sequence: number; readonly now: Date },
  sums: readonly Quoted[],
): Query<void> {
  const told = houseQuoted.rows(
    {
      environment: (sum: Quoted) => sum.environment,
      scheme: (sum) => sum.scheme,
      desk_id: (sum) => sum.deskId,
      face_paise: (sum) => sum.paise,
      until: (sum) => sum.until,
    },
    sums,
  );
  return command(sql`
    with told as (
      select environment, scheme, desk_id, face_paise, until
      from ${told} as t
    ),
    ended as (
      delete from house_quoted as q
      using told
      where q.environment = told.environment and q.scheme = told.scheme
        and q.desk_id = told.desk_id and q.node_id <> ${node}::uuid and q.until < ${now}
    )
    insert into house_quoted as q (
      environment, scheme, desk_id, node_id, face_paise, until, sequence
    )
    select environment, scheme, desk_id, ${node}::uuid, face_paise, until, ${sequence}::bigint
    from told
    order by environment, scheme, desk_id
    on conflict (environment, scheme, desk_id, node_id) do update
    set face_paise = excluded.face_paise, until = excluded.until, sequence = excluded.sequence
    where q.sequence < excluded.sequence`);
}
