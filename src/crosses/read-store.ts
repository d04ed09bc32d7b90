// Reads of crosses: those that a caller has a side in or can answer, and those for the operator.

import type { Environment } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { crossColumns, type CrossRow } from "./store.ts";

/** A cross, with the caller's firm that can answer it. */
export type FoundCross = CrossRow & { readonly addressed_firm_id: string | null };

export type CrossFilter = {
  readonly status: string | null;
  readonly kind: string | null;
  readonly firmId: string | null;
  readonly nettingRef: string | null;
};

/** A cross that the caller has a side in or can answer. */
export async function findCross(
  db: Db,
  { deskId, firmId }: Visibility,
  crossId: string,
): Promise<FoundCross | undefined> {
  const [row] = await db.rows<FoundCross>(sql`
    select ${crossColumns}, f.firm_id as addressed_firm_id
    from crosses as c
    left join lateral (
      select firm_id
      from firms as found
      where found.environment || '' = c.environment and found.iec = c.awaited_iec
        and found.desk_id = ${deskId} and found.connection_state = 'authorized'
        and found.authorized_at <= c.created_at
        and (${firmId}::text is null or found.firm_id = ${firmId})
      limit 1
    ) as f on true
    where c.cross_id = ${crossId}
      and (
        f.firm_id is not null
        or c.seller_desk_id = ${deskId} and (${firmId}::text is null or c.seller_firm_id = ${firmId})
        or c.buyer_desk_id = ${deskId} and (${firmId}::text is null or c.buyer_firm_id = ${firmId})
      )`);
  return row;
}

/**
 * The same, locked. Only visible crosses are locked; the row is read again after the lock, because
 * another firm may have taken the open side meanwhile.
 */
export async function lockCross(
  tx: Tx,
  party: Visibility,
  crossId: string,
): Promise<FoundCross | undefined> {
  if (!(await findCross(tx, party, crossId))) return undefined;
  await tx.rows(sql`
    select
    from crosses
    where cross_id = ${crossId}
    for update`);
  return await findCross(tx, party, crossId);
}

/**
 * Newest first: the union of the latest sold, bought and answerable crosses. `offset 0` makes the
 * planner find the firms by desk first, not by how many firms are authorized.
 */
export async function listCrossRows(
  db: Db,
  { deskId, firmId }: Visibility,
  filter: CrossFilter,
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<FoundCross[]> {
  return await db.rows(sql`
    with place as (
      select coalesce(${after?.at ?? null}::timestamptz, 'infinity') as at, ${after?.id ?? ""} as id
    ), mine as (
      (
        select c.created_at as at, c.cross_id
        from crosses as c, place
        where c.seller_desk_id = ${deskId}
          and (c.created_at, c.cross_id) < (place.at, place.id)
          and (${filter.firmId}::text is null or c.seller_firm_id = ${filter.firmId})
          and (${filter.status}::text is null or c.state = ${filter.status})
          and (${filter.kind}::text is null or c.kind = ${filter.kind})
          and (${filter.nettingRef}::text is null or c.netting_ref = ${filter.nettingRef})
        order by c.created_at desc, c.cross_id desc
        limit ${fetch}
      )
      union
      (
        select c.created_at as at, c.cross_id
        from crosses as c, place
        where c.buyer_desk_id = ${deskId}
          and (c.created_at, c.cross_id) < (place.at, place.id)
          and (${filter.firmId}::text is null or c.buyer_firm_id = ${filter.firmId})
          and (${filter.status}::text is null or c.state = ${filter.status})
          and (${filter.kind}::text is null or c.kind = ${filter.kind})
          and (${filter.nettingRef}::text is null or c.netting_ref = ${filter.nettingRef})
        order by c.created_at desc, c.cross_id desc
        limit ${fetch}
      )
      union
      (
        select c.created_at as at, c.cross_id
        from (
          select firm_id, environment, iec, connection_state, authorized_at
          from firms
          where desk_id = ${deskId}
          offset 0
        ) as f
        join crosses as c on c.environment = f.environment and c.awaited_iec = f.iec
        cross join place
        where f.connection_state = 'authorized'
          and f.authorized_at <= c.created_at
          and (c.created_at, c.cross_id) < (place.at, place.id)
          and (${filter.firmId}::text is null or f.firm_id = ${filter.firmId})
          and (${filter.status}::text is null or c.state = ${filter.status})
          and (${filter.kind}::text is null or c.kind = ${filter.kind})
          and (${filter.nettingRef}::text is null or c.netting_ref = ${filter.nettingRef})
        order by c.created_at desc, c.cross_id desc
        limit ${fetch}
      )
    )
    select ${crossColumns}, f.firm_id as addressed_firm_id
    from mine
    join crosses as c on c.cross_id = mine.cross_id
    left join lateral (
      select firm_id
      from firms as found
      where found.environment || '' = c.environment and found.iec = c.awaited_iec
        and found.desk_id = ${deskId} and found.connection_state = 'authorized'
        and found.authorized_at <= c.created_at
        and (${firmId}::text is null or found.firm_id = ${firmId})
      limit 1
    ) as f on true
    order by mine.at desc, mine.cross_id desc
    limit ${fetch}`);
}

export async function countCrosses(
  db: Db,
  { deskId }: Pick<Visibility, "deskId">,
  filter: CrossFilter,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from (
      select c.cross_id, c.state, c.kind, c.netting_ref
      from crosses as c
      where c.seller_desk_id = ${deskId}
        and (${filter.firmId}::text is null or c.seller_firm_id = ${filter.firmId})
      union
      select c.cross_id, c.state, c.kind, c.netting_ref
      from crosses as c
      where c.buyer_desk_id = ${deskId}
        and (${filter.firmId}::text is null or c.buyer_firm_id = ${filter.firmId})
      union
      select c.cross_id, c.state, c.kind, c.netting_ref
      from (
        select firm_id, environment, iec, connection_state, authorized_at
        from firms
        where desk_id = ${deskId}
        offset 0
      ) as f
      join crosses as c on c.environment = f.environment and c.awaited_iec = f.iec
      where f.connection_state = 'authorized'
        and f.authorized_at <= c.created_at
        and (${filter.firmId}::text is null or f.firm_id = ${filter.firmId})
    ) as mine
    where (${filter.status}::text is null or mine.state = ${filter.status})
      and (${filter.kind}::text is null or mine.kind = ${filter.kind})
      and (${filter.nettingRef}::text is null or mine.netting_ref = ${filter.nettingRef})`);
  return row?.total ?? 0;
}

/** The open crosses that a firm has proposed or agreed to. */
export async function listOpenOfFirm(
  db: Db,
  { deskId, firmId }: { readonly deskId: string; readonly firmId: string },
  limit: number,
): Promise<Pick<CrossRow, "cross_id">[]> {
  return await db.rows(sql`
    select c.cross_id
    from crosses as c
    where c.state in ('proposed', 'agreed', 'funded', 'released')
      and (
        c.seller_desk_id = ${deskId} and c.seller_firm_id = ${firmId}
        or c.buyer_desk_id = ${deskId} and c.buyer_firm_id = ${firmId}
      )
    order by c.cross_id
    limit ${limit}`);
}

/** Of every desk, for the operator. */
export async function listAllCrossRows(
  db: Db,
  filter: {
    readonly environment: Environment | null;
    readonly status: string | null;
    readonly fromId: string | null;
    readonly toId: string | null;
  },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<CrossRow[]> {
  return await db.rows(sql`
    select ${crossColumns}
    from crosses as c
    where (${after?.id ?? null}::text is null or c.cross_id < ${after?.id ?? null})
      and (${filter.environment}::text is null or c.environment = ${filter.environment})
      and (${filter.status}::text is null or c.state = ${filter.status})
      and (${filter.fromId}::text is null or c.cross_id >= ${filter.fromId})
      and (${filter.toId}::text is null or c.cross_id < ${filter.toId})
    order by c.cross_id desc
    limit ${fetch}`);
}

/** Of one desk, as seller or buyer, for the operator. */
export async function listCrossRowsOfDesk(
  db: Db,
  filter: DeskSearch & { readonly status: string | null },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<CrossRow[]> {
  return await db.rows(sql`
    with place as (
      select coalesce(${after?.at ?? null}::timestamptz, 'infinity') as at, ${after?.id ?? ""} as id
    ), mine as (
      (
        select c.cross_id
        from crosses as c, place
        where c.seller_desk_id = ${filter.deskId} and (c.created_at, c.cross_id) < (place.at, place.id)
          and (${filter.firmId}::text is null or c.seller_firm_id = ${filter.firmId})
          and (${filter.status}::text is null or c.state = ${filter.status})
          and (${filter.from}::timestamptz is null or c.created_at >= ${filter.from})
          and (${filter.to}::timestamptz is null or c.created_at < ${filter.to})
        order by c.created_at desc, c.cross_id desc
        limit ${fetch}
      )
      union
      (
        select c.cross_id
        from crosses as c, place
        where c.buyer_desk_id = ${filter.deskId} and (c.created_at, c.cross_id) < (place.at, place.id)
          and (${filter.firmId}::text is null or c.buyer_firm_id = ${filter.firmId})
          and (${filter.status}::text is null or c.state = ${filter.status})
          and (${filter.from}::timestamptz is null or c.created_at >= ${filter.from})
          and (${filter.to}::timestamptz is null or c.created_at < ${filter.to})
        order by c.created_at desc, c.cross_id desc
        limit ${fetch}
      )
    )
    select ${crossColumns}
    from mine
    join crosses as c on c.cross_id = mine.cross_id
    order by c.created_at desc, c.cross_id desc
    limit ${fetch}`);
}

export async function listBuyers(
  db: Db,
  crossIds: readonly string[],
): Promise<{ cross_id: string; buyer_firm_id: string | null }[]> {
  return await db.rows(sql`
    select cross_id, buyer_firm_id
    from crosses
    where cross_id = any(${crossIds}::text[])`);
}

/** The payment references that agreed crosses wait for. */
export async function listAwaitedPayments(
  db: Db,
  environment: Environment,
): Promise<
  { cross_id: string; buyer_firm_id: string; payment_ref: string; buyer_paise: number }[]
> {
  return await db.rows(sql`
    select cross_id, buyer_firm_id, payment_ref, buyer_paise
    from crosses
    where environment = ${environment} and state = 'agreed' and payment_ref is not null
      and buyer_firm_id is not null`);
}
