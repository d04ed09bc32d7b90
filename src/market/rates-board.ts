// Today's figures as everybody sees them. They are made from the day's deals, so they are made at
// most every few seconds, however many ask.

import { type Scheme, schemes } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import type { RateCard } from "../rates/rules.ts";
import { figureOfDay, viewFigure } from "./daily-index.ts";
import type { Rate } from "./public-schema.ts";
import { findLastFigure } from "./public-store.ts";

export type RatesBoard = () => Promise<readonly Rate[]>;

const freshForMs = 10_000;

export function ratesBoard(ctx: Pick<Context, "db" | "now">): RatesBoard {
  let shown: { readonly atMs: number; readonly rates: Promise<readonly Rate[]> } | undefined;
  return async () => {
    const atMs = ctx.now().getTime();
    if (shown && atMs - shown.atMs < freshForMs) return await shown.rates;
    const made = { atMs, rates: makeRates(ctx) };
    shown = made;
    try {
      return await made.rates;
    } catch (error) {
      // Whoever asks next tries again, and is not told of this failure for seconds.
      if (shown === made) shown = undefined;
      throw error;
    }
  };
}

async function makeRates({ db, now }: Pick<Context, "db" | "now">): Promise<readonly Rate[]> {
  const today = istDay(now());
  const cards = await findCurrentCards(db, "live");
  return await Promise.all(
    schemes.map(async (scheme) => await makeRate(db, { scheme, today, card: cards.get(scheme) })),
  );
}

function changeBps(index: number | null, before: number | null): number | null {
  return index === null || before === null ? null : index - before;
}

async function makeRate(
  db: Context["db"],
  { scheme, today, card }: { scheme: Scheme; today: string; card: RateCard | undefined },
): Promise<Rate> {
  const figure = await figureOfDay(db, scheme, today);
  const previous = await findLastFigure(db, scheme, today);
  return {
    ...viewFigure(figure, { final: false }),
    previous_date: previous?.day ?? null,
    change_bps: changeBps(figure.index_bps, previous?.index_bps ?? null),
    market_state: card?.state ?? null,
    mid_bps: card?.mid_bps ?? null,
  };
}
