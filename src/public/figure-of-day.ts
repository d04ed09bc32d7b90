import { kinOfFirms } from "../firms/kin-of-firms.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { addDays, type IstDay, istDayStart } from "../kernel/time.ts";
import type { Db } from "../platform/postgres.ts";
import { dealsBetween } from "../settlement/deals-between.ts";
import { dealsAtArmsLength, figureOf, type IndexFigure } from "./rules.ts";
import { findLastFigure } from "./store.ts";

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
