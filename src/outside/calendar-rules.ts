// The days of the calendar: the holidays and extra working days that banks and customs publish.

import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { type IstDay, isCalendarDay } from "../kernel/time.ts";
import { type Calendar, type Office, offices } from "../kernel/working-days.ts";

/** Seed rows have the status `check`; rows from an operator are `confirmed`. */
export const dayStatuses = ["check", "confirmed"] as const;

export type DayStatus = (typeof dayStatuses)[number];

/** A day that differs from the ordinary week: a holiday, or a working Saturday. */
export type CalendarDay = {
  readonly office: Office;
  readonly day: IstDay;
  readonly name: string;
  readonly works: boolean;
};

/** Enough for the holidays of decades. */
const daysMax = 5_000;
const nameLengthMax = 100;

/** A row of a file, unchecked. */
export type GivenDay = {
  readonly office: string;
  readonly day: string;
  readonly name: string;
  readonly works: string;
};

/** Parses the rows, or refuses them with every problem. */
export function parseDays(given: readonly GivenDay[]): CalendarDay[] {
  if (given.length === 0 || given.length > daysMax) {
    throw unprocessable({ path: "days", problem: `must be 1 to ${daysMax} rows` });
  }
  const problems: FieldProblem[] = [];
  const seen = new Set<string>();
  const days = given.map((row, at): CalendarDay => {
    const refuse = (field: string, problem: string) =>
      problems.push({ path: `row ${at + 1}: ${field}`, problem });
    const office = offices.find((known) => known === row.office);
    if (!office) refuse("office", `must be ${offices.join(" or ")}`);
    if (!isCalendarDay(row.day)) refuse("day", "must be a day like 2026-11-24");
    const name = row.name.trim();
    if (name === "" || name.length > nameLengthMax)
      refuse("name", `must have 1 to ${nameLengthMax} characters`);
    const works = worksByText.get(row.works);
    if (works === undefined) refuse("works", "must be yes or no");
    if (works && office === "customs") refuse("works", "only banks have working days of their own");
    const key = `${row.office} ${row.day}`;
    if (seen.has(key)) refuse("day", "is there twice");
    seen.add(key);
    return { office: office ?? "bank", day: row.day, name, works: works ?? false };
  });
  if (problems.length > 0) throw unprocessable(...problems.slice(0, 20));
  return days;
}

/** An empty cell means a holiday. */
const worksByText: ReadonlyMap<string, boolean> = new Map([
  ["", false],
  ["no", false],
  ["yes", true],
]);

/** The calendar in the form that `kernel/working-days.ts` takes. */
export function buildCalendar(
  version: string,
  days: readonly Pick<CalendarDay, "office" | "day" | "works">[],
): Calendar {
  const ofOffice = (office: Office) =>
    new Map(days.filter((row) => row.office === office).map(({ day, works }) => [day, works]));
  return { version, days: { bank: ofOffice("bank"), customs: ofOffice("customs") } };
}

export function parseYear(day: IstDay): number {
  return Number(day.slice(0, 4));
}
