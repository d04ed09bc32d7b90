import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import type { Db } from "../platform/postgres.ts";
import type { CardToday } from "./rules.ts";
import { listCardsToday } from "./store.ts";

/** The card in force; undefined where none was ever published. */
export type CardOf = (environment: Environment, scheme: Scheme) => CardToday | undefined;

/** Everything that prices of this day are made of, in one statement. */
export async function cardsToday(
  db: Db,
  environments: readonly Environment[],
  today: IstDay,
): Promise<CardOf> {
  const cards = await listCardsToday(db, environments, today);
  return (environment, scheme) =>
    cards.find((card) => card.environment === environment && card.scheme === scheme);
}
