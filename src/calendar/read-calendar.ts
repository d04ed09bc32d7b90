// The calendar is read whole and kept with its version: whoever needs it asks for the version, alone or
// together with something else, and reads the days when it is another one. So a change counts on every
// node from its commit on, and nobody reads the days again while there is none.

import { type Calendar, plainCalendar } from "../kernel/working-days.ts";
import type { Db } from "../platform/postgres.ts";
import { calendarFrom } from "./rules.ts";
import { findVersion, listVersionedDays } from "./store.ts";

let kept: Calendar = plainCalendar;

export async function readCalendar(db: Db): Promise<Calendar> {
  return await calendarOfVersion(db, await findVersion(db));
}

/** The calendar, when its version is known already; a newer one if there is one by now. */
export async function calendarOfVersion(db: Db, version: string): Promise<Calendar> {
  if (kept.version === version) return kept;
  const rows = await listVersionedDays(db);
  const days = rows.flatMap(({ office, day, works }) =>
    office === null || day === null || works === null ? [] : [{ office, day, works }],
  );
  kept = calendarFrom(rows[0]?.version ?? version, days);
  return kept;
}
