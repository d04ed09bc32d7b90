// How the operator keeps the calendar. Every change gives the days a new version, so that all nodes
// count with them from the commit on; deadlines that were given before are not moved, and one that
// falls on a new holiday ends with the next working day (`lateUntil`).

import { recordChanges } from "../events/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/house.ts";
import { type IstDay, isCalendarDay } from "../kernel/time.ts";
import type { Office } from "../kernel/working-days.ts";
import type { Context } from "../platform/context.ts";
import { type GivenDay, readDays, readYear } from "./rules.ts";
import { deleteDay, deleteUnchecked, setNewVersion, upsertDays } from "./store.ts";

type Changing = Pick<Context, "db" | "now">;

export type ImportedDays = {
  readonly rows: number;
  /** Rows that were not there, or otherwise. */
  readonly changed: number;
  /** Starting rows of the same office and year that the list does not have. */
  readonly removed: number;
};

/** The list of an office for one or more years; the same list again changes nothing. */
export async function importDays(
  ctx: Changing,
  actor: Actor,
  given: readonly GivenDay[],
): Promise<ImportedDays> {
  const days = readDays(given);
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    await setNewVersion(tx);
    const lists = Map.groupBy(days, ({ office, day }) => `${office} ${readYear(day)}`);
    let removed = 0;
    for (const list of lists.values()) {
      const [first] = list;
      if (!first) continue;
      const except = list.map(({ day }) => day);
      const gone = await deleteUnchecked(tx, first.office, { year: readYear(first.day), except });
      removed += gone.length;
    }
    const changed = (await upsertDays(tx, days, now)).length;
    const after = { rows: days.length, changed, removed, days };
    const change = changeOfCalendar("calendar.import", "days", { before: null, after });
    if (changed + removed > 0) await recordChanges(tx, actor, [change], now);
    return { rows: days.length, changed, removed };
  });
}

/** One day; said again, it is as it was said last. */
export async function addDay(ctx: Changing, actor: Actor, given: GivenDay): Promise<void> {
  const [day] = readDays([given]);
  if (!day) return;
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    await setNewVersion(tx);
    await upsertDays(tx, [day], now);
    const id = `${day.office}:${day.day}`;
    const change = changeOfCalendar("calendar.add", id, { before: null, after: day });
    await recordChanges(tx, actor, [change], now);
  });
}

export async function removeDay(
  ctx: Changing,
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
    const before = { office, day };
    const change = changeOfCalendar("calendar.remove", `${office}:${day}`, { before, after: null });
    await recordChanges(tx, actor, [change], now);
  });
}

/** The calendar is for live deadlines, and nobody's but the operator's. */
function changeOfCalendar(
  action: string,
  id: string,
  { before, after }: { readonly before: object | null; readonly after: object | null },
): Change {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action,
    entity: { type: "calendar", id, version: 1, href: "/v1/meta/states" },
    before,
    after,
  };
}
