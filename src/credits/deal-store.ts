// The statements of deals: finding, locking and reserving credits that are sold.

import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import {
  type Db,
  fragment,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import { shape, text, textList } from "../platform/postgres/table.ts";
import {
  creditColumns,
  type CreditRow,
  credits,
  type HoldingCursor,
  type HoldingKey,
} from "./store.ts";

/** The columns of a credit that deals need. */
export type DealtRow = Pick<
  CreditRow,
  | "credit_id"
  | "desk_id"
  | "firm_id"
  | "scrip_no"
  | "scheme"
  | "face_paise"
  | "expires_on"
  | "state"
  | "reserved_for"
>;

/** A credit before it is locked, with the state of its firm. */
export type CreditForSale = Omit<DealtRow, "reserved_for"> & { readonly firm_state: string };

const numbersOfDesks = shape({ desk_id: text(), scrip_nos: textList() });

/**
 * All rows of each desk's numbers, the latest first. The index is scanned once per desk with that
 * desk's numbers: two arrays would be tried in every combination. `offset` and `limit` keep the
 * planner from flattening the look-ups into a join with the whole table.
 */
export function listForSale(
  numbersByDesk: ReadonlyMap<string, ReadonlySet<string>>,
): Query<CreditForSale[]> {
  const asked = numbersOfDesks.rows(
    { desk_id: ([deskId]) => deskId, scrip_nos: ([, numbers]) => [...numbers] },
    [...numbersByDesk],
  );
  return query(sql`
    select c.credit_id, c.desk_id, c.firm_id, c.scrip_no, c.scheme, c.face_paise, c.expires_on,
      c.state, f.connection_state as firm_state
    from ${asked} as asked
    cross join lateral (
      select credit_id, desk_id, firm_id, scrip_no, scheme, face_paise, expires_on, state,
        created_at
      from credits as found
      where found.desk_id = asked.desk_id
        and found.scrip_no = any(asked.scrip_nos)
      offset 0
    ) as c
    cross join lateral (
      select connection_state
      from firms as found
      where found.firm_id = c.firm_id
      limit 1
    ) as f
    order by c.created_at desc`);
}

const dealtColumns = fragment`
  credit_id, desk_id, firm_id, scrip_no, scheme, face_paise, expires_on, state, reserved_for`;
/** Here and below `limit 1` makes the planner look up each credit by its index. */
const dealtById = fragment`
  select ${dealtColumns}
  from credits as found
  where found.credit_id = asked.id
  limit 1`;

/** In id order. */
export async function lockForSale(tx: Tx, creditIds: readonly string[]): Promise<DealtRow[]> {
  return await tx.rows(sql`
    select ${dealtColumns}
    from (select id from unnest(${creditIds}::text[]) as ids (id) order by id) as asked
    cross join lateral (${dealtById} for update) as c`);
}

/** The same with `skip locked`. */
export function claimForSale(creditIds: readonly string[]): Query<DealtRow[]> {
  return query(sql`
    select ${dealtColumns}
    from (select id from unnest(${creditIds}::text[]) as ids (id) order by id) as asked
    cross join lateral (${dealtById} for update skip locked) as c`);
}

/** The live holding of each number, of any firm. */
export async function lockLiveByNumber(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
): Promise<CreditRow[]> {
  return await tx.rows(sql`
    select ${creditColumns}
    from (
      select found.credit_id
      from (select distinct unnest(${scripNos}::text[]) as scrip_no) as asked
      cross join lateral (
        select credit_id
        from credits
        where environment = ${environment} and scrip_no = asked.scrip_no and standing = 'live'
        limit 1
      ) as found
      order by found.credit_id
    ) as k
    cross join lateral (
      select *
      from credits as found
      where found.credit_id = k.credit_id and found.standing = 'live'
      limit 1
      for update
    ) as c`);
}

/** The same with `skip locked`: a holding that is locked elsewhere has only its number. */
export async function claimLiveByNumber(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
): Promise<((CreditRow | { readonly credit_id: null }) & { readonly asked: string })[]> {
  return await tx.rows(sql`
    select k.asked, ${creditColumns}
    from (
      select asked.scrip_no as asked, found.credit_id
      from (select distinct unnest(${scripNos}::text[]) as scrip_no) as asked
      cross join lateral (
        select credit_id
        from credits
        where environment = ${environment} and scrip_no = asked.scrip_no and standing = 'live'
        limit 1
      ) as found
      order by found.credit_id
    ) as k
    left join lateral (
      select *
      from credits as found
      where found.credit_id = k.credit_id and found.standing = 'live'
      limit 1
      for update skip locked
    ) as c on true`);
}

/** A firm's listed credits of a scheme, the largest first. */
export function listListedOfFirm({
  firmId,
  scheme,
  expiresFrom,
  limit,
}: {
  readonly firmId: string;
  readonly scheme: Scheme;
  readonly expiresFrom: IstDay;
  readonly limit: number;
}): Query<ListedCredit[]> {
  return query(sql`
    select c.credit_id, c.scrip_no, c.face_paise, c.expires_on
    from credits as c
    where c.firm_id = ${firmId} and c.scheme = ${scheme} and c.state = 'listed'
      and c.expires_on >= ${expiresFrom}::date
    order by c.face_paise desc, c.credit_id
    limit ${limit}`);
}

/** The reserved live holdings of these numbers. */
export async function lockForTransfer(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
): Promise<Pick<CreditRow, "credit_id" | "scrip_no" | "reserved_for">[]> {
  return await tx.rows(sql`
    select c.credit_id, c.scrip_no, c.reserved_for
    from (
      select found.credit_id
      from unnest(${scripNos}::text[]) as asked (scrip_no)
      cross join lateral (
        select credit_id
        from credits
        where environment = ${environment} and scrip_no = asked.scrip_no and standing = 'live'
        limit 1
      ) as found
      order by found.credit_id
    ) as k
    cross join lateral (
      select credit_id, scrip_no, reserved_for
      from credits as found
      where found.credit_id = k.credit_id and found.state = 'reserved'
      limit 1
      for update
    ) as c`);
}

/** Joins by ctid, so that no plan scans the table; the rows are locked, so their ctid is stable. */
export function setInSettlement(taken: readonly Reservation[], now: Date): Query<number> {
  return query(sql`
    update credits as c
    set state = 'in_settlement', reserved_for = t.reserved_for, version = c.version + 1,
      updated_at = ${now}, changed_in = pg_current_xact_id()
    from ${credits.rows(reservedColumns, taken)} as t
    cross join lateral (
      select ctid as place
      from credits as found
      where found.credit_id = t.credit_id
      limit 1
    ) as f
    where c.ctid = f.place
      and (c.state = 'listed' or c.state = 'reserved' and c.reserved_for = t.reserved_for)
    returning 1`).map((rows) => rows.length);
}

/** The columns by which credits are chosen. */
export type ListedCredit = Pick<CreditRow, "credit_id" | "scrip_no" | "face_paise" | "expires_on">;

export type Reservation = { readonly creditId: string; readonly reservedFor: string };

const reservedColumns = {
  credit_id: ({ creditId }: Reservation) => creditId,
  reserved_for: ({ reservedFor }: Reservation) => reservedFor,
};

/** Joins by ctid, so that no plan scans the table; the rows are locked, so their ctid is stable. */
export function reserveCredits(reservations: readonly Reservation[], now: Date): Query<number> {
  return query(sql`
    update credits as c
    set state = 'reserved', reserved_for = r.reserved_for, version = c.version + 1,
      updated_at = ${now}, changed_in = pg_current_xact_id()
    from ${credits.rows(reservedColumns, reservations)} as r
    cross join lateral (
      select ctid as place
      from credits as found
      where found.credit_id = r.credit_id
      limit 1
    ) as f
    where c.ctid = f.place and c.state = 'listed'
    returning 1`).map((rows) => rows.length);
}

export type ReservedNumber = {
  readonly environment: Environment;
  readonly scripNo: string;
  readonly reservedFor: string;
};

/** The credits that these deals or orders still hold, in id order. */
export async function lockReserved(
  tx: Tx,
  reserved: readonly ReservedNumber[],
): Promise<Pick<CreditRow, "credit_id">[]> {
  const asked = credits.rows(
    {
      environment: ({ environment }) => environment,
      scrip_no: ({ scripNo }) => scripNo,
      reserved_for: ({ reservedFor }) => reservedFor,
    },
    reserved,
  );
  return await tx.rows(sql`
    select c.credit_id
    from (
      select found.credit_id, asked.reserved_for
      from ${asked} as asked
      cross join lateral (
        select credit_id
        from credits
        where environment = asked.environment and scrip_no = asked.scrip_no and standing = 'live'
        limit 1
      ) as found
      order by found.credit_id
    ) as k
    cross join lateral (
      select credit_id
      from credits as found
      where found.credit_id = k.credit_id and found.reserved_for = k.reserved_for
        and found.state in ('reserved', 'suspended')
        and coalesce(found.state_before_suspension, found.state) = 'reserved'
      limit 1
      for update
    ) as c`);
}

/** The rows are locked, and reserved or suspended while reserved. */
export async function releaseReserved(
  tx: Tx,
  creditIds: readonly string[],
  now: Date,
): Promise<void> {
  await tx.rows(sql`
    update credits as c
    set state = case c.state when 'reserved' then 'listed' else c.state end,
      state_before_suspension = case c.state when 'suspended' then 'listed' end,
      reserved_for = null, version = c.version + 1, updated_at = ${now},
      changed_in = pg_current_xact_id()
    where c.credit_id = any(${creditIds}::text[])`);
}

/** The live holding of each number, without a lock. */
export async function findLiveByNumber(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<CreditRow[]> {
  return await db.rows(sql`
    select ${creditColumns}
    from (select distinct unnest(${scripNos}::text[]) as scrip_no) as asked
    cross join lateral (
      select *
      from credits as found
      where found.environment = ${environment} and found.scrip_no = asked.scrip_no
        and found.standing = 'live'
      limit 1
    ) as c`);
}

/** The next credits of a desk that no deal holds, in the order of the desk's index. */
export async function listFreeOfDesk(
  db: Db,
  deskId: string,
  { after, limit }: HoldingCursor,
): Promise<HoldingKey[]> {
  return await db.rows(sql`
    select scrip_no, credit_id
    from credits
    where desk_id = ${deskId} and state in ('declared', 'listed')
      and scrip_no >= ${after.scrip_no}
      and (scrip_no, credit_id) > (${after.scrip_no}, ${after.credit_id})
    order by scrip_no, credit_id
    limit ${limit}`);
}

/** The credits of a desk that no deal holds, and those that these hold. */
export async function countFreeOfDesk(
  db: Db,
  deskId: string,
  endedIds: readonly string[],
): Promise<number> {
  const [row] = await db.rows<{ count: number }>(sql`
    select count(*)::int as count
    from credits
    where desk_id = ${deskId}
      and (
        state in ('declared', 'listed')
        or state in ('reserved', 'in_settlement') and reserved_for = any(${endedIds}::text[])
      )`);
  return row?.count ?? 0;
}
