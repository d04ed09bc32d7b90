import { Failure } from "../kernel/failure.ts";
import { istDay } from "../kernel/time.ts";
import type { Cacheable } from "../platform/caching.ts";
import type { Context } from "../platform/context.ts";
import { figureOfDay } from "./figure-of-day.ts";
import { fixed, running } from "./freshness.ts";
import { latestIndex } from "./latest-index.ts";
import { namedScheme } from "./named-scheme.ts";
import { figureOf, isIndexDay } from "./rules.ts";
import type { RateFigure } from "./schema.ts";
import { findFigure } from "./store.ts";
import { viewFigure } from "./view-figure.ts";

export async function readRateOfDay(
  { db, now }: Context,
  { scheme: name, date: day }: { readonly scheme: string; readonly date: string },
): Promise<Cacheable<RateFigure>> {
  const scheme = namedScheme(name);
  if (!isIndexDay(day) || day > istDay(now())) {
    throw new Failure("not_found", "there is a figure for days up to today, as YYYY-MM-DD");
  }
  const figure = await findFigure(db, scheme, day);
  if (figure) return { answer: viewFigure(figure, { final: true }), cacheControl: fixed };
  const last = await latestIndex(db, scheme);
  // Days are fixed in their order: what lies before them had no deals and will get none.
  if (last && day < last.day) {
    const nothing = figureOf({ scheme, day }, [], undefined);
    return { answer: viewFigure(nothing, { final: true }), cacheControl: fixed };
  }
  const answer = viewFigure(await figureOfDay(db, scheme, day), { final: false });
  return { answer, cacheControl: running };
}
