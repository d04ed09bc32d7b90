// What a credit is worth: one pure function per side, of a card, a size and a validity.
//
//   bid = mid + size band + validity band − half-spread, within floor and ceiling
//   ask = mid + size band + half-spread, above the floor and at most the ask ceiling
//
// The ceilings differ and the ask stays above the floor, so that a bid is below the ask of the same
// size whatever the bands say.

import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";

export const marketStates = ["open", "halted"] as const;

export type MarketState = (typeof marketStates)[number];

/** A face below the bound gets this; the last band has no bound. */
export type SizeBand = { readonly below_paise: number | null; readonly bps: number };

/** A credit with at least so many days left gets this; with fewer than the last band it has no price. */
export type ValidityBand = { readonly from_days: number; readonly bps: number };

export type RateCard = {
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly version: number;
  readonly state: MarketState;
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
  readonly quote_window_s: number;
  readonly margin_bps: number;
  readonly fee_bps: number;
  readonly published_at: Date;
  readonly published_by: string;
  readonly note: string | null;
};

/** A card, and how much face the house has taken on today under it. */
export type CardToday = RateCard & { readonly taken_paise: number };

/** A price by amount is for credits with at least so many days left; shorter ones are priced singly. */
export const amountDaysMin = 365;

/** What the house pays for a credit of this face; undefined when its days are too few for a price. */
export function bidOf(card: RateCard, facePaise: number, daysLeft: number): number | undefined {
  const validity = card.validity_bands.find((band) => daysLeft >= band.from_days);
  if (!validity) return undefined;
  const bid = card.mid_bps + sizeBps(card, facePaise) + validity.bps - card.half_spread_bps;
  return Math.min(Math.max(bid, card.floor_bps), card.ceiling_bps);
}

/** What the house asks for cover of this amount of duty. */
export function askOf(card: RateCard, requirementPaise: number): number {
  const ask = card.mid_bps + sizeBps(card, requirementPaise) + card.half_spread_bps;
  return Math.min(Math.max(ask, card.floor_bps + 1), card.ask_ceiling_bps);
}

function sizeBps({ size_bands }: RateCard, paise: number): number {
  const band = size_bands.find(({ below_paise }) => below_paise === null || paise < below_paise);
  if (!band) throw new Error("the last size band has no bound");
  return band.bps;
}
