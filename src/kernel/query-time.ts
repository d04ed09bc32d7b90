import { hintAtPlus, invalidQuery } from "./failure.ts";
import { dayMs, daysBetween, isCalendarDay, type IstDay, parseInstant } from "./time.ts";

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
  throw invalidQuery(path, `must be ISO 8601 with an offset${hintAtPlus(text)}`);
}

/** Two ends of a time, each a day in IST or an instant: from the first on, before the second. */
export type TimeSpan = { readonly from: Date | null; readonly to: Date | null };

/** The last day counts whole. */
export function parseQuerySpan(span: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): TimeSpan {
  return { from: parseEnd("from", span.from, 0), to: parseEnd("to", span.to, dayMs) };
}

function parseEnd(path: string, text: string | undefined, lengthMs: number): Date | null {
  const isDay = text !== undefined && isCalendarDay(text);
  const instant = parseQueryInstant(path, isDay ? `${text}T00:00:00+05:30` : text);
  return isDay && instant ? new Date(instant.getTime() + lengthMs) : instant;
}
