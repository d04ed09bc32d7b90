// Tables that are divided by the month, in IST. A month that nobody needs any more is dropped as a
// whole: no row is read, no index is searched, and the space is free at once.
//
//   table_2026_11       the partition of a month
//   table_to_2026_12    all that was there before the table was divided, up to a month
//   table_rest          what belongs to a month without a partition; it is moved when that is made

import { Failure, unprocessable } from "../kernel/failure.ts";
import { firstId } from "../kernel/ids.ts";
import { type IstMonth, istDay, istDayStart, istMonth } from "../kernel/time.ts";

export type MonthlyTable = {
  readonly name: string;
  /** For people. */
  readonly holds: string;
  /** The column that divides it, and its value at the beginning of a month. */
  readonly key: string;
  readonly bound: (start: Date) => string;
  /** How many whole months before the current one nobody may drop. */
  readonly keptMonths: number;
  /** Whether months that nobody needs are dropped without being asked for. */
  readonly goesByItself?: true;
  /** Percent of a page that inserts fill, when rows are updated later. */
  readonly fillfactor?: number;
  /** Rows, as a condition of SQL, that something is still to be done with: their month is not dropped. */
  readonly unfinished?: { readonly where: string; readonly what: string };
};

export const monthlyTables: readonly MonthlyTable[] = [
  {
    name: "delivered_blocks",
    holds: "deliveries of webhooks that were taken at the first attempt",
    key: "delivered_at",
    bound: (start) => start.toISOString(),
    keptMonths: 3,
  },
  {
    name: "deliveries",
    holds: "deliveries of webhooks that failed, took long or were given up",
    key: "created_at",
    bound: (start) => start.toISOString(),
    keptMonths: 3,
    fillfactor: 80,
    unfinished: { where: "state = 'pending'", what: "deliveries that are still to be sent" },
  },
  {
    name: "delivery_attempts",
    holds: "the attempts of those deliveries",
    key: "at",
    bound: (start) => start.toISOString(),
    keptMonths: 3,
  },
  {
    name: "quotes",
    holds: "quotes, used and unused",
    key: "quote_ref",
    bound: (start) => firstId("qte", start),
    keptMonths: 12,
  },
  {
    name: "request_blocks",
    holds: "calls of the last 30 days, without what was in them",
    key: "second",
    bound: (start) => start.toISOString(),
    keptMonths: 2,
    goesByItself: true,
  },
  {
    name: "usage_days",
    holds: "calls of keys by day and route",
    key: "day",
    bound: (start) => istDay(start),
    keptMonths: 12,
  },
];

const aheadMonths = 2;

export function addMonths(month: IstMonth, count: number): IstMonth {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7);
}

export function startMonth(month: IstMonth): Date {
  return istDayStart(`${month}-01`);
}

export function namePartition(table: string, month: IstMonth): string {
  return `${table}_${month.replace("-", "_")}`;
}

/** The month from which a partition holds nothing more; undefined for the rest. */
export function readEnd(table: string, partition: string): IstMonth | undefined {
  const [, until, year, number] =
    /^(_to)?_(\d{4})_(\d{2})$/.exec(partition.slice(table.length)) ?? [];
  if (year === undefined || number === undefined) return undefined;
  return until === undefined ? addMonths(`${year}-${number}`, 1) : `${year}-${number}`;
}

/** The months from now on that have no partition yet. */
export function listMissing(
  { name: table }: Pick<MonthlyTable, "name">,
  partitions: readonly string[],
  now: Date,
): IstMonth[] {
  const former = partitions.filter((partition) => partition.startsWith(`${table}_to_`));
  const dividedFrom = former
    .map((partition) => readEnd(table, partition) ?? "")
    .toSorted()
    .at(-1);
  const current = istMonth(now);
  return Array.from({ length: aheadMonths + 1 }, (_, ahead) => addMonths(current, ahead)).filter(
    (month) =>
      !partitions.includes(namePartition(table, month)) &&
      (dividedFrom === undefined || month >= dividedFrom),
  );
}

/** A month with something left to do is kept. */
export function refuseUnfinished(partition: string, count: number, what: string): void {
  if (count === 0) return;
  throw new Failure("conflict", `${partition} holds ${count} ${what}; none of it was dropped`);
}

/** The partitions that hold nothing from a month on. */
export function listBefore(
  { name: table }: Pick<MonthlyTable, "name">,
  partitions: readonly string[],
  before: IstMonth,
): string[] {
  return partitions.filter((partition) => {
    const end = readEnd(table, partition);
    return end !== undefined && end <= before;
  });
}

/** The latest month before which this table may be dropped. */
export function latestBefore(
  { keptMonths }: Pick<MonthlyTable, "keptMonths">,
  now: Date,
): IstMonth {
  return addMonths(istMonth(now), -keptMonths);
}

export function refuseEarly(
  { name: table, keptMonths }: Pick<MonthlyTable, "name" | "keptMonths">,
  before: IstMonth,
  now: Date,
): void {
  const latest = latestBefore({ keptMonths }, now);
  if (before <= latest) return;
  throw unprocessable({
    path: "before",
    problem: `must be ${latest} or earlier for ${table}: ${keptMonths} whole months are kept`,
  });
}
