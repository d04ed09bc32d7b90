import type { Environment } from "../kernel/caller.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import type { PaiseSum } from "../kernel/money.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { DepthBand, LogPosition, Tape, UpdateKind } from "./rules.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bigint, shape, table, text, time } from "../platform/postgres/table.ts";

const marketUpdates = table("market_updates", {
  environment: text(),
  epoch: text(),
  seq: bigint(),
  scheme: text(),
  kind: text(),
  body: text(),
  buyer_body: text(),
  created_at: time(),
});

/** The NOTIFY channel that wakes readers when a log has grown. */
export const marketNotices = "market_updates";

export type UpdateRow = LogPosition & {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly kind: UpdateKind;
  readonly body: string;
  readonly buyer_body: string;
  readonly created_at: Date;
};

type TapeRow = {
  readonly scheme: Scheme;
  readonly seller_bps: number | null;
  readonly face_paise: number;
  readonly dealt_at: Date;
  readonly volume_paise: PaiseSum;
  readonly count: number;
};

/**
 * The last deal of every scheme, and what was dealt after an instant: what is left of its minute by
 * the leg, the minutes after it as they were added up. What another node's clock has dealt later than
 * `until` is taken off again. Its instant is found first, and only the deals of that instant are
 * sorted: without `offset 0` the planner may walk the primary key backwards instead.
 */
export async function findTapes(
  db: Db,
  { environment, after, until }: { environment: Environment; after: Date; until: Date },
): Promise<ReadonlyMap<Scheme, Tape>> {
  const rows = await db.rows<TapeRow>(sql`
    select asked.scheme, last.seller_bps, last.face_paise, last.dealt_at, day.volume_paise, day.count
    from unnest(${schemes}::text[]) as asked (scheme)
    left join lateral (
      select dealt_at
      from settlement_legs
      where environment = ${environment} and scheme = asked.scheme and dealt_at <= ${until}
        and not private
      order by dealt_at desc
      limit 1
    ) as latest on true
    left join lateral (
      select seller_bps, shown_face(face_paise)::bigint as face_paise, dealt_at
      from (
        select *
        from settlement_legs
        where environment = ${environment} and scheme = asked.scheme
          and dealt_at = latest.dealt_at and not private
        offset 0
      ) as same_instant
      order by settlement_id desc, scrip_no desc
      limit 1
    ) as last on true
    cross join lateral (
      select coalesce(sum(shown_paise), 0) as volume_paise,
        coalesce(sum(deals), 0)::integer as count
      from (
        select shown_paise, deals
        from deal_minutes
        where environment = ${environment} and scheme = asked.scheme and minute > ${after}
        union all
        select shown_face(face_paise), 1
        from settlement_legs
        where environment = ${environment} and scheme = asked.scheme and dealt_at > ${after}
          and not private
          and dealt_at < date_trunc('minute', ${after}::timestamptz, 'UTC') + interval '1 minute'
        union all
        select -shown_face(face_paise), -1
        from settlement_legs
        where environment = ${environment} and scheme = asked.scheme and dealt_at > ${until}
          and not private
      ) as parts
    ) as day`);
  return new Map(
    rows.map(({ scheme, seller_bps, face_paise, dealt_at, volume_paise, count }) => {
      const last = seller_bps === null ? null : { seller_bps, face_paise, dealt_at };
      return [scheme, { last, volume_paise, count }];
    }),
  );
}

/** A size band of a card, with its lower bound. */
export type AskedBand = {
  readonly scheme: Scheme;
  readonly from_paise: number;
  readonly below_paise: number | null;
};

export type DepthRow = {
  readonly scheme: Scheme;
  readonly bands: readonly DepthBand[];
  readonly counted_on: IstDay;
};

/** The last counts of the credits that the house could sell. */
export async function listDepths(db: Db, environment: Environment): Promise<DepthRow[]> {
  return await db.rows(sql`
    select scheme, bands, counted_on
    from market_depths
    where environment = ${environment}`);
}

/** Whether a credit of the house changed in a transaction that the last count may have missed. */
export async function hasHouseChanged(db: Db, environment: Environment): Promise<boolean> {
  const [row] = await db.rows<{ changed: boolean }>(sql`
    select coalesce(min(counted_in) <= (
      select house_changed_in
      from credits
      where environment = ${environment} and house_changed_in is not null
      order by house_changed_in desc
      limit 1
    ), false) as changed
    from market_depths
    where environment = ${environment}`);
  return row?.changed ?? false;
}

const askedBands = shape({
  scheme: text<Scheme>(),
  from_paise: bigint(),
  below_paise: bigint().orNull,
});

/** Counts the credits that the house could sell. Of two concurrent counts the newer snapshot stays. */
export async function countDepths(
  db: Db,
  {
    environment,
    today,
    usableUntil,
    bands,
  }: {
    readonly environment: Environment;
    readonly today: IstDay;
    readonly usableUntil: IstDay;
    readonly bands: readonly AskedBand[];
  },
): Promise<void> {
  await db.rows(sql`
    insert into market_depths as known (environment, scheme, bands, counted_in, counted_on)
    select ${environment}, band.scheme,
      jsonb_agg(
        jsonb_build_object(
          'below_paise', band.below_paise,
          'count', held.count,
          'face_paise', round(held.sum, 2 - length(held.sum::text))
        )
        order by band.position
      ),
      pg_snapshot_xmin(pg_current_snapshot()), ${today}::date
    from ${askedBands.numbered(askedBands.all, bands)} as band
    cross join lateral (
      select count(*) as count, coalesce(sum(face_paise), 0) as sum
      from credits
      where environment = ${environment} and scheme = band.scheme and house_offers
        and face_paise >= band.from_paise
        and face_paise < coalesce(band.below_paise, 9223372036854775807)
        and expires_on >= ${usableUntil}::date
    ) as held
    group by band.scheme
    on conflict (environment, scheme) do update
    set bands = excluded.bands, counted_in = excluded.counted_in, counted_on = excluded.counted_on
    where known.counted_in <= excluded.counted_in`);
}

/** The last update of every scheme; empty when there is no log. */
export async function listLatest(db: Db, environment: Environment): Promise<UpdateRow[]> {
  return await db.rows(sql`
    select latest.environment, latest.epoch, latest.seq, latest.scheme, latest.kind, latest.body,
      latest.buyer_body, latest.created_at
    from market_logs as log
    cross join unnest(${schemes}::text[]) with ordinality as asked (scheme, place)
    cross join lateral (
      select environment, epoch, seq, scheme, kind, body, buyer_body, created_at
      from market_updates
      where environment = log.environment and epoch = log.epoch and scheme = asked.scheme
      order by seq desc
      limit 1
    ) as latest
    where log.environment = ${environment}
    order by asked.place`);
}

/** The updates after a position, oldest first; empty when the log was restarted. */
export async function listAfter(
  db: Db,
  environment: Environment,
  { epoch, seq, limit }: LogPosition & { readonly limit: number },
): Promise<UpdateRow[]> {
  return await db.rows(sql`
    select environment, epoch, seq, scheme, kind, body, buyer_body, created_at
    from market_updates
    where environment = ${environment} and epoch = ${epoch} and seq > ${seq}
    order by seq
    limit ${limit}`);
}

/** The end of the log; undefined when there is no log. */
export async function findEnd(db: Db, environment: Environment): Promise<LogPosition | undefined> {
  const [row] = await db.rows<LogPosition>(sql`
    select epoch, seq
    from market_logs
    where environment = ${environment}`);
  return row;
}

/** Begins a log if there is none. */
export async function insertLog(tx: Tx, environment: Environment, epoch: string): Promise<void> {
  await tx.rows(sql`
    insert into market_logs (environment, epoch, seq)
    values (${environment}, ${epoch}, 0)
    on conflict (environment) do nothing`);
}

/** Locks the end of the log, so that no other transaction appends. */
export async function lockEnd(tx: Tx, environment: Environment): Promise<LogPosition | undefined> {
  const [row] = await tx.rows<LogPosition>(sql`
    select epoch, seq
    from market_logs
    where environment = ${environment}
    for update`);
  return row;
}

export const { insert: insertUpdates } = rowsBy(marketUpdates, {
  key: ["environment", "epoch", "seq"],
});

/** Moves the end, and wakes the readers at commit. */
export async function setEnd(tx: Tx, environment: Environment, seq: number): Promise<void> {
  await tx.rows(sql`
    with moved as (
      update market_logs
      set seq = ${seq}
      where environment = ${environment}
      returning environment
    )
    select pg_notify(${marketNotices}, environment) from moved`);
}

/** Deletes updates up to a position, except the last update of each scheme. */
export async function deleteUpTo(
  tx: Tx,
  environment: Environment,
  place: LogPosition,
): Promise<void> {
  await tx.rows(sql`
    delete from market_updates as old
    where environment = ${environment} and epoch = ${place.epoch} and seq <= ${place.seq}
      and exists (
        select 1
        from market_updates as newer
        where newer.environment = old.environment and newer.epoch = old.epoch
          and newer.scheme = old.scheme and newer.seq > old.seq
      )`);
}
