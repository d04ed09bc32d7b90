import { Failure } from "../kernel/failure.ts";
import { addDays, daysBetween, istDay } from "../kernel/time.ts";
import type { Cacheable } from "../platform/caching.ts";
import type { Context } from "../platform/context.ts";
import { fixed, growing } from "./freshness.ts";
import { latestIndex } from "./latest-index.ts";
import { namedScheme } from "./named-scheme.ts";
import { historyDaysMax, isIndexDay } from "./rules.ts";
import type { HistoryQuery, RateHistory } from "./schema.ts";
import { listFigures } from "./store.ts";
import { viewFigure } from "./view-figure.ts";

const daysByDefault = 365;

export async function readRateHistory(
  { db, now }: Context,
  { scheme: name, ...query }: { readonly scheme: string } & HistoryQuery,
): Promise<Cacheable<RateHistory>> {
  const scheme = namedScheme(name);
  const to = query.to ?? istDay(now());
  const from = query.from ?? addDays(to, -daysByDefault);
  refuseSpan(from, to);
  const last = await latestIndex(db, scheme);
  const figures = await listFigures(db, scheme, { from, to });
  const days = figures.map((figure) => viewFigure(figure, { final: true }));
  return {
    answer: { scheme, from, to, days },
    // No line is ever added before the last one.
    cacheControl: last && to <= last.day ? fixed : growing,
  };
}

function refuseSpan(from: string, to: string): void {
  const problem = spanProblem(from, to);
  if (problem === undefined) return;
  throw new Failure("validation_error", `from: ${problem}`, {
    form: "transport",
    detail: { fields: [{ path: "from", problem }] },
  });
}

function spanProblem(from: string, to: string): string | undefined {
  if (!isIndexDay(from)) return "must be a day of the calendar";
  if (from > to) return "must not be after to";
  if (daysBetween(from, to) >= historyDaysMax) return `must be within ${historyDaysMax} days of to`;
  return undefined;
}
