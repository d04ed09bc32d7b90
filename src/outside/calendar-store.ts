import type { IstDay } from "../kernel/time.ts";
import type { Office } from "../kernel/working-days.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { CalendarDay, DayStatus } from "./calendar-rules.ts";
import { day, flag, table, text, time } from "../platform/postgres/table.ts";

const calendarDays = table("calendar_days", {
  office: text(),
  day: day(),
  name: text(),
  works: flag(),
  status: text(),
  changed_at: time(),
});

export async function findVersion(db: Db): Promise<string> {
  const [row] = await db.rows<{ version: string }>(sql`
    select version
    from calendar_versions`);
  if (!row) throw new Error("the calendar has a version");
  return row.version;
}

/** Locks the version row, so that changes are serialized, and invalidates every cached calendar. */
export async function setNewVersion(tx: Tx): Promise<void> {
  await tx.rows(sql`
    update calendar_versions
    set version = gen_random_uuid()`);
}

/** The days with their version, from one snapshot. */
export async function listVersionedDays(db: Db): Promise<
  {
    readonly version: string;
    readonly office: Office | null;
    readonly day: IstDay | null;
    readonly works: boolean | null;
  }[]
> {
  return await db.rows(sql`
    select v.version, d.office, d.day, d.works
    from calendar_versions as v
    left join calendar_days as d on true`);
}

export async function listDays(
  db: Db,
  { office, year }: { readonly office: Office | null; readonly year: number | null },
): Promise<(CalendarDay & { readonly status: DayStatus })[]> {
  return await db.rows(sql`
    select office, day, name, works, status
    from calendar_days
    where (${office}::text is null or office = ${office})
      and (${year}::int is null or extract(year from day) = ${year})
    order by day, office`);
}

export async function upsertDays(
  tx: Tx,
  days: readonly CalendarDay[],
  now: Date,
): Promise<{ readonly office: Office; readonly day: IstDay }[]> {
  const changed = calendarDays.values(["office", "day", "name", "works"], days, {
    status: "confirmed",
    changed_at: now,
  });
  return await tx.rows(sql`
    insert into calendar_days as d ${changed}
    order by office, day
    on conflict (office, day) do update
    set name = excluded.name, works = excluded.works, status = excluded.status,
      changed_at = excluded.changed_at
    where (d.name, d.works, d.status) is distinct from
      (excluded.name, excluded.works, excluded.status)
    returning office, day`);
}

/** Deletes seed rows of an office and year that the imported list does not have. */
export async function deleteUnchecked(
  tx: Tx,
  office: Office,
  { year, except }: { readonly year: number; readonly except: readonly IstDay[] },
): Promise<{ readonly office: Office; readonly day: IstDay }[]> {
  return await tx.rows(sql`
    delete from calendar_days
    where office = ${office} and extract(year from day) = ${year} and status = 'check'
      and day <> all(${except}::date[])
    returning office, day`);
}

export async function deleteDay(tx: Tx, office: Office, day: IstDay): Promise<boolean> {
  const deleted = await tx.rows(sql`
    delete from calendar_days
    where office = ${office} and day = ${day}
    returning 1`);
  return deleted.length > 0;
}
