// Today's public figures, cached in memory: computing them reads the day's deals.

import { type Scheme, schemes } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import type { RateCard } from "../rates/rules.ts";
import { readIndexFigure, viewFigure } from "./daily-index.ts";
import type { Rate } from "./public-schema.ts";
import { findLastFigure } from "./public-store.ts";

export type RatesBoard = () => Promise<readonly Rate[]>;

const freshForMs = 10_000;

export function createRatesBoard(ctx: Pick<Context, "db" | "now">): RatesBoard {
  let shown: { readonly atMs: number; readonly rates: Promise<readonly Rate[]> } | undefined;
  return async () => {
    const atMs = ctx.now().getTime();
    if (shown && atMs - shown.atMs < freshForMs) return await shown.rates;
    const made = { atMs, rates: loadRates(ctx) };
    shown = made;
    try {
      return await made.rates;
    } catch (error) {
      // Do not cache a failure: the next request computes again.
      if (shown === made) shown = undefined;
      throw error;
    }
  };
}

async function loadRates({ db, now }: Pick<Context, "db" | "now">): Promise<readonly Rate[]> {
  const today = istDay(now());
  const cards = await findCurrentCards(db, "live");
  return await Promise.all(
    schemes.map(async (scheme) => await loadRate(db, { scheme, today, card: cards.get(scheme) })),
  );
}

function subtractBps(index: number | null, before: number | null): number | null {
  return index === null || before === null ? null : index - before;
}

async function loadRate(
  db: Context["db"],
  { scheme, today, card }: { scheme: Scheme; today: string; card: RateCard | undefined },
): Promise<Rate> {
  const figure = await readIndexFigure(db, scheme, today);
  const previous = await db.run(findLastFigure(scheme, today));
  return {
    ...viewFigure(figure, { final: false }),
    previous_date: previous?.day ?? null,
    change_bps: subtractBps(figure.index_bps, previous?.index_bps ?? null),
    market_state: card?.state ?? null,
    mid_bps: card?.mid_bps ?? null,
  };
}
