import { schemes } from "../kernel/scheme.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workOneByOne } from "../platform/offenders.ts";
import { firstDealAt } from "../settlement/first-deal.ts";
import { figureOfDay } from "./figure-of-day.ts";
import { dayToFix } from "./rules.ts";
import { findLastFigure, insertFigure } from "./store.ts";

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
