import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { latestMarkets, marketFor } from "./list-markets.ts";
import type { Market } from "./schema.ts";
import type { MarketContext } from "./update-markets.ts";

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
