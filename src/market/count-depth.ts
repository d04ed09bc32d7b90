// What the house could sell, counted when it may have changed and never while anybody waits.

import { sellableDaysMin } from "../credits/rules.ts";
import { type Environment, environments } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { addDays, type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workOneByOne } from "../platform/offenders.ts";
import { currentCards } from "../rates/current-cards.ts";
import type { RateCard } from "../rates/rules.ts";
import {
  type AskedBand,
  countDepths,
  type DepthRow,
  hasHouseChanged,
  listDepths,
} from "./store.ts";

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
  const cards = await currentCards(db, environment);
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
