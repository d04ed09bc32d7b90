import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";
import type { DropFolder, DroppedOutcome } from "./drop-rules.ts";

export type DroppedRow = {
  readonly file_id: string;
  readonly folder: DropFolder;
  readonly name: string;
  readonly sha256: Buffer | null;
  readonly outcome: DroppedOutcome;
  readonly said: string;
  readonly machine: string;
  readonly at: Date;
};

const droppedColumns = fragment`file_id, folder, name, sha256, outcome, said, machine, at`;

export async function isTaken(
  db: Db,
  { folder, sha256 }: { readonly folder: DropFolder; readonly sha256: Buffer },
): Promise<boolean> {
  const rows = await db.rows(sql`
    select from dropped_files
    where folder = ${folder} and sha256 = ${sha256} and outcome in ('done', 'proposed')`);
  return rows.length > 0;
}

/** Another process may have taken the same file at the same time. */
export async function insertDropped(db: Db, row: DroppedRow): Promise<void> {
  await db.rows(sql`
    insert into dropped_files (${droppedColumns})
    values (
      ${row.file_id}, ${row.folder}, ${row.name}, ${row.sha256}, ${row.outcome}, ${row.said},
      ${row.machine}, ${row.at}
    )
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
    select ${droppedColumns}
    from dropped_files
    where (${before}::text is null or file_id < ${before})
      and (${outcome}::text is null or outcome = ${outcome})
    order by file_id desc
    limit ${limit}`);
}

export type ScheduleRow = {
  readonly name: string;
  readonly times: string;
  readonly next_at: Date | null;
  readonly last_at: Date | null;
  readonly outcome: "done" | "nothing" | "failed" | null;
  readonly said: string | null;
};

const scheduleColumns = fragment`name, times, next_at, last_at, outcome, said`;

export async function listScheduleRows(db: Db): Promise<ScheduleRow[]> {
  return await db.rows(sql`
    select ${scheduleColumns}
    from schedules
    order by name`);
}

export async function findSchedule(db: Db, name: string): Promise<ScheduleRow | undefined> {
  const [row] = await db.rows<ScheduleRow>(sql`
    select ${scheduleColumns}
    from schedules
    where name = ${name}`);
  return row;
}

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
    insert into schedules (${scheduleColumns})
    values (
      ${row.name}, ${row.times}, ${row.next_at}, ${row.last_at}, ${row.outcome}, ${row.said}
    )
    on conflict (name) do update
    set times = excluded.times, next_at = excluded.next_at, last_at = excluded.last_at,
      outcome = excluded.outcome, said = excluded.said`);
}
