import type { Environment } from "../kernel/caller.ts";
import { invalidQuery } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { type PaiseSum, sumPaise } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { dayMs, isCalendarDay, type IstDay, istDay, istDayStart } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { type HouseDealt, sumHouseDealt } from "./store.ts";

export type HouseDay = {
  readonly environment: Environment;
  readonly day: IstDay;
  readonly schemes: readonly HouseDealt[];
  readonly result_paise: PaiseSum;
};

/** What the house dealt on a day, today unless one is named, and what that came to. */
export async function readHouseDay(
  { db, now }: Pick<Context, "db" | "now">,
  environment: Environment,
  asked: string | undefined,
): Promise<HouseDay> {
  if (asked !== undefined && !isCalendarDay(asked)) {
    throw invalidQuery("day", "must be a day as YYYY-MM-DD");
  }
  const day = asked ?? istDay(now());
  const from = istDayStart(day);
  const span = { from, to: new Date(from.getTime() + dayMs) };
  const houseId = houseFirmId[environment];
  const dealt = await sumHouseDealt(db, { environment, houseId, ...span });
  return {
    environment,
    day,
    schemes: schemes.map((scheme) => dealt.find((row) => row.scheme === scheme) ?? toNone(scheme)),
    result_paise: sumPaise(dealt.map((row) => row.result_paise)),
  };
}

function toNone(scheme: Scheme): HouseDealt {
  return {
    scheme,
    bought: 0,
    bought_face_paise: 0,
    bought_paise: 0,
    sold: 0,
    sold_face_paise: 0,
    sold_paise: 0,
    matched: 0,
    matched_face_paise: 0,
    kept_paise: 0,
    fees_paise: 0,
    result_paise: 0,
  };
}
