import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import type { Db } from "../platform/postgres.ts";
import type { Market } from "./rules.ts";
import { listMarkets } from "./store.ts";

/** The market of a scheme; undefined where no card was ever published. */
export type MarketOf = (environment: Environment, scheme: Scheme) => Market | undefined;

/** Everything that prices of this day are made of, in one statement. */
export async function currentMarkets(
  db: Db,
  environments: readonly Environment[],
  today: IstDay,
): Promise<MarketOf> {
  const markets = await listMarkets(db, environments, today);
  return (environment, scheme) =>
    markets.find((market) => market.environment === environment && market.scheme === scheme);
}
