// Deadlines count working days: the desk is closed on Sundays, on the second and fourth Saturday of
// a month and on bank holidays. The service itself never closes.

import { addDays, type IstDay, istDay, istTimestamp, parseInstant } from "./time.ts";

/** On these every bank is closed in every year. */
const nationalHolidays: ReadonlySet<string> = new Set(["01-26", "08-15", "10-02"]);

/** What comes later in a day counts as of the next working day. */
const cutOff = "15:30";
/** Deadlines are at the end of the desk's hours. */
const closingTime = "17:30:00+05:30";

export function isWorkingDay(day: IstDay): boolean {
  if (nationalHolidays.has(day.slice(5))) return false;
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  if (weekday === 0) return false;
  if (weekday !== 6) return true;
  const saturdayOfMonth = Math.ceil(Number(day.slice(8)) / 7);
  return saturdayOfMonth !== 2 && saturdayOfMonth !== 4;
}

/** What was asked last, by the number of days: the deals of a set have the same few deadlines. */
const lastAsked = new Map<number, { readonly fromMs: number; readonly closeMs: number }>();

/** The close of the desk so many working days after an instant; today counts before the cut-off. */
export function addWorkingDays(from: Date, days: number): Date {
  const fromMs = from.getTime();
  let last = lastAsked.get(days);
  if (last?.fromMs !== fromMs) {
    last = { fromMs, closeMs: closeAfter(from, days).getTime() };
    lastAsked.set(days, last);
  }
  return new Date(last.closeMs);
}

function closeAfter(from: Date, days: number): Date {
  const counts = isWorkingDay(istDay(from)) && istTimestamp(from).slice(11, 16) < cutOff;
  let day = counts ? istDay(from) : nextWorkingDay(istDay(from));
  for (let left = days; left > 0; left--) day = nextWorkingDay(day);
  const close = parseInstant(`${day}T${closingTime}`);
  if (!close) throw new Error("a working day has an end");
  return close;
}

function nextWorkingDay(day: IstDay): IstDay {
  let next = addDays(day, 1);
  while (!isWorkingDay(next)) next = addDays(next, 1);
  return next;
}
