// The calendar of bank and customs holidays. Each node caches it whole, with its version. A reader
// fetches the current version, alone or in another statement, and reads the days only when the
// version is new, so that a change applies on every node from its commit on.
//
// A change moves no deadline that was given before; a deadline that falls on a new holiday ends
// with the next working day (`lateUntil`).

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { isCalendarDay, type IstDay } from "../kernel/time.ts";
import { type Calendar, type Office, plainCalendar } from "../kernel/working-days.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  type CalendarDay,
  buildCalendar,
  type DayStatus,
  type GivenDay,
  parseDays,
  parseYear,
} from "./calendar-rules.ts";
import {
  deleteDay,
  deleteUnchecked,
  findVersion,
  listDays,
  listVersionedDays,
  setNewVersion,
  upsertDays,
} from "./calendar-store.ts";

type CalendarContext = Pick<Context, "db" | "now">;

type ImportedDays = {
  readonly rows: number;
  /** New or changed rows. */
  readonly changed: number;
  /** Seed rows of the same office and year that the list does not have. */
  readonly removed: number;
};

/** Imports the list of an office for one or more years; the same list again changes nothing. */
export async function importDays(
  ctx: CalendarContext,
  actor: Actor,
  given: readonly GivenDay[],
): Promise<ImportedDays> {
  const days = parseDays(given);
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    await setNewVersion(tx);
    const lists = Map.groupBy(days, ({ office, day }) => `${office} ${parseYear(day)}`);
    let removed = 0;
    for (const list of lists.values()) {
      const [first] = list;
      if (!first) continue;
      const except = list.map(({ day }) => day);
      const gone = await deleteUnchecked(tx, first.office, { year: parseYear(first.day), except });
      removed += gone.length;
    }
    const changed = (await upsertDays(tx, days, now)).length;
    const after = { rows: days.length, changed, removed, days };
    const change = buildCalendarChange("calendar.import", "days", after);
    if (changed + removed > 0) await recordChanges(tx, actor, [change], now);
    return { rows: days.length, changed, removed };
  });
}

/** Adds or replaces one day. */
export async function addDay(ctx: CalendarContext, actor: Actor, given: GivenDay): Promise<void> {
  const [day] = parseDays([given]);
  if (!day) return;
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    await setNewVersion(tx);
    await upsertDays(tx, [day], now);
    const id = `${day.office}:${day.day}`;
    const change = buildCalendarChange("calendar.add", id, day);
    await recordChanges(tx, actor, [change], now);
  });
}

export async function removeDay(
  ctx: CalendarContext,
  actor: Actor,
  { office, day }: { readonly office: Office; readonly day: IstDay },
): Promise<void> {
  if (!isCalendarDay(day)) throw unprocessable({ path: "day", problem: "must be a day" });
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    await setNewVersion(tx);
    if (!(await deleteDay(tx, office, day))) {
      throw new Failure("not_found", `the calendar of ${office} says nothing of ${day}`);
    }
    const change = buildCalendarChange("calendar.remove", `${office}:${day}`, null);
    await recordChanges(tx, actor, [change], now);
  });
}

export async function listCalendar(
  ctx: Pick<Context, "db">,
  search: { readonly office: Office | null; readonly year: number | null },
): Promise<readonly (CalendarDay & { readonly status: DayStatus })[]> {
  return await listDays(ctx.db, search);
}

let kept: Calendar = plainCalendar;

export async function readCalendar(db: Db): Promise<Calendar> {
  return await loadCalendar(db, await findVersion(db));
}

/** The calendar of a version that the caller has just read; a newer one if it changed since. */
export async function loadCalendar(db: Db, version: string): Promise<Calendar> {
  if (kept.version === version) return kept;
  const rows = await listVersionedDays(db);
  const days = rows.flatMap(({ office, day, works }) =>
    office === null || day === null || works === null ? [] : [{ office, day, works }],
  );
  kept = buildCalendar(rows[0]?.version ?? version, days);
  return kept;
}

/** The calendar belongs to no desk, so its changes are recorded on the house's desk. */
function buildCalendarChange(action: string, id: string, after: object | null): Change {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action,
    entity: { type: "calendar", id, version: 1, href: "/v1/meta/states" },
    after,
  };
}
