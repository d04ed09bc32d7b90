// The price of a credit: one pure function per side, of a card, a size and a validity.
//
//   bid = mid + size band + validity band − half-spread, within floor and ceiling
//   ask = mid − size band + half-spread, above the floor and at most the ask ceiling
//
// A negative size band moves both sides away from the mid, so small sizes get a lower bid and a
// higher ask. No bid is above the mid and no ask below it, for any size and validity, so buying
// from the house and selling back never gains. A card whose bands cross the mid cannot be
// published; an older one is clamped to the mid.

import { sellableDaysMin } from "../credits/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { isCleanText } from "../kernel/json.ts";
import { type Bps, priceFloor, bpsOfPar } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";

export const marketStates = ["open", "halted"] as const;

export type MarketState = (typeof marketStates)[number];

/** For faces below the bound; the last band has no bound. */
export type SizeBand = { readonly below_paise: number | null; readonly bps: number };

/** For credits with at least so many days left; below the last band there is no price. */
export type ValidityBand = { readonly from_days: number; readonly bps: number };

/** What operators set: everything a price is made of. */
export type CardTerms = {
  readonly mid_bps: number;
  readonly half_spread_bps: number;
  /** By rising bound. */
  readonly size_bands: readonly SizeBand[];
  /** By falling number of days. */
  readonly validity_bands: readonly ValidityBand[];
  readonly floor_bps: number;
  readonly ceiling_bps: number;
  readonly ask_ceiling_bps: number;
  readonly face_max_paise: number;
  readonly house_limit_paise: number;
  /** The share of the house limit that open quotes of one desk may hold. */
  readonly desk_share_bps: number;
  readonly quote_window_s: number;
  /** The least face that may rest. */
  readonly rest_min_paise: number;
  readonly margin_bps: number;
  readonly fee_bps: number;
  /** What a side that is proved late pays the other, of face. */
  readonly default_bps: number;
};

export type RateCard = CardTerms & {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly version: number;
  readonly state: MarketState;
  readonly published_at: Date;
  readonly published_by: string;
  readonly note: string | null;
};

/** A card with the second operator who approved it, if any. */
export type AuthoredCard = RateCard & { readonly approved_by: string | null };

/** A card, and the face that the house has bought today in its scheme. */
export type CardToday = RateCard & {
  /** The rate of GST on a fee, in force today. */
  readonly gst_bps: Bps;
  readonly taken_paise: number;
  /** What the desk that asks has of the sandbox's day; null in live, and where nobody asks. */
  readonly desk_day?: DeskDay | null;
};

/**
 * How many credits of the synthetic shelf one desk may buy in a day, of each scheme: half of it, so that
 * the others find some whatever one takes.
 */
export const shelfShareCredits = 150;

/** What one desk has had of the sandbox's house on a day, in a scheme. */
export type DeskDay = {
  /** The face that the house bought from it. */
  readonly taken_paise: number;
  /** The credits of the synthetic shelf that it bought. */
  readonly shelf_credits: number;
};

export const nothingOfDay: DeskDay = { taken_paise: 0, shelf_credits: 0 };

/** The credits of the shelf that the desk that asks may still buy today. */
export function findShelfRoom({ desk_day }: Pick<CardToday, "desk_day">): number {
  return desk_day ? Math.max(0, shelfShareCredits - desk_day.shelf_credits) : Infinity;
}

/** The face that the house may still buy today: of everybody, and of the desk that asks. */
export function findRoom(card: CardToday): number {
  const left = card.house_limit_paise - card.taken_paise;
  return card.desk_day ? Math.min(left, findDeskShare(card) - card.desk_day.taken_paise) : left;
}

/** The part of the day's limit that one desk may have. */
export function findDeskShare(card: CardTerms): number {
  return priceFloor(card.house_limit_paise, card.desk_share_bps);
}

/** A price by amount is for credits with at least so many days left; others are priced singly. */
export const amountDaysMin = 365;

/** The bid for a credit; undefined when it has too few days left for a price. */
export function priceBid(card: RateCard, facePaise: number, daysLeft: number): number | undefined {
  const validity = card.validity_bands.find((band) => daysLeft >= band.from_days);
  if (!validity) return undefined;
  const bid = card.mid_bps + findSizeBps(card, facePaise) + validity.bps - card.half_spread_bps;
  return Math.min(Math.max(bid, card.floor_bps), card.ceiling_bps, clampMid(card));
}

/** The ask for cover of so much duty. */
export function priceAsk(card: RateCard, coveredPaise: number): number {
  const ask = card.mid_bps - findSizeBps(card, coveredPaise) + card.half_spread_bps;
  return Math.max(Math.min(ask, card.ask_ceiling_bps), card.floor_bps + 1, clampMid(card));
}

/** The sums that one ask is for. */
export type AskRange = {
  readonly leastPaise: number;
  readonly mostPaise: number;
  readonly askBps: number;
};

/** The ask of every sum up to this one, from the largest sums down. */
export function listAsks(card: RateCard, upToPaise: number): readonly AskRange[] {
  const bounds = card.size_bands.map(({ below_paise }) => below_paise ?? Infinity);
  return bounds
    .map((below, at) => ({
      leastPaise: bounds[at - 1] ?? 1,
      mostPaise: Math.min(below - 1, upToPaise),
    }))
    .filter(({ leastPaise, mostPaise }) => leastPaise <= mostPaise)
    .map((range) => ({ ...range, askBps: priceAsk(card, range.leastPaise) }))
    .toReversed();
}

/** The mid, within floor and ask ceiling: the limit of every bid and every ask. */
export function clampMid({
  mid_bps,
  floor_bps,
  ask_ceiling_bps,
}: Pick<RateCard, "mid_bps" | "floor_bps" | "ask_ceiling_bps">): number {
  return Math.min(Math.max(mid_bps, floor_bps), ask_ceiling_bps);
}

/** The least that the house keeps of a deal, in bps of face: as a party, or between two clients. */
export function findLeastKept(
  card: Pick<CardTerms, "half_spread_bps" | "size_bands" | "validity_bands" | "margin_bps">,
): { readonly asPartyBps: number; readonly betweenBps: number } {
  const size = Math.max(...card.size_bands.map(({ bps }) => bps));
  const validity = Math.max(...card.validity_bands.map(({ bps }) => bps));
  const asPartyBps = card.half_spread_bps - Math.max(size, 0) - Math.max(validity, 0);
  return { asPartyBps: Math.max(asPartyBps, 0), betweenBps: card.margin_bps };
}

function findSizeBps({ size_bands }: RateCard, paise: number): number {
  const band = size_bands.find(({ below_paise }) => below_paise === null || paise < below_paise);
  if (!band) throw new Error("the last size band has no bound");
  return band.bps;
}

const commonTerms = {
  size_bands: [
    { below_paise: 5_000_000, bps: -150 },
    { below_paise: 10_000_000, bps: -90 },
    { below_paise: 50_000_000, bps: -45 },
    { below_paise: 250_000_000, bps: -15 },
    { below_paise: 1_000_000_000, bps: 0 },
    { below_paise: null, bps: 10 },
  ],
  validity_bands: [
    { from_days: 365, bps: 0 },
    { from_days: 180, bps: -15 },
    { from_days: 90, bps: -50 },
    { from_days: 60, bps: -110 },
    { from_days: 30, bps: -250 },
  ],
  floor_bps: 7_500,
  ceiling_bps: 9_980,
  ask_ceiling_bps: 9_990,
  face_max_paise: 15_000_000_000,
  house_limit_paise: 1_000_000_000_000,
  desk_share_bps: 1_000,
  quote_window_s: 120,
  rest_min_paise: 100_000,
  margin_bps: 20,
  fee_bps: 0,
  default_bps: 50,
} as const;

/** The default terms of a scheme's first card. */
export const startingTerms: Readonly<Record<Scheme, CardTerms>> = {
  RODTEP: { mid_bps: 9_850, half_spread_bps: 40, ...commonTerms },
  ROSCTL: { mid_bps: 9_835, half_spread_bps: 45, ...commonTerms },
};

const paiseMax = Number.MAX_SAFE_INTEGER;
const bandsMax = 50;
const noteLengthMax = 500;

/** The longest validity that a card may give a quote. */
export const quoteWindowMaxS = 86_400;

/** Minimum and maximum of each number of a card. */
const ranges = {
  mid_bps: [1, bpsOfPar],
  half_spread_bps: [1, 5_000],
  floor_bps: [1, bpsOfPar - 1],
  ceiling_bps: [1, bpsOfPar - 1],
  ask_ceiling_bps: [1, bpsOfPar - 1],
  face_max_paise: [1, paiseMax],
  house_limit_paise: [1, paiseMax],
  desk_share_bps: [1, bpsOfPar],
  quote_window_s: [1, quoteWindowMaxS],
  rest_min_paise: [1, paiseMax],
  margin_bps: [0, 5_000],
  fee_bps: [0, 1_000],
  default_bps: [0, 1_000],
} as const satisfies Partial<Record<keyof CardTerms, readonly [number, number]>>;

const bandBps = [-bpsOfPar, bpsOfPar] as const;
const bandPaise = [1, paiseMax] as const;
const bandDays = [sellableDaysMin, 36_500] as const;

/**
 * The problems that keep terms from being published:
 *
 *   1. every number is whole and within its range
 *   2. floor < ceiling < ask ceiling
 *   3. size bands rise, and the last one alone has no bound
 *   4. validity bands fall, and one of them has the days that a price by amount is for
 *   5. neither floor, ask ceiling nor a band moves a bid above the mid or an ask below it
 *
 * The last check runs only when the others pass. Bands need not be monotone.
 */
export function findTermProblems(terms: CardTerms): FieldProblem[] {
  const problems = [
    ...findRangeProblems(terms),
    ...findClampProblems(terms),
    ...findSizeBandProblems(terms.size_bands),
    ...findValidityBandProblems(terms.validity_bands),
  ];
  return problems.length > 0 ? problems : findSpreadProblems(terms);
}

/** A note says why a card changed. */
export function refuseNote(note: string | undefined): void {
  if (note === undefined || (note.length <= noteLengthMax && isCleanText(note))) return;
  throw unprocessable({ path: "note", problem: `must be at most ${noteLengthMax} characters` });
}

type Range = readonly [min: number, max: number];

function findRangeProblem(value: number, [min, max]: Range): string | undefined {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return undefined;
  return `must be a whole number from ${min} to ${max}`;
}

/** Every term that is a number. */
export const cardNumbers = Object.keys(ranges) as (keyof typeof ranges)[]; // It has no other keys.

function findRangeProblems(terms: CardTerms): FieldProblem[] {
  return cardNumbers.flatMap((path) => {
    const problem = findRangeProblem(terms[path], ranges[path]);
    return problem === undefined ? [] : [{ path, problem }];
  });
}

function findClampProblems({ floor_bps, ceiling_bps, ask_ceiling_bps }: CardTerms): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (floor_bps >= ceiling_bps) {
    problems.push({ path: "ceiling_bps", problem: "must be above floor_bps" });
  }
  if (ceiling_bps >= ask_ceiling_bps) {
    problems.push({ path: "ask_ceiling_bps", problem: "must be above ceiling_bps" });
  }
  return problems;
}

function findSizeBandProblems(bands: CardTerms["size_bands"]): FieldProblem[] {
  const path = "size_bands";
  const problem =
    findCountProblem(bands) ??
    bands.map(({ bps }) => findRangeProblem(bps, bandBps)).find(Boolean) ??
    findBoundProblem(bands);
  return problem === undefined ? [] : [{ path, problem }];
}

function findBoundProblem(bands: CardTerms["size_bands"]): string | undefined {
  if (bands.at(-1)?.below_paise !== null) return "the last band must have no bound";
  const bounds = bands.slice(0, -1).map(({ below_paise }) => below_paise);
  for (const [index, bound] of bounds.entries()) {
    if (bound === null) return "only the last band may have no bound";
    const problem = findRangeProblem(bound, bandPaise);
    if (problem !== undefined) return `a bound ${problem}`;
    if (bound <= (bounds[index - 1] ?? 0)) return "bounds must rise from band to band";
  }
  return undefined;
}

function findValidityBandProblems(bands: CardTerms["validity_bands"]): FieldProblem[] {
  const path = "validity_bands";
  const problem =
    findCountProblem(bands) ??
    bands.map(({ bps }) => findRangeProblem(bps, bandBps)).find(Boolean) ??
    bands.map(({ from_days }) => findRangeProblem(from_days, bandDays)).find(Boolean) ??
    findDaysProblem(bands.map(({ from_days }) => from_days));
  return problem === undefined ? [] : [{ path, problem }];
}

function findDaysProblem(days: readonly number[]): string | undefined {
  const falls = days.every((from, index) => from < (days[index - 1] ?? Infinity));
  if (!falls) return "days must fall from band to band";
  if ((days.at(-1) ?? 0) > amountDaysMin) return `a band must hold ${amountDaysMin} days`;
  return undefined;
}

function findCountProblem(bands: readonly unknown[]): string | undefined {
  return bands.length >= 1 && bands.length <= bandsMax
    ? undefined
    : `there must be 1 to ${bandsMax} bands`;
}

/**
 * The best size band and the best validity band together may lift a bid by at most the half-spread;
 * so may the best size band alone, which lowers the ask by as much.
 */
function findSpreadProblems(terms: CardTerms): FieldProblem[] {
  const { mid_bps, half_spread_bps: half } = terms;
  if (mid_bps < terms.floor_bps) return [{ path: "floor_bps", problem: "must not exceed mid_bps" }];
  if (mid_bps > terms.ask_ceiling_bps) {
    return [{ path: "ask_ceiling_bps", problem: "must not be less than mid_bps" }];
  }
  const size = findBestBand(terms.size_bands);
  const validity = findBestBand(terms.validity_bands);
  const ofSize = `the band ${size.below_paise === null ? "without a bound" : `below ${size.below_paise} paise`} (${formatSigned(size.bps)})`;
  if (size.bps > half) {
    const problem = `${ofSize} moves bid and ask across the mid: at most half_spread_bps, which is ${half}`;
    return [{ path: "size_bands", problem }];
  }
  if (size.bps + validity.bps <= half) return [];
  const ofValidity = `the band from ${validity.from_days} days (${formatSigned(validity.bps)})`;
  const problem = `${ofValidity}, with ${ofSize} of size_bands, moves the bid above the mid: together at most half_spread_bps, which is ${half}`;
  return [{ path: "validity_bands", problem }];
}

function findBestBand<Band extends { readonly bps: number }>(bands: readonly Band[]): Band {
  return bands.reduce((most, band) => (band.bps > most.bps ? band : most));
}

function formatSigned(bps: number): string {
  return bps > 0 ? `+${bps}` : String(bps);
}
