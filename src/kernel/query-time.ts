import { invalidQuery } from "./failure.ts";
import { daysBetween, isCalendarDay, type IstDay, parseInstant } from "./time.ts";

/** Refuses a range of days in a query string that is not valid or longer than `daysMax`. */
export function refuseDays(
  { from, to }: { readonly from: IstDay; readonly to: IstDay },
  daysMax: number,
): void {
  const problem = findProblem(from, to, daysMax);
  if (problem !== undefined) throw invalidQuery("from", problem);
}

function findProblem(from: IstDay, to: IstDay, daysMax: number): string | undefined {
  if (!isCalendarDay(from) || !isCalendarDay(to)) return "and to must be days of the calendar";
  if (from > to) return "must not be after to";
  return daysBetween(from, to) >= daysMax ? `must be within ${daysMax} days of to` : undefined;
}

/** Parses an instant of a query string; null when absent. */
export function parseQueryInstant(path: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const instant = parseInstant(text);
  if (instant) return instant;
  throw invalidQuery(path, "must be ISO 8601 with an offset");
}
