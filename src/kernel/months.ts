// Periods of statements: months in IST, written `2026-11`.

import { unprocessable } from "./failure.ts";
import { addDays, type IstDay, istDayStart, type IstMonth, lastDayOfMonth } from "./time.ts";

const periodForm = /^\d{4}-(0[1-9]|1[0-2])$/;

export function isPeriod(text: string): boolean {
  return periodForm.test(text);
}

/** Refuses what is no month. */
export function refuseOtherPeriod(period: string): void {
  if (isPeriod(period)) return;
  throw unprocessable({ path: "period", problem: "must be a month, YYYY-MM" });
}

/** The first instant of a month, and that of the next. */
export function periodSpan(period: IstMonth): { readonly from: Date; readonly to: Date } {
  return { from: istDayStart(`${period}-01`), to: istDayStart(dayAfter(period)) };
}

export function nextPeriod(period: IstMonth): IstMonth {
  return dayAfter(period).slice(0, 7);
}

export function previousPeriod(period: IstMonth): IstMonth {
  return addDays(`${period}-01`, -1).slice(0, 7);
}

function dayAfter(period: IstMonth): IstDay {
  return addDays(lastDayOfMonth(period), 1);
}

/** From the first month to the last, oldest first. */
export function periodsBetween(first: IstMonth, last: IstMonth): IstMonth[] {
  const periods: IstMonth[] = [];
  for (let period = first; period <= last; period = nextPeriod(period)) periods.push(period);
  return periods;
}
