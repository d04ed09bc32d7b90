import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import type { Db } from "../platform/postgres.ts";
import type { OpenQuotes } from "./open-quotes.ts";
import type { CardToday } from "./rules.ts";
import { type HaltedDesks, listCardsBesideQuotes, listCardsToday } from "./store.ts";

/** The card in force, as this desk finds it; undefined where none was ever published. */
export type CardOf = (
  environment: Environment,
  scheme: Scheme,
  deskId?: string,
) => CardToday | undefined;

/** Everything that prices of this day are made of, in one statement. */
export async function cardsToday(
  db: Db,
  environments: readonly Environment[],
  now: Date,
): Promise<CardOf> {
  return findAmong(await listCardsToday(db, environments, istDay(now)));
}

/** The same, where what open quotes may still make the house take on counts as taken. */
export async function cardsBesideQuotes(
  db: Db,
  environments: readonly Environment[],
  { now, quotes }: { readonly now: Date; readonly quotes: OpenQuotes },
): Promise<CardOf> {
  const when = { day: istDay(now), node: quotes.node, now };
  const rows = await listCardsBesideQuotes(db, environments, when);
  return findAmong(
    rows.map(({ quoted_paise, ...card }) => ({
      ...card,
      taken_paise: card.taken_paise + quoted_paise + quotes.total(card, now),
    })),
  );
}

function findAmong(cards: readonly (CardToday & HaltedDesks)[]): CardOf {
  return (environment, scheme, deskId) => {
    const card = cards.find((one) => one.environment === environment && one.scheme === scheme);
    if (deskId === undefined || !card?.halted_desks.includes(deskId)) return card;
    return { ...card, state: "halted" };
  };
}
