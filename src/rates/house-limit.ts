// How much face the house takes on in one IST day, for one scheme, across every node.
//
//   lock     the day's row of each scheme, made when it is the day's first; nobody else takes
//            from it before this transaction ends
//   judge    each taking in its order; one that is too large leaves room for the next
//   write    what is taken of the day now
//
// What a failed deal had taken is not given back: the limit is on what the house agrees to.

import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import type { RateCard } from "./rules.ts";
import { addToHouseDays, findTaken, lockHouseDays, setHouseDays } from "./store.ts";

export type Taking = {
  /** The card in force, whose limit it is. */
  readonly card: RateCard;
  readonly paise: number;
};

/** How much face the house still takes on that day; others may be taking it already. */
export async function houseLeftToday(db: Db, card: RateCard, day: IstDay): Promise<number> {
  const taken = await findTaken(db, card, day);
  return Math.max(0, card.house_limit_paise - taken);
}

/**
 * Which of the takings are within the limit, in their order; those are part of the day when the
 * transaction commits. Until then every other taking of the scheme waits, so this comes late in it.
 */
export async function takeHouseLimit(
  tx: Tx,
  day: IstDay,
  takings: readonly Taking[],
): Promise<boolean[]> {
  const cards = new Map(takings.map(({ card }) => [marketOf(card), card]));
  if (cards.size === 0) return [];
  const days = await lockHouseDays(tx, [...cards.values()], day);
  const taken = new Map(days.map((row) => [marketOf(row), row.taken_paise]));
  const fits = takings.map(({ card, paise }) => {
    const before = taken.get(marketOf(card)) ?? 0;
    const isWithin = paise <= card.house_limit_paise - before;
    if (isWithin) taken.set(marketOf(card), before + paise);
    return isWithin;
  });
  await setHouseDays(
    tx,
    days.map((row) => ({ ...row, taken_paise: taken.get(marketOf(row)) ?? row.taken_paise })),
    day,
  );
  return fits;
}

function marketOf(of: { readonly environment: Environment; readonly scheme: Scheme }): string {
  return `${of.environment} ${of.scheme}`;
}

/** What orders made the house take on; they decided under the lock of their market. */
export async function noteHouseTaken(
  tx: Tx,
  day: IstDay,
  added: readonly {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly paise: number;
  }[],
): Promise<void> {
  await addToHouseDays(tx, day, added);
}
