import { Type } from "typebox";

import type { Environment } from "../kernel/caller.ts";
import type { ClockAdvance } from "../kernel/clock-advance.ts";
import { invalidQuery } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { isCalendarDay, type IstDay } from "../kernel/time.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { equals, list, meets } from "../platform/postgres/list.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import {
  command,
  type Db,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bigint, day, int, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import { type CreditState, creditStates, isOpen, usesMax } from "./rules.ts";

export const credits = table("credits", {
  credit_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  scrip_no: text(),
  scheme: text<Scheme>(),
  issued_paise: bigint(),
  face_paise: bigint(),
  port_code: text().orNull,
  issued_on: day(),
  expires_on: day(),
  state: text<CreditState>(),
  state_before_suspension: text<CreditState>().orNull,
  reserved_for: text().orNull,
  reason: text().orNull,
  as_of: time(),
  balance_shown_on: day().orNull,
  expiry_told: int().orNull,
  expiry_due_on: day(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type CreditRow = RowOf<typeof credits>;

export const creditColumns = credits.as("c");

const openStates = creditStates
  .filter(isOpen)
  .map((state) => `'${state}'`)
  .join(", ");

type KnownRow = {
  readonly asked: string;
  readonly used_paise: number;
  readonly held_elsewhere: boolean;
} & (CreditRow | { readonly credit_id: null });

/**
 * Per number: the firm's open or latest row, and whether another firm has a live holding. The
 * limits force an index look-up per number, whatever the statistics. The comparison of the firm is
 * written so that no index serves it: without statistics the planner could choose the index of the
 * firm's credits and read all of them for each number.
 */
export async function findKnown(
  tx: Tx,
  {
    environment,
    deskId,
    firmId,
  }: { readonly environment: Environment; readonly deskId: string; readonly firmId: string },
  scripNos: readonly string[],
): Promise<KnownRow[]> {
  return await tx.rows(sql`
    select asked.scrip_no as asked, held.firm_id is not null as held_elsewhere, used.used_paise,
      c.*
    from unnest(${scripNos}::text[]) as asked (scrip_no)
    left join lateral (
      select h.firm_id
      from credits as h
      where h.environment = ${environment} and h.scrip_no = asked.scrip_no
        and h.standing = 'live'
        and h.firm_id <> ${firmId}
      limit 1
    ) as held on true
    cross join lateral (
      select coalesce(sum(u.amount_paise), 0)::bigint as used_paise
      from credit_uses as u
      where u.firm_id = ${firmId} and u.scrip_no = asked.scrip_no
    ) as used
    left join lateral (
      select ${creditColumns}
      from credits as c
      where c.desk_id = ${deskId} and c.scrip_no = asked.scrip_no
        and c.firm_id || '' = ${firmId}
      order by c.standing is not null desc, c.created_at desc
      limit 1
    ) as c on true`);
}

const fresh = { state_before_suspension: null, reserved_for: null };

/**
 * Returns the inserted rows; the others met a live holding or a claim of the same firm. Inserts in
 * the order of numbers, so that two sets cannot deadlock.
 */
export async function insertCredits(tx: Tx, rows: readonly CreditRow[]): Promise<CreditRow[]> {
  tx.added("credits", rows.length);
  const inserted = await tx.rows<NamedCredit>(sql`
    insert into credits as c ${credits.values(credits.all, rows, fresh)}
    order by scrip_no
    on conflict do nothing
    returning c.credit_id`);
  return pickNamed(rows, inserted);
}

/** Inserts live holdings of numbers whose former holding has ended in this transaction. */
export function insertHoldings(tx: Tx, rows: readonly CreditRow[]): Query<void> {
  tx.added("credits", rows.length);
  return command(sql`
    insert into credits ${credits.values(credits.all, rows, fresh)}
    order by scrip_no`);
}

type NamedCredit = Pick<CreditRow, "credit_id">;

/** Those of the rows that the database names; what was just sent need not be read back. */
function pickNamed(rows: readonly CreditRow[], named: readonly NamedCredit[]): CreditRow[] {
  const ids = new Set(named.map(({ credit_id }) => credit_id));
  return rows.filter(({ credit_id }) => ids.has(credit_id));
}

const uses = table("credit_uses", {
  firm_id: text(),
  scrip_no: text(),
  ordinal: int(),
  environment: text<Environment>(),
  desk_id: text(),
  credit_id: text(),
  bill_of_entry: text().orNull,
  used_on: day().orNull,
  port_code: text().orNull,
  amount_paise: bigint(),
  balance_paise: bigint(),
  told_at: time(),
});
type UseRow = RowOf<typeof uses>;

export const { insert: insertUse } = rowsBy(uses, { key: ["firm_id", "scrip_no", "ordinal"] });

const useColumns = uses.as("u");

/** What firms have told of these credits, in the order in which it was told. */
export async function listUses(
  db: Db,
  of: readonly Pick<CreditRow, "firm_id" | "scrip_no">[],
): Promise<UseRow[]> {
  return await db.rows(sql`
    select ${useColumns}
    from ${credits.rows(["firm_id", "scrip_no"], of)} as asked
    cross join lateral (
      select *
      from credit_uses as told
      where told.firm_id = asked.firm_id and told.scrip_no = asked.scrip_no
      order by told.ordinal
      limit ${usesMax + 1}
    ) as u
    order by u.firm_id, u.scrip_no, u.ordinal`);
}

const placedColumns = [
  "state",
  "state_before_suspension",
  "reserved_for",
  "reason",
  "as_of",
  "face_paise",
  "balance_shown_on",
  "expiry_told",
  "expiry_due_on",
] as const;
const setPlacedColumns = credits.assign(placedColumns);

/**
 * Rows in their new state, with the version that was read. Updates those whose version is unchanged and
 * returns them.
 */
export function setCredits(rows: readonly CreditRow[], now: Date): Query<CreditRow[]> {
  return query<NamedCredit>(sql`
    update credits as c
    set ${setPlacedColumns}, version = c.version + 1, updated_at = ${now},
      changed_in = pg_current_xact_id()
    from ${credits.rows(["credit_id", "version", ...placedColumns], rows)} as r
    where c.credit_id = r.credit_id and c.version = r.version
    returning c.credit_id`).map((updated) =>
    pickNamed(rows, updated).map((row) => ({
      ...row,
      version: row.version + 1,
      updated_at: now,
    })),
  );
}

/** The row that a number refers to, by the rule of `resolveScripNo`, in SQL. */
export async function findCredit(
  db: Db,
  { deskId, firmId }: Visibility,
  scripNo: string,
): Promise<CreditRow | undefined> {
  const [row] = await db.rows<CreditRow>(sql`
    select ${creditColumns}
    from credits as c
    where c.desk_id = ${deskId} and c.scrip_no = ${scripNo}
      and (${firmId}::text is null or c.firm_id = ${firmId})
    order by
      c.standing = 'live' desc nulls last, c.standing is not null desc, c.created_at desc
    limit 1`);
  return row;
}

export async function findCreditById(
  db: Db,
  { deskId, firmId }: Visibility,
  creditId: string,
): Promise<CreditRow | undefined> {
  const [row] = await db.rows<CreditRow>(sql`
    select ${creditColumns}
    from credits as c
    where c.credit_id = ${creditId} and c.desk_id = ${deskId}
      and (${firmId}::text is null or c.firm_id = ${firmId})`);
  return row;
}

export const { find: findAnyCredit, lock: lockCredits } = rowsBy(credits, { key: ["credit_id"] });

/** Every open row of these numbers, of any firm. */
export async function lockOpenByNumber(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
): Promise<CreditRow[]> {
  return await tx.rows(sql`
    select ${creditColumns}
    from credits as c
    where c.credit_id = any(array(
        select open.credit_id
        from (select distinct unnest(${scripNos}::text[]) as scrip_no) as asked
        cross join lateral (
          (
            select live.credit_id
            from credits as live
            where live.environment = ${environment} and live.scrip_no = asked.scrip_no
              and live.standing = 'live'
          )
          union all
          (
            select claim.credit_id
            from credits as claim
            where claim.environment = ${environment} and claim.scrip_no = asked.scrip_no
              and claim.standing = 'claim'
          )
          offset 0
        ) as open
      ))
    order by c.credit_id
    for update`);
}

/** The credits of a firm that no deal holds. */
export async function lockFreeOfFirm(tx: Tx, firmId: string): Promise<CreditRow[]> {
  return await tx.rows(sql`
    select ${creditColumns}
    from credits as c
    where c.firm_id = ${firmId} and c.state in ('declared', 'listed')
    order by c.credit_id
    for update`);
}

/** Credits with a due warning or expiry that no deal holds; `skip locked`. */
export async function claimExpiring(
  tx: Tx,
  today: IstDay,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<CreditRow[]> {
  return await tx.rows(sql`
    select ${creditColumns}
    from credits as c
    where c.standing is not null and c.expiry_due_on <= ${today} and c.reserved_for is null
      and (${only}::text[] is null or c.credit_id = any(${only}::text[]))
      and c.credit_id <> all(${except}::text[])
    order by c.expiry_due_on
    limit ${limit}
    for update skip locked`);
}

export const creditList = list(credits, {
  name: "credits",
  within: ["desk_id", "firm_id"],
  newestFirst: ["created_at", "credit_id"],
  filters: {
    scheme: equals(
      "scheme",
      Type.Optional(closedEnum(schemes, { description: "Only this scheme." })),
    ),
    // A partial index has the open ones.
    status: meets(
      (state) =>
        `(state = ${state} and (${state} <> all(array[${openStates}]) or standing is not null))`,
      Type.Optional(closedEnum(creditStates, { description: "Only this status." })),
    ),
    expiring_before: meets(
      (value) => `expires_on < ${value}::date`,
      Type.Optional(
        Type.String({
          pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
          description: "Only credits whose last day is before this one. YYYY-MM-DD.",
        }),
      ),
      { type: "date", parse: refuseNoDay },
    ),
  },
});

function refuseNoDay(asked: string, name: string): string {
  if (isCalendarDay(asked)) return asked;
  throw invalidQuery(name, "must be a day as YYYY-MM-DD");
}

/** Serializes the stocking of the house. */
export async function lockStocking(tx: Tx): Promise<void> {
  await tx.rows(sql`select pg_advisory_xact_lock(hashtext('house inventory'))`);
}

/** Inserts rows in bulk, for seeding; existing numbers stay unchanged. */
export async function seedRows(
  tx: Tx,
  { environment, deskId, now }: { environment: Environment; deskId: string; now: Date },
  rows: readonly CreditRow[],
): Promise<void> {
  tx.added("credits", rows.length);
  const shared = {
    environment,
    desk_id: deskId,
    reserved_for: null,
    as_of: now,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  await tx.rows(sql`
    insert into credits ${credits.values(credits.all, rows, shared)}
    on conflict do nothing`);
}

/** A holding by the index of its desk. */
export type HoldingKey = Pick<CreditRow, "scrip_no" | "credit_id">;

export type HoldingCursor = { readonly after: HoldingKey; readonly limit: number };

/**
 * Moves the dates of a desk's open holdings earlier; returns their keys. They are chosen in the order
 * of the desk's index and locked in that of their ids, as everywhere. Old dates stay.
 */
export async function moveExpiriesEarlier(
  tx: Tx,
  { environment, deskId, days, now }: ClockAdvance,
  { after, limit, oldest }: HoldingCursor & { readonly oldest: IstDay },
): Promise<HoldingKey[]> {
  return await tx.rows(sql`
    with chosen as materialized (
      select scrip_no, credit_id
      from credits
      where environment = ${environment} and desk_id = ${deskId} and standing is not null
        and created_at <= ${now} and expires_on > ${oldest}::date
        and scrip_no >= ${after.scrip_no}
        and (scrip_no, credit_id) > (${after.scrip_no}, ${after.credit_id})
      order by scrip_no, credit_id
      limit ${limit}
    ), moved as (
      update credits
      set issued_on = issued_on - ${days}::int, expires_on = expires_on - ${days}::int,
        expiry_due_on = expiry_due_on - ${days}::int,
        balance_shown_on = balance_shown_on - ${days}::int, version = version + 1, updated_at = ${now},
        changed_in = pg_current_xact_id()
      where credit_id = any(array(
        select credit_id
        from credits
        where credit_id = any(array(select credit_id from chosen)) and standing is not null
        order by credit_id
        for update
      ))
    )
    select scrip_no, credit_id
    from chosen
    order by scrip_no, credit_id`);
}

export type HouseCreditRow = Pick<CreditRow, "scrip_no" | "scheme" | "face_paise" | "expires_on">;

/** The house's credits for sale, by scheme, face and number, in the order of their index. */
export async function listHouseCredits(
  db: Db,
  environment: Environment,
  { after, limit }: { readonly after: HouseCreditRow | undefined; readonly limit: number },
): Promise<HouseCreditRow[]> {
  return await db.rows(sql`
    select c.scrip_no, c.scheme, c.face_paise, c.expires_on
    from credits as c
    where c.environment = ${environment} and c.house_offers
      and (c.scheme, c.face_paise, c.scrip_no)
        > (${after?.scheme ?? ""}, ${after?.face_paise ?? 0}::bigint, ${after?.scrip_no ?? ""})
    order by c.scheme, c.face_paise, c.scrip_no
    limit ${limit}`);
}

/**
 * `scrip_no` is null when nothing changed; `face_paise` is null when the house no longer sells it.
 */
export type HouseChangeRow = Pick<HouseCreditRow, "scheme" | "expires_on"> & {
  readonly horizon: string;
  readonly scrip_no: string | null;
  readonly face_paise: number | null;
};

/**
 * The numbers that changed since a horizon, as they are now, and the next horizon: the oldest
 * running transaction. Transaction ids above the snapshot come from a restored backup and are
 * ignored. The current holding is looked up last, per number, whatever the statistics say.
 */
export async function listHouseChanges(
  db: Db,
  environment: Environment,
  { horizon, limit }: { readonly horizon: string | null; readonly limit: number },
): Promise<HouseChangeRow[]> {
  return await db.rows(sql`
    select next.horizon, changed.scrip_no, changed.scheme, c.face_paise, c.expires_on
    from (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) as next
    left join (
      select distinct c.scrip_no, c.scheme
      from credits as c
      where c.environment = ${environment} and c.house_changed_in >= ${horizon}::xid8
        and c.house_changed_in < pg_snapshot_xmax(pg_current_snapshot())
      limit ${limit}
    ) as changed on true
    left join lateral (
      select c.house_offers, c.face_paise, c.expires_on
      from credits as c
      where c.environment = ${environment} and c.scrip_no = changed.scrip_no
        and c.standing = 'live'
      limit 1
    ) as c on c.house_offers`);
}
