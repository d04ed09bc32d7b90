import { type Db, sql } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bytes, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import type { DropFolder, DroppedOutcome } from "./drop-rules.ts";

const droppedFiles = table("dropped_files", {
  file_id: text(),
  folder: text<DropFolder>(),
  name: text(),
  sha256: bytes().orNull,
  outcome: text<DroppedOutcome>(),
  said: text(),
  machine: text(),
  at: time(),
});
type DroppedRow = RowOf<typeof droppedFiles>;

/** What was only proposed may have been rejected since; importing it says what became of it. */
export async function isTaken(
  db: Db,
  { folder, sha256 }: { readonly folder: DropFolder; readonly sha256: Buffer },
): Promise<boolean> {
  const rows = await db.rows(sql`
    select from dropped_files
    where folder = ${folder} and sha256 = ${sha256} and outcome = 'done'`);
  return rows.length > 0;
}

/** Another process may have taken the same file at the same time. */
export async function insertDropped(db: Db, row: DroppedRow): Promise<void> {
  await db.rows(sql`
    insert into dropped_files ${droppedFiles.values(droppedFiles.all, [row])}
    on conflict do nothing`);
}

/** The newest first. */
export async function listDroppedRows(
  db: Db,
  {
    before,
    outcome,
    limit,
  }: {
    readonly before: string | null;
    readonly outcome: DroppedOutcome | null;
    readonly limit: number;
  },
): Promise<DroppedRow[]> {
  return await db.rows(sql`
    select ${droppedFiles.columns}
    from dropped_files
    where (${before}::text is null or file_id < ${before})
      and (${outcome}::text is null or outcome = ${outcome})
    order by file_id desc
    limit ${limit}`);
}

const schedules = table("schedules", {
  name: text(),
  times: text(),
  next_at: time().orNull,
  last_at: time().orNull,
  outcome: text<"done" | "nothing" | "failed">().orNull,
  said: text().orNull,
});
type ScheduleRow = RowOf<typeof schedules>;

export async function listScheduleRows(db: Db): Promise<ScheduleRow[]> {
  return await db.rows(sql`
    select ${schedules.columns}
    from schedules
    order by name`);
}

export const { find: findSchedule } = rowsBy(schedules, { key: ["name"] });

/** True for one of several processes that see the same time. */
export async function claimSchedule(
  db: Db,
  { name, seen, next }: { readonly name: string; readonly seen: Date; readonly next: Date },
): Promise<boolean> {
  const rows = await db.rows(sql`
    update schedules
    set next_at = ${next}
    where name = ${name} and next_at = ${seen}
    returning name`);
  return rows.length > 0;
}

export async function endSchedule(
  db: Db,
  { name, next_at, last_at, outcome, said }: Omit<ScheduleRow, "times">,
): Promise<void> {
  await db.rows(sql`
    update schedules
    set next_at = ${next_at}, last_at = ${last_at}, outcome = ${outcome}, said = ${said}
    where name = ${name}`);
}

/** What is not among these runs no more; the drop folder has no times. */
export async function dropSchedules(db: Db, names: readonly string[]): Promise<void> {
  await db.rows(sql`
    update schedules
    set next_at = null
    where name <> all(${names}::text[]) and name <> 'drop-folder' and next_at is not null`);
}

export async function putSchedule(db: Db, row: ScheduleRow): Promise<void> {
  await db.rows(sql`
    insert into schedules ${schedules.values(schedules.all, [row])}
    on conflict (name) do update
    set times = excluded.times, next_at = excluded.next_at, last_at = excluded.last_at,
      outcome = excluded.outcome, said = excluded.said`);
}
