import { kinOfFirms } from "../firms/find-firms.ts";
import { Failure } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { addDays, type IstDay, istDayStart } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workOneByOne } from "../platform/postgres/offenders.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { dealsBetween, firstDealAt } from "../settlement/past-deals.ts";
import { dayToFix, dealsAtArmsLength, figureOf, type IndexFigure } from "./public-rules.ts";
import type { RateFigure } from "./public-schema.ts";
import { findLastFigure, insertFigure } from "./public-store.ts";

/**
 * Fixes the oldest open day of each scheme. Days that were missed follow one by one, each a piece of
 * its own. Of several processes that fix a day at once the first one's figure stays.
 */
export async function fixIndex(
  { db, now }: Context,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const instant = now();
  const fixed = await workOneByOne(offenders, schemes, async (scheme) => {
    const last = await findLastFigure(db, scheme, null);
    const day = dayToFix({
      lastFixed: last?.day,
      firstDealAt: last ? undefined : await firstDealAt(db, { environment: "live", scheme }),
      now: instant,
    });
    if (day === undefined) return 0;
    await insertFigure(db, await figureOfDay(db, scheme, day), instant);
    return 1;
  });
  return fixed > 0 ? "more" : "idle";
}

/** What the index of a day is by the deals on the tape now; fixed or not. */
export async function figureOfDay(db: Db, scheme: Scheme, day: IstDay): Promise<IndexFigure> {
  const deals = await dealsBetween(db, {
    environment: "live",
    scheme,
    from: istDayStart(day),
    to: istDayStart(addDays(day, 1)),
  });
  const firmIds = deals.flatMap((deal) => [deal.seller_firm_id, deal.buyer_firm_id]);
  const counted = dealsAtArmsLength(deals, await kinOfFirms(db, firmIds));
  return figureOf({ scheme, day }, counted, await findLastFigure(db, scheme, day));
}

/** The figure of the last fixed day; undefined before there is one. */
export async function latestIndex(db: Db, scheme: Scheme): Promise<IndexFigure | undefined> {
  return await findLastFigure(db, scheme, null);
}

/**
 * A figure as the public is shown it. While the day runs its counts stay untold: from one look to
 * the next they would show single deals.
 */
export function viewFigure(figure: IndexFigure, { final }: { final: boolean }): RateFigure {
  return {
    scheme: figure.scheme,
    date: figure.day,
    index_bps: figure.index_bps,
    basis: figure.basis,
    stale: figure.basis !== "deals",
    deals_on: figure.deals_on,
    final,
    deal_count: final ? figure.deal_count : null,
    seller_count: final ? figure.seller_count : null,
    face_paise: final ? figure.face_paise : null,
  };
}

/** The scheme a path names; a path that names none leads nowhere. */
export function namedScheme(text: string): Scheme {
  const scheme = schemes.find((known) => known === text);
  if (scheme) return scheme;
  throw new Failure("not_found", `there is no such scheme; there are ${schemes.join(" and ")}`);
}

// For how long others may keep an answer. `s-maxage` speaks to caches between us and the reader,
// which may also hand out what they have while they fetch it anew.

/** Figures that move with every deal. */
export const running = "public, max-age=10, s-maxage=30, stale-while-revalidate=60";

/** A list that grows by one line a day. */
export const growing = "public, max-age=60, s-maxage=300, stale-while-revalidate=3600";

/** What is fixed for good. */
export const fixed = "public, max-age=31536000, immutable";

/** What changes with a release of the service. */
export const released = "public, max-age=3600, s-maxage=86400, stale-while-revalidate=86400";
