// What the house could sell, counted when it may have changed and never while anybody waits.

import { sellableDaysMin } from "../credits/rules.ts";
import { type Caller, type Environment, environments } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { readExactJson } from "../kernel/json.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { addDays, type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workOneByOne } from "../platform/postgres/offenders.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import type { RateCard } from "../rates/rules.ts";
import { lastOf } from "./rules.ts";
import type { Market, MarketList, StateTables } from "./schema.ts";
import {
  type AskedBand,
  countDepths,
  type DepthRow,
  hasHouseChanged,
  listDepths,
  listLatest,
  type UpdateRow,
} from "./store.ts";
import { type MarketContext, updateMarket } from "./update-markets.ts";

/** Every market as the log last told it: the stream goes on from there. */
export async function listMarkets(ctx: MarketContext, caller: Caller): Promise<MarketList> {
  return marketListOf(await latestMarkets(ctx, caller.environment), caller);
}

/** What the log last told of every scheme. Who comes before the worker's first look takes it. */
export async function latestMarkets(
  ctx: MarketContext,
  environment: Caller["environment"],
): Promise<UpdateRow[]> {
  const latest = await listLatest(ctx.db, environment);
  if (latest.length > 0) return latest;
  await updateMarket(ctx, environment);
  return await listLatest(ctx.db, environment);
}

export function marketListOf(
  latest: readonly UpdateRow[],
  reader: Pick<Caller, "buySide">,
): MarketList {
  const { as_of, epoch, seq } = marketFor(reader, lastOf(latest));
  return { markets: latest.map((row) => marketFor(reader, row)), as_of, epoch, seq };
}

/** An update as this reader may see it. */
function marketFor({ buySide }: Pick<Caller, "buySide">, row: UpdateRow): Market {
  return readExactJson(buySide ? row.buyer_body : row.body) as Market;
}

/** One market as the log last told it. A scheme that does not exist is not found, like any other. */
export async function readMarket(
  ctx: MarketContext,
  caller: Caller,
  scheme: string,
): Promise<Market> {
  const latest = await latestMarkets(ctx, caller.environment);
  const row = latest.find((known) => known.scheme === scheme);
  if (!row) throw notFound();
  return marketFor(caller, row);
}

/** The worker's piece of work: one look at each environment. */
export async function countDepth(
  ctx: Context,
  offenders: Offenders = noOffenders(),
): Promise<"idle"> {
  await workOneByOne(offenders, environments, async (environment) => {
    await countIfDue(ctx, environment);
    return 1;
  });
  return "idle";
}

async function countIfDue({ db, now }: Context, environment: Environment): Promise<void> {
  const today = istDay(now());
  const cards = await findCurrentCards(db, environment);
  const counted = await listDepths(db, environment);
  const isCounted = isCountedBy(cards, counted, today);
  if (isCounted && !(await hasHouseChanged(db, environment))) return;
  const usableUntil = addDays(today, sellableDaysMin);
  const bands = [...cards.values()].flatMap(bandsOf);
  await countDepths(db, { environment, today, usableUntil, bands });
}

/** Whether every card's bands were counted today. */
function isCountedBy(
  cards: ReadonlyMap<Scheme, RateCard>,
  counted: readonly DepthRow[],
  today: IstDay,
): boolean {
  return [...cards.values()].every(({ scheme, size_bands }) => {
    const depth = counted.find((known) => known.scheme === scheme);
    return depth?.counted_on === today && boundsOf(depth.bands) === boundsOf(size_bands);
  });
}

function boundsOf(bands: readonly { readonly below_paise: number | null }[]): string {
  return bands.map(({ below_paise }) => below_paise).join();
}

function bandsOf({ scheme, size_bands }: RateCard): AskedBand[] {
  return size_bands.map(({ below_paise }, index) => ({
    scheme,
    from_paise: size_bands[index - 1]?.below_paise ?? 0,
    below_paise,
  }));
}

export function listStates(lifecycles: readonly Lifecycle[]): StateTables {
  return {
    lifecycles: lifecycles.map(({ noun, initial, states, moves }) => ({
      noun,
      initial: [...initial],
      states: [...states],
      moves: Object.entries(moves).map(([action, { from, to, by = "caller" }]) => ({
        action,
        from: [...from],
        to,
        by,
      })),
    })),
  };
}
