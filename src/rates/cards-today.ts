import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import type { Db } from "../platform/postgres.ts";
import type { CardToday } from "./rules.ts";
import { listCardsToday } from "./store.ts";

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
  today: IstDay,
): Promise<CardOf> {
  const cards = await listCardsToday(db, environments, today);
  return (environment, scheme, deskId) => {
    const card = cards.find((one) => one.environment === environment && one.scheme === scheme);
    if (deskId === undefined || !card?.halted_desks.includes(deskId)) return card;
    return { ...card, state: "halted" };
  };
}
