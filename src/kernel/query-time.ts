import { Failure } from "./failure.ts";
import { daysBetween, isCalendarDay, type IstDay, parseInstant } from "./time.ts";

/** Days of a query string, both included; what names no span within the bound is refused. */
export function refuseDays(
  { from, to }: { readonly from: IstDay; readonly to: IstDay },
  daysMax: number,
): void {
  const problem = findProblem(from, to, daysMax);
  if (problem === undefined) return;
  throw new Failure("validation_error", `from: ${problem}`, {
    form: "transport",
    detail: { fields: [{ path: "from", problem }] },
  });
}

function findProblem(from: IstDay, to: IstDay, daysMax: number): string | undefined {
  if (!isCalendarDay(from) || !isCalendarDay(to)) return "and to must be days of the calendar";
  if (from > to) return "must not be after to";
  return daysBetween(from, to) >= daysMax ? `must be within ${daysMax} days of to` : undefined;
}

/** The instant that a query string names, null when it names none; what is no instant is refused. */
export function queryInstant(path: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const instant = parseInstant(text);
  if (instant) return instant;
  const problem = "must be ISO 8601 with an offset";
  throw new Failure("validation_error", `${path}: ${problem}`, {
    form: "transport",
    detail: { fields: [{ path, problem }] },
  });
}
