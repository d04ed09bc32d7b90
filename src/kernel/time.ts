// Instants are Dates inside the service and IST text at its edge. India has kept one offset without
// daylight saving since 1945, so IST is plain arithmetic.

const istOffsetMs = 330 * 60_000;
const isoLength = "2026-11-15T09:30:00.000Z".length;

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

/** `2026-11-15T09:30:00.000+05:30` */
type IstTimestamp = string;
/** `2026-11-15` */
export type IstDay = string;
/** `2026-11` */
export type IstMonth = string;

let lastMs = Number.NaN;
let lastTimestamp: IstTimestamp = "";

/** Caches the last text: the rows of a set mostly share one instant. */
export function istTimestamp(instant: Date): IstTimestamp {
  const ms = instant.getTime();
  if (ms !== lastMs) {
    lastTimestamp = `${toIstIso(instant).slice(0, -1)}+05:30`;
    lastMs = ms;
  }
  return lastTimestamp;
}

export function istDay(instant: Date): IstDay {
  return toIstIso(instant).slice(0, 10);
}

export function istMonth(instant: Date): IstMonth {
  return toIstIso(instant).slice(0, 7);
}

const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `November 2026`, for people. */
export function monthText(month: IstMonth): string {
  const [year = "", number = ""] = month.split("-");
  return `${monthNames[Number(number) - 1] ?? number} ${year}`;
}

/** `15 Nov 2026`, for people. */
export function dayText(instant: Date): string {
  const [month = "", year = ""] = monthText(istMonth(instant)).split(" ");
  return `${istDay(instant).slice(8)} ${month.slice(0, 3)} ${year}`;
}

/** `14:45:00 IST`, for people. */
export function timeText(instant: Date): string {
  return `${toIstIso(instant).slice(11, 19)} IST`;
}

/** The first instant of a day in IST. */
export function istDayStart(day: IstDay): Date {
  return new Date(`${day}T00:00:00+05:30`);
}

/** The first instant of the month after this one, in IST: when monthly quotas start again. */
export function nextIstMonthStart(instant: Date): Date {
  const local = new Date(instant.getTime() + istOffsetMs);
  const start = Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 1);
  return new Date(start - istOffsetMs);
}

/** `2026-27`: the Indian financial year, April to March. */
export type FinancialYear = string;

export function financialYear(instant: Date): FinancialYear {
  const [year = 0, month = 0] = istMonth(instant).split("-").map(Number);
  const first = month >= 4 ? year : year - 1;
  return `${first}-${String((first + 1) % 100).padStart(2, "0")}`;
}

/** The first instant of a financial year. */
export function financialYearStart(year: FinancialYear): Date {
  return istDayStart(`${year.slice(0, 4)}-04-01`);
}

/** The first instant of the financial year after it. */
export function financialYearEnd(year: FinancialYear): Date {
  return istDayStart(`${Number(year.slice(0, 4)) + 1}-04-01`);
}

export function lastDayOfMonth(month: IstMonth): IstDay {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year ?? 0, number ?? 0, 0)).toISOString().slice(0, 10);
}

/**
 * Parses ISO 8601 with an offset; undefined for any other text. The last hours of the year 9999 are
 * refused: in IST they are in the year 10000, which ISO 8601 cannot write.
 */
export function parseInstant(text: string): Date | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/.exec(text);
  if (!parts || !isCalendarDay(parts[1] ?? "")) return undefined;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime())) return undefined;
  return toIstIso(instant).length === isoLength ? instant : undefined;
}

/** Date.parse turns 31 February into March; a calendar day must survive the round trip. */
export function isCalendarDay(day: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return false;
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
}

/** Calendar arithmetic, without clock or offset. */
export function addDays(day: IstDay, days: number): IstDay {
  return new Date((dayNumber(day) + days) * dayMs).toISOString().slice(0, 10);
}

/** How many days `to` is after `from`; negative when it is before. */
export function daysBetween(from: IstDay, to: IstDay): number {
  return dayNumber(to) - dayNumber(from);
}

/** Days since 1 January 1970. Reads the digits itself: Date.parse costs more than pricing a credit. */
export function dayNumber(day: IstDay): number {
  const year = numberAt(day, 0) * 100 + numberAt(day, 2);
  return new Date(0).setUTCFullYear(year, numberAt(day, 5) - 1, numberAt(day, 8)) / dayMs;
}

const zeroCode = "0".charCodeAt(0);

/** The number of the two digits at an index. */
function numberAt(text: string, at: number): number {
  return (text.charCodeAt(at) - zeroCode) * 10 + text.charCodeAt(at + 1) - zeroCode;
}

function toIstIso(instant: Date): string {
  return new Date(instant.getTime() + istOffsetMs).toISOString();
}
