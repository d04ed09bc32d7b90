import { findOwnerships } from "../firms/find-firms.ts";
import { findHouse } from "../house/read-house.ts";
import { Failure } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { addDays, type IstDay, istDayStart } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workOneByOne } from "../platform/postgres/offenders.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { listDealsBetween, findFirstDeal } from "../settlement/read-settlements.ts";
import {
  computeFigure,
  findDayToFix,
  type IndexFigure,
  selectArmsLengthDeals,
} from "./public-rules.ts";
import type { RateFigure } from "./public-schema.ts";
import { findLastFigure, insertFigure } from "./public-store.ts";

/**
 * Fixes the oldest open day of each scheme. Missed days follow one by one. When several processes fix
 * a day at once, the first one's figure stays.
 */
export async function fixIndex(
  { db, now }: Context,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const instant = now();
  const fixed = await workOneByOne(offenders, schemes, async (scheme) => {
    const last = await db.run(findLastFigure(scheme, null));
    const day = findDayToFix({
      lastFixed: last?.day,
      firstDealAt: last ? undefined : await findFirstDeal(db, { environment: "live", scheme }),
      now: instant,
    });
    if (day === undefined) return 0;
    await insertFigure(db, await readIndexFigure(db, scheme, day), instant);
    return 1;
  });
  return fixed > 0 ? "more" : "idle";
}

/** Computes the index of a day from the deals on the tape, whether it is fixed or not. */
export async function readIndexFigure(db: Db, scheme: Scheme, day: IstDay): Promise<IndexFigure> {
  const deals = await listDealsBetween(db, {
    environment: "live",
    scheme,
    from: istDayStart(day),
    to: istDayStart(addDays(day, 1)),
  });
  const firmIds = deals.flatMap((deal) => [deal.seller_firm_id, deal.buyer_firm_id]);
  const house = await findHouse(db, "live", day);
  const counted = selectArmsLengthDeals(deals, await findOwnerships(db, firmIds), house?.pan);
  return computeFigure({ scheme, day }, counted, await db.run(findLastFigure(scheme, day)));
}

/** The figure of the last fixed day; undefined before there is one. */
export async function findLatestIndex(db: Db, scheme: Scheme): Promise<IndexFigure | undefined> {
  return await db.run(findLastFigure(scheme, null));
}

/** Those of several schemes, in their order. */
export async function latestIndices(
  db: Db,
  schemes: readonly Scheme[],
): Promise<readonly (IndexFigure | undefined)[]> {
  return await db.pipeline(schemes.map((scheme) => findLastFigure(scheme, null)));
}

/**
 * A figure as the public sees it. The counts of a running day are hidden: their changes would reveal
 * single deals.
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

export function parseScheme(text: string): Scheme {
  const scheme = schemes.find((known) => known === text);
  if (scheme) return scheme;
  throw new Failure("not_found", `there is no such scheme; there are ${schemes.join(" and ")}`);
}
