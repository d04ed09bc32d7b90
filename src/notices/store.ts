// The outbox of notices, and the cursors that fill it.

import type { Environment } from "../kernel/caller.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bigint, int, type RowOf, shape, table, text, time } from "../platform/postgres/table.ts";
import type { NoticeState, Occasion } from "./rules.ts";

const notices = table("notices", {
  notice_id: text(),
  address_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  occasion: text<Occasion>(),
  first_sequence: bigint(),
  last_sequence: bigint(),
  events: int(),
  subject: text(),
  body: text(),
  state: text<NoticeState>(),
  reason: text().orNull,
  answer: text().orNull,
  attempts: int(),
  lease: int(),
  due_at: time(),
  /** When it was queued, or sent again: its age counts from here. */
  queued_at: time(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type NoticeRow = RowOf<typeof notices>;

/**
 * Among the next `look` cursors after one, those whose desk has events that were not looked at. `next`
 * is where the next look begins; null after the last cursor.
 */
export async function findCursorsBehind(
  db: Db,
  { after, look, not }: { after: string; look: number; not: readonly string[] },
): Promise<{ readonly behind: readonly string[]; readonly next: string | null }> {
  const [row] = await db.rows<{ behind: string[]; next: string | null }>(sql`
    with looked as materialized (
      select desk_id, told_sequence
      from notice_cursors
      where desk_id > ${after}
      order by desk_id
      limit ${look}
    )
    select
      array(
        select c.desk_id
        from looked as c
        cross join lateral (
          select last_sequence
          from desk_sequences
          where desk_id = c.desk_id
          limit 1
        ) as s
        where c.told_sequence < s.last_sequence and c.desk_id <> all(${not}::text[])
        order by c.desk_id
      ) as behind,
      case when (select count(*) from looked) = ${look}::int
        then (select max(desk_id) from looked)
      end as next`);
  return row ?? { behind: [], next: null };
}

export type CursorRow = { readonly desk_id: string; readonly told_sequence: number };

export async function claimCursors(tx: Tx, deskIds: readonly string[]): Promise<CursorRow[]> {
  return await tx.rows(sql`
    select desk_id, told_sequence
    from notice_cursors
    where desk_id = any(${deskIds}::text[])
    order by desk_id
    for update skip locked`);
}

const cursors = shape({ desk_id: text(), told_sequence: bigint() });

export async function setCursors(tx: Tx, rows: readonly CursorRow[]): Promise<void> {
  await tx.rows(sql`
    update notice_cursors as c
    set told_sequence = r.told_sequence
    from ${cursors.rows(cursors.all, rows)} as r
    where c.desk_id = r.desk_id`);
}

/** An event is in one notice of an address, also when this is done twice. */
export async function insertNotices(tx: Tx, rows: readonly NoticeRow[]): Promise<void> {
  await tx.rows(sql`
    insert into notices ${notices.values(notices.all, rows)}
    on conflict (address_id, occasion, first_sequence) do nothing`);
}

export async function hasDue(db: Db, environment: Environment, now: Date): Promise<boolean> {
  const rows = await db.rows(sql`
    select from notices
    where state = 'waiting' and environment = ${environment} and due_at <= ${now}
    limit 1`);
  return rows.length > 0;
}

/** The next desks of an environment that have waiting notices, by their ids. */
export async function listDesksWaiting(
  db: Db,
  { environment, after, limit }: { environment: Environment; after: string; limit: number },
): Promise<string[]> {
  const rows = await db.rows<{ desk_id: string }>(sql`
    with recursive found as (
      (
        select desk_id
        from notices
        where state = 'waiting' and environment = ${environment} and desk_id > ${after}
        order by desk_id
        limit 1
      )
      union all
      select (
        select n.desk_id
        from notices as n
        where n.state = 'waiting' and n.environment = ${environment} and n.desk_id > found.desk_id
        order by n.desk_id
        limit 1
      )
      from found
      where found.desk_id is not null
    )
    select desk_id
    from found
    where desk_id is not null
    limit ${limit}`);
  return rows.map(({ desk_id }) => desk_id);
}

const claimedColumns = [
  "notice_id",
  "address_id",
  "environment",
  "desk_id",
  "occasion",
  "subject",
  "body",
  "attempts",
  "lease",
  "queued_at",
] as const;

export type ClaimedNotice = Pick<NoticeRow, (typeof claimedColumns)[number]>;

/** Leases what is due of these desks, some of each. When the lease ends it is due again. */
export async function claimNotices(
  db: Db,
  {
    environment,
    deskIds,
    perDesk,
    limit,
    now,
    leaseEndsAt,
  }: {
    readonly environment: Environment;
    readonly deskIds: readonly string[];
    readonly perDesk: number;
    readonly limit: number;
    readonly now: Date;
    readonly leaseEndsAt: Date;
  },
): Promise<ClaimedNotice[]> {
  return await db.rows(sql`
    with due as (
      select d.place
      from unnest(${deskIds}::text[]) as desks (desk_id)
      cross join lateral (
        select ctid as place, due_at
        from notices
        where state = 'waiting' and environment = ${environment} and desk_id = desks.desk_id
          and due_at <= ${now}
        order by due_at
        limit ${perDesk}
        for update skip locked
      ) as d
      limit ${limit}
    )
    update notices as n
    set due_at = ${leaseEndsAt}, lease = n.lease + 1
    from due
    where n.ctid = due.place
    returning ${notices.as("n", claimedColumns)}`);
}

const settled = shape({
  notice_id: text(),
  lease: int(),
  state: text<NoticeState>(),
  reason: text().orNull,
  answer: text().orNull,
  due_at: time(),
  /** Attempts that this one adds. */
  attempts: int(),
});
type SettledRow = RowOf<typeof settled>;

/** Stores what became of claimed notices; whoever has no lease any more changes nothing. */
export async function settleNotices(db: Db, rows: readonly SettledRow[], now: Date): Promise<void> {
  await db.rows(sql`
    update notices as n
    set state = r.state, reason = r.reason, answer = r.answer, due_at = r.due_at,
      attempts = n.attempts + r.attempts, version = n.version + 1, updated_at = ${now}
    from ${settled.rows(settled.all, rows)} as r
    where n.notice_id = r.notice_id and n.lease = r.lease and n.state = 'waiting'`);
}

/** Makes claimed notices due again, at a time. */
export async function releaseNotices(
  db: Db,
  rows: readonly Pick<NoticeRow, "notice_id" | "lease">[],
  dueAt: Date,
): Promise<void> {
  await db.rows(sql`
    update notices as n
    set due_at = ${dueAt}
    from ${settled.rows(["notice_id", "lease"], rows)} as r
    where n.notice_id = r.notice_id and n.lease = r.lease and n.state = 'waiting'`);
}

export const { lock: lockNotice } = rowsBy(notices, { key: ["notice_id"] });

/** The row is locked. The lease rises, so that whoever still holds the last one changes nothing. */
export async function setWaiting(tx: Tx, noticeId: string, now: Date): Promise<void> {
  await tx.rows(sql`
    update notices
    set state = 'waiting', reason = null, answer = null, attempts = 0, lease = lease + 1,
      due_at = ${now}, queued_at = ${now}, version = version + 1, updated_at = ${now}
    where notice_id = ${noticeId}`);
}

type ListedNotice = Omit<NoticeRow, "body" | "lease"> & {
  readonly email: string;
  readonly operator_id: string | null;
};

export type NoticeFilter = {
  readonly environment: Environment | null;
  readonly deskId: string | null;
  readonly state: NoticeState | null;
  readonly occasion: Occasion | null;
  readonly from: Date | null;
  readonly to: Date | null;
  /** Only those made before this one. */
  readonly before: string | null;
  readonly limit: number;
};

const listedColumns = notices.all.filter((name) => name !== "body" && name !== "lease");

/** Newest first. */
export async function listNoticeRows(
  db: Db,
  { environment, deskId, state, occasion, from, to, before, limit }: NoticeFilter,
): Promise<ListedNotice[]> {
  return await db.rows(sql`
    select n.*, a.email, a.operator_id
    from (
      select ${notices.as("notices", listedColumns)}
      from notices
      where (${before}::text is null or notice_id < ${before})
        and (${environment}::text is null or environment = ${environment})
        and (${deskId}::text is null or desk_id = ${deskId})
        and (${state}::text is null or state = ${state})
        and (${occasion}::text is null or occasion = ${occasion})
        and (${from}::timestamptz is null or created_at >= ${from})
        and (${to}::timestamptz is null or created_at < ${to})
      order by notice_id desc
      limit ${limit}
    ) as n
    cross join lateral (
      select email, operator_id
      from notice_addresses
      where address_id = n.address_id
      limit 1
    ) as a
    order by n.notice_id desc`);
}

type NoticeBacklog = {
  readonly waiting: number;
  readonly dead: number;
  /** Since when the oldest notice that is due has been waiting; null when none is. */
  readonly waiting_since: Date | null;
};

export async function findBacklog(db: Db, most: number): Promise<NoticeBacklog> {
  const counted = fragment`select from notices where state`;
  const [row] = await db.rows<NoticeBacklog>(sql`
    select
      (select count(*)::int from (${counted} = 'waiting' limit ${most}) as w) as waiting,
      (select count(*)::int from (${counted} = 'dead' limit ${most}) as d) as dead,
      (select min(queued_at) from (
        select queued_at from notices where state = 'waiting' limit ${most}) as w) as waiting_since`);
  if (!row) throw new Error("a statement of counts has one row");
  return row;
}

/** Deletes notices that were done before a time; dead ones are kept longer. */
export async function deleteOld(
  db: Db,
  { doneBefore, deadBefore, limit }: { doneBefore: Date; deadBefore: Date; limit: number },
): Promise<number> {
  const rows = await db.rows(sql`
    delete from notices
    where notice_id in (
      select notice_id
      from notices
      where state <> 'waiting' and updated_at < ${doneBefore}
        and (state <> 'dead' or updated_at < ${deadBefore})
      order by updated_at
      limit ${limit}
      for update skip locked
    )
    returning 1`);
  return rows.length;
}
