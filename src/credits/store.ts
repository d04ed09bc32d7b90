import type { Environment } from "../kernel/caller.ts";
import type { Position } from "../kernel/page.ts";
import type { Passage } from "../kernel/passage.ts";
import type { IstDay } from "../kernel/time.ts";
import type { Visibility } from "../kernel/visibility.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { CreditFacts, CreditState } from "./rules.ts";

export type CreditRow = CreditFacts & {
  readonly credit_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly state: CreditState;
  readonly state_before_suspension: CreditState | null;
  readonly reserved_for: string | null;
  readonly reason: string | null;
  readonly as_of: Date;
  readonly expiry_told: number | null;
  readonly expiry_due_on: IstDay;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export const creditColumns = fragment`
  c.credit_id, c.environment, c.desk_id, c.firm_id, c.scrip_no, c.scheme, c.issued_paise,
  c.face_paise, c.port_code, c.issued_on, c.expires_on, c.state, c.state_before_suspension,
  c.reserved_for, c.reason, c.as_of, c.expiry_told, c.expiry_due_on, c.version, c.created_at,
  c.updated_at`;

export type KnownRow = {
  readonly asked: string;
  readonly held_elsewhere: boolean;
} & (CreditRow | { readonly credit_id: null });

/**
 * Per number: the firm's own open or latest row, and whether anybody else has a live holding. The
 * limits keep it a look-up per number, which no statistics can turn into a reading of all credits. The
 * firm is compared in a way that no index serves, because without statistics the one of the firm's
 * credits looks as good as the one of the number, and reads all that the firm has for each number.
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
    select asked.scrip_no as asked, held.firm_id is not null as held_elsewhere, c.*
    from unnest(${scripNos}::text[]) as asked (scrip_no)
    left join lateral (
      select h.firm_id
      from credits as h
      where h.environment = ${environment} and h.scrip_no = asked.scrip_no
        and h.standing = 'live'
        and h.firm_id <> ${firmId}
      limit 1
    ) as held on true
    left join lateral (
      select ${creditColumns}
      from credits as c
      where c.desk_id = ${deskId} and c.scrip_no = asked.scrip_no
        and c.firm_id || '' = ${firmId}
      order by c.standing is not null desc, c.created_at desc
      limit 1
    ) as c on true`);
}

/**
 * The rows that found their number free; the others ran into a live holding or a claim of the same
 * firm. In the order of their numbers, so that two sets never wait for each other in a circle.
 */
export async function insertCredits(tx: Tx, rows: readonly CreditRow[]): Promise<CreditRow[]> {
  tx.added("credits", rows.length);
  return await tx.rows(sql`
    insert into credits as c (
      credit_id, environment, desk_id, firm_id, scrip_no, scheme, issued_paise, face_paise,
      port_code, issued_on, expires_on, state, reason, as_of, expiry_told, expiry_due_on, version,
      created_at, updated_at
    )
    select
      credit_id, environment, desk_id, firm_id, scrip_no, scheme, issued_paise, face_paise,
      port_code, issued_on, expires_on, state, reason, as_of, expiry_told, expiry_due_on, version,
      created_at, created_at
    from unnest(
      ${rows.map((row) => row.credit_id)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.firm_id)}::text[],
      ${rows.map((row) => row.scrip_no)}::text[],
      ${rows.map((row) => row.scheme)}::text[],
      ${rows.map((row) => row.issued_paise)}::bigint[],
      ${rows.map((row) => row.face_paise)}::bigint[],
      ${rows.map((row) => row.port_code)}::text[],
      ${rows.map((row) => row.issued_on)}::date[],
      ${rows.map((row) => row.expires_on)}::date[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.as_of)}::timestamptz[],
      ${rows.map((row) => row.expiry_told)}::int[],
      ${rows.map((row) => row.expiry_due_on)}::date[],
      ${rows.map((row) => row.version)}::int[],
      ${rows.map((row) => row.created_at)}::timestamptz[]
    ) as r (
      credit_id, environment, desk_id, firm_id, scrip_no, scheme, issued_paise, face_paise,
      port_code, issued_on, expires_on, state, reason, as_of, expiry_told, expiry_due_on, version,
      created_at
    )
    order by scrip_no
    on conflict do nothing
    returning ${creditColumns}`);
}

/** Where a row goes; its version is the one it was judged at. */
export type Placement = Pick<
  CreditRow,
  | "credit_id"
  | "version"
  | "state"
  | "state_before_suspension"
  | "reserved_for"
  | "reason"
  | "as_of"
  | "face_paise"
  | "expiry_told"
  | "expiry_due_on"
>;

/** The rows that were still at the version they were judged at, as they are now. */
export async function setCredits(
  tx: Tx,
  placements: readonly Placement[],
  now: Date,
): Promise<CreditRow[]> {
  return await tx.rows(sql`
    update credits as c
    set state = p.state, state_before_suspension = p.state_before_suspension,
      reserved_for = p.reserved_for, reason = p.reason, as_of = p.as_of,
      face_paise = p.face_paise, expiry_told = p.expiry_told, expiry_due_on = p.expiry_due_on,
      version = c.version + 1, updated_at = ${now}, changed_in = pg_current_xact_id()
    from unnest(
      ${placements.map((row) => row.credit_id)}::text[],
      ${placements.map((row) => row.version)}::int[],
      ${placements.map((row) => row.state)}::text[],
      ${placements.map((row) => row.state_before_suspension)}::text[],
      ${placements.map((row) => row.reserved_for)}::text[],
      ${placements.map((row) => row.reason)}::text[],
      ${placements.map((row) => row.as_of)}::timestamptz[],
      ${placements.map((row) => row.face_paise)}::bigint[],
      ${placements.map((row) => row.expiry_told)}::int[],
      ${placements.map((row) => row.expiry_due_on)}::date[]
    ) as p (
      credit_id, version, state, state_before_suspension, reserved_for, reason, as_of, face_paise,
      expiry_told, expiry_due_on
    )
    where c.credit_id = p.credit_id and c.version = p.version
    returning ${creditColumns}`);
}

/** What the holder means by a number: the choice of `meantOf`, made where the rows are. */
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

export async function lockCredits(tx: Tx, creditIds: readonly string[]): Promise<CreditRow[]> {
  return await tx.rows(sql`
    select ${creditColumns}
    from credits as c
    where c.credit_id = any(${creditIds}::text[])
    order by c.credit_id
    for update`);
}

/** Every open row of these numbers, whoever's: for the registry, which speaks about all of them. */
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

/** What a firm that leaves still has to let go of: whatever no deal has. */
export async function lockFreeOfFirm(tx: Tx, firmId: string): Promise<CreditRow[]> {
  return await tx.rows(sql`
    select ${creditColumns}
    from credits as c
    where c.firm_id = ${firmId} and c.state in ('declared', 'listed')
    order by c.credit_id
    for update`);
}

/** What the clock has something to do with, unless a deal has it; two workers never take one row. */
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

export type CreditFilter = {
  readonly scheme: string | null;
  readonly status: string | null;
  /** Whether the status is one of what is held or claimed, which an index has apart. */
  readonly isOpen: boolean;
  readonly expiringBefore: IstDay | null;
};

export async function listCreditRows(
  db: Db,
  firmId: string,
  filter: CreditFilter,
  { after, fetch }: { readonly after: Position | undefined; readonly fetch: number },
): Promise<CreditRow[]> {
  return await db.rows(sql`
    select ${creditColumns}
    from credits as c
    where c.firm_id = ${firmId}
      and (c.created_at, c.credit_id) < (
        coalesce(${after?.at ?? null}::timestamptz, 'infinity'), ${after?.id ?? ""}
      )
      and (${filter.scheme}::text is null or c.scheme = ${filter.scheme})
      and (${filter.status}::text is null or c.state = ${filter.status})
      and (not ${filter.isOpen}::boolean or c.standing is not null)
      and (${filter.expiringBefore}::date is null or c.expires_on < ${filter.expiringBefore})
    order by c.created_at desc, c.credit_id desc
    limit ${fetch}`);
}

export async function countCredits(db: Db, firmId: string, filter: CreditFilter): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from credits as c
    where c.firm_id = ${firmId}
      and (${filter.scheme}::text is null or c.scheme = ${filter.scheme})
      and (${filter.status}::text is null or c.state = ${filter.status})
      and (not ${filter.isOpen}::boolean or c.standing is not null)
      and (${filter.expiringBefore}::date is null or c.expires_on < ${filter.expiringBefore})`);
  return row?.total ?? 0;
}

/** For the operator, who sees every desk. */
export async function listAllCreditRows(
  db: Db,
  filter: {
    readonly environment: Environment;
    readonly firmId: string | null;
    readonly scripNo: string | null;
    readonly scheme: string | null;
    readonly status: string | null;
  },
  limit: number,
): Promise<CreditRow[]> {
  return await db.rows(sql`
    select ${creditColumns}
    from credits as c
    where c.environment = ${filter.environment}
      and (${filter.firmId}::text is null or c.firm_id = ${filter.firmId})
      and (${filter.scripNo}::text is null or c.scrip_no = ${filter.scripNo})
      and (${filter.scheme}::text is null or c.scheme = ${filter.scheme})
      and (${filter.status}::text is null or c.state = ${filter.status})
    order by c.created_at desc, c.credit_id desc
    limit ${limit}`);
}

/** Whoever stocks the house waits here for whoever does so already. */
export async function lockStocking(tx: Tx): Promise<void> {
  await tx.rows(sql`select pg_advisory_xact_lock(hashtext('house inventory'))`);
}

/** Rows by the thousand, as seeding makes them; numbers that are taken stay as they are. */
export async function seedRows(
  tx: Tx,
  { environment, deskId, now }: { environment: Environment; deskId: string; now: Date },
  rows: readonly CreditRow[],
): Promise<void> {
  tx.added("credits", rows.length);
  await tx.rows(sql`
    insert into credits (
      credit_id, environment, desk_id, firm_id, scrip_no, scheme, issued_paise, face_paise,
      port_code, issued_on, expires_on, state, state_before_suspension, reason, as_of, expiry_told,
      expiry_due_on, version, created_at, updated_at
    )
    select
      credit_id, ${environment}, ${deskId}, firm_id, scrip_no, scheme, issued_paise, face_paise,
      port_code, issued_on, expires_on, state, before, reason, ${now}::timestamptz, expiry_told,
      expiry_due_on, 1, ${now}::timestamptz, ${now}::timestamptz
    from unnest(
      string_to_array(${column(rows, "credit_id")}, ',', '')::text[],
      string_to_array(${column(rows, "firm_id")}, ',', '')::text[],
      string_to_array(${column(rows, "scrip_no")}, ',', '')::text[],
      string_to_array(${column(rows, "scheme")}, ',', '')::text[],
      string_to_array(${column(rows, "issued_paise")}, ',', '')::bigint[],
      string_to_array(${column(rows, "face_paise")}, ',', '')::bigint[],
      string_to_array(${column(rows, "port_code")}, ',', '')::text[],
      string_to_array(${column(rows, "issued_on")}, ',', '')::date[],
      string_to_array(${column(rows, "expires_on")}, ',', '')::date[],
      string_to_array(${column(rows, "state")}, ',', '')::text[],
      string_to_array(${column(rows, "state_before_suspension")}, ',', '')::text[],
      string_to_array(${column(rows, "reason")}, ',', '')::text[],
      string_to_array(${column(rows, "expiry_told")}, ',', '')::int[],
      string_to_array(${column(rows, "expiry_due_on")}, ',', '')::date[]
    ) as r (
      credit_id, firm_id, scrip_no, scheme, issued_paise, face_paise, port_code, issued_on,
      expires_on, state, before, reason, expiry_told, expiry_due_on
    )
    on conflict do nothing`);
}

/** A column as one text: thousands of values cost less that way than as an array. None has a comma. */
function column(rows: readonly CreditRow[], name: keyof CreditRow): string {
  return rows.map((row) => row[name]).join(",");
}

/** The days of a desk's open holdings lie further back; how many there are. */
export async function bringExpiriesNearer(
  tx: Tx,
  { environment, deskId, days, now }: Passage,
): Promise<number> {
  const rows = await tx.rows(sql`
    update credits
    set issued_on = issued_on - ${days}::int, expires_on = expires_on - ${days}::int,
      expiry_due_on = expiry_due_on - ${days}::int, version = version + 1, updated_at = ${now},
      changed_in = pg_current_xact_id()
    where environment = ${environment} and desk_id = ${deskId} and standing is not null
    returning credit_id`);
  return rows.length;
}
