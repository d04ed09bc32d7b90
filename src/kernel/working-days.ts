// Deadlines count working days: the desk is closed on Sundays, on the second and fourth Saturday of a
// month and on bank holidays. The service itself never closes. The operator keeps the holidays, which
// are passed in as a calendar.

import { addDays, type IstDay, istDay, istDayStart, istTimestamp, parseInstant } from "./time.ts";

/** Whose working days count: the banks', or those on which customs works as well. */
export const offices = ["bank", "customs"] as const;

export type Office = (typeof offices)[number];

/** Exceptions from the regular week, for each office. */
export type Calendar = {
  /** Changes with every change of the days. */
  readonly version: string;
  readonly days: Readonly<Record<Office, ReadonlyMap<IstDay, boolean>>>;
};

/** Weeks and national holidays only. */
export const plainCalendar: Calendar = {
  version: "plain",
  days: { bank: new Map(), customs: new Map() },
};

/** Month and day; every bank is closed on these in every year. */
const nationalHolidays: ReadonlySet<string> = new Set(["01-26", "08-15", "10-02"]);

/** A later time of day counts as the next working day. */
export const cutOff = "15:30";
/** Deadlines are at the end of the desk's hours. */
export const closingTime = "17:30";
/** Bounds the search for a working day, whatever the calendar says. */
const closedDaysMax = 31;

/** A day on which the banks are closed is no working day for customs either. */
export function isWorkingDay(day: IstDay, office: Office, { days }: Calendar): boolean {
  if (!(days.bank.get(day) ?? isInWeek(day))) return false;
  return office === "bank" || (days.customs.get(day) ?? true);
}

function isInWeek(day: IstDay): boolean {
  if (nationalHolidays.has(day.slice(5))) return false;
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  if (weekday === 0) return false;
  if (weekday !== 6) return true;
  const saturdayOfMonth = Math.ceil(Number(day.slice(8)) / 7);
  return saturdayOfMonth !== 2 && saturdayOfMonth !== 4;
}

type CachedDeadline = {
  readonly fromMs: number;
  readonly calendar: Calendar;
  readonly closeMs: number;
};

/** The last deadline for each number of days: the deals of a set share a few deadlines. */
const cachedDeadlines: Readonly<Record<Office, Map<number, CachedDeadline>>> = {
  bank: new Map(),
  customs: new Map(),
};

/** The desk's closing time `days` working days after an instant; today counts before the cut-off. */
export function addWorkingDays(from: Date, days: number, office: Office, calendar: Calendar): Date {
  const fromMs = from.getTime();
  const asked = cachedDeadlines[office];
  let last = asked.get(days);
  if (last?.fromMs !== fromMs || last.calendar !== calendar) {
    const closeMs = closeAfter(from, days, (day) => isWorkingDay(day, office, calendar)).getTime();
    last = { fromMs, calendar, closeMs };
    asked.set(days, last);
  }
  return new Date(last.closeMs);
}

type WorksOn = (day: IstDay) => boolean;

function closeAfter(from: Date, days: number, works: WorksOn): Date {
  const today = istDay(from);
  const counts = works(today) && istTimestamp(from).slice(11, 16) < cutOff;
  let day = counts ? today : nextWorkingDay(today, works);
  for (let left = days; left > 0; left--) day = nextWorkingDay(day, works);
  return closeOn(day);
}

/**
 * Deadlines up to this instant are overdue, by `graceDays` working days. A deadline on a day that has
 * become a holiday moves to the next working day.
 */
export function lateUntil(now: Date, office: Office, calendar: Calendar, graceDays = 0): Date {
  const today = istDay(now);
  const isOpen = isWorkingDay(today, office, calendar) && now < closeOn(today);
  const before = isOpen ? addDays(today, -1) : today;
  let last = lastWorkingDay(before, office, calendar);
  if (last === before && graceDays === 0) return now;
  for (let left = graceDays; left > 0; left--) {
    last = lastWorkingDay(addDays(last, -1), office, calendar);
  }
  return istDayStart(addDays(last, 1));
}

/** The working days whose hours before the close this time cut into. */
export function countWorkingDays(
  { from, to }: { readonly from: Date; readonly to: Date },
  office: Office,
  calendar: Calendar,
): number {
  let days = 0;
  for (let day = istDay(from); day <= istDay(to); day = addDays(day, 1)) {
    if (isWorkingDay(day, office, calendar) && from < closeOn(day)) days += 1;
  }
  return days;
}

/**
 * The last day that at most so many working days come before, from today on. A day off counts as the
 * working day before it.
 */
export function lastDayWithin(
  today: IstDay,
  days: number,
  office: Office,
  calendar: Calendar,
): IstDay {
  const works = (day: IstDay) => isWorkingDay(day, office, calendar);
  let day = lastWorkingDay(today, office, calendar);
  for (let left = days; left > 0; left--) day = nextWorkingDay(day, works);
  return day;
}

/** The last working day up to this day. */
function lastWorkingDay(day: IstDay, office: Office, calendar: Calendar): IstDay {
  let last = day;
  for (let left = closedDaysMax; left > 0 && !isWorkingDay(last, office, calendar); left--) {
    last = addDays(last, -1);
  }
  return last;
}

function closeOn(day: IstDay): Date {
  const close = parseInstant(`${day}T${closingTime}:00+05:30`);
  if (!close) throw new Error("a working day has an end");
  return close;
}

function nextWorkingDay(day: IstDay, works: WorksOn): IstDay {
  let next = addDays(day, 1);
  for (let left = closedDaysMax; left > 0 && !works(next); left--) next = addDays(next, 1);
  return next;
}
