import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import type { Db } from "../platform/postgres.ts";
import type { OpenQuotes } from "./open-quotes.ts";
import type { CardToday } from "./rules.ts";
import { listCardsToday } from "./store.ts";

/** The card in force, as this desk finds it; undefined where none was ever published. */
export type CardOf = (
  environment: Environment,
  scheme: Scheme,
  deskId?: string,
) => CardToday | undefined;

const noNode = "00000000-0000-0000-0000-000000000000";

/**
 * Everything that prices of this day are made of, in one statement. With the open quotes of this
 * process, what they and those of the others may still make the house take on counts as taken.
 */
export async function cardsToday(
  db: Db,
  environments: readonly Environment[],
  { now, quotes }: { readonly now: Date; readonly quotes?: OpenQuotes },
): Promise<CardOf> {
  const when = { day: istDay(now), node: quotes?.node ?? noNode, now };
  const rows = await listCardsToday(db, environments, when);
  const cards = rows.map(({ quoted_paise, ...card }) => {
    const open = quotes ? quoted_paise + quotes.total(card, now) : 0;
    return { ...card, taken_paise: card.taken_paise + open };
  });
  return (environment, scheme, deskId) => {
    const card = cards.find((one) => one.environment === environment && one.scheme === scheme);
    if (deskId === undefined || !card?.halted_desks.includes(deskId)) return card;
    return { ...card, state: "halted" };
  };
}
