import { findHouse } from "../house/read-house.ts";
import { listMissingParticulars, type NeededParticular } from "../house/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { type PaiseSum, sumPaise } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { dayMs, isCalendarDay, istDay, type IstDay, istDayStart } from "../kernel/time.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import type { Context } from "../platform/context.ts";
import { loadCardsToday } from "../rates/current-cards.ts";
import type { MarketState } from "../rates/rules.ts";
import {
  countWaiting,
  type HouseDealt,
  sumDealt,
  sumHouseDealt,
  sumHouseMoney,
  type WaitingCounts,
} from "./store.ts";
import { invalidQuery } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";

/** Counts stop here: a person has more than enough to do then. */
const countMost = 100;

/** One scheme's day. */
type SchemeDay = {
  readonly scheme: Scheme;
  /** Null before its first card. */
  readonly market: MarketState | null;
  readonly mid_bps: number | null;
  readonly deals: number;
  readonly dealt_face_paise: PaiseSum;
  /** The face that the house has taken on today, of what it may. */
  readonly house_taken_paise: number;
  readonly house_limit_paise: number | null;
};

type Today = {
  readonly environment: Environment;
  readonly day: IstDay;
  readonly as_of: Date;
  readonly waiting: WaitingCounts;
  /** What the house lacks of being complete. */
  readonly house_missing: readonly NeededParticular[];
  readonly schemes: readonly SchemeDay[];
  readonly house_cash_paise: PaiseSum;
  readonly house_fees_paise: PaiseSum;
  readonly unmatched_cash_paise: PaiseSum;
  readonly ledger_sound: boolean;
};

/** What waits for somebody, and how the day stands. */
export async function showToday(
  { db, now: readClock }: Pick<Context, "db" | "now">,
  environment: Environment,
): Promise<Today> {
  const now = readClock();
  const day = istDay(now);
  const dayStart = istDayStart(day);
  const dayEnd = new Date(dayStart.getTime() + dayMs);
  const [waiting, dealt, money, findCard, isSound, house] = await Promise.all([
    countWaiting(db.planned, { environment, now, dayEnd, most: countMost }),
    sumDealt(db, environment, dayStart),
    sumHouseMoney(db, environment),
    db.run(loadCardsToday([environment], now)),
    ledgerIsSound(db, now),
    findHouse(db, environment, day),
  ]);
  const onAccount = (account: string): PaiseSum =>
    money.find((row) => row.account === account)?.paise ?? 0;
  return {
    environment,
    day,
    as_of: now,
    waiting,
    house_missing: listMissingParticulars(house),
    schemes: schemes.map((scheme) => {
      const card = findCard(environment, scheme);
      const tape = dealt.find((row) => row.scheme === scheme);
      return {
        scheme,
        market: card?.state ?? null,
        mid_bps: card?.mid_bps ?? null,
        deals: tape?.deals ?? 0,
        dealt_face_paise: tape?.face_paise ?? 0,
        house_taken_paise: card?.taken_paise ?? 0,
        house_limit_paise: card?.house_limit_paise ?? null,
      };
    }),
    house_cash_paise: onAccount("house_cash"),
    house_fees_paise: onAccount("house_fees"),
    unmatched_cash_paise: onAccount("unmatched_cash"),
    ledger_sound: isSound,
  };
}

type HouseDay = {
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
