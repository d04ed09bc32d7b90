import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Db } from "../platform/postgres.ts";
import type { RateCard } from "./rules.ts";
import { listCurrentCards } from "./store.ts";

/** The card in force per scheme; a scheme without one has no market. */
export async function currentCards(
  db: Db,
  environment: Environment,
): Promise<ReadonlyMap<Scheme, RateCard>> {
  const cards = await listCurrentCards(db, environment);
  return new Map(cards.map((card) => [card.scheme, card]));
}
