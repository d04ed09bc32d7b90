import type { Caller } from "../kernel/caller.ts";
import type { Market, MarketList } from "./schema.ts";
import { listLatest, type UpdateRow } from "./store.ts";
import { type MarketContext, updateMarket } from "./update-markets.ts";

/** Every market as the log last told it: a reader can go on from here with the stream. */
export async function listMarkets(ctx: MarketContext, caller: Caller): Promise<MarketList> {
  const latest = await latestMarkets(ctx, caller.environment);
  const last = latest.toSorted((a, b) => a.seq - b.seq).at(-1);
  if (!last) throw new Error("a market that was looked at is in the log");
  const markets = latest.map((row) => marketFor(caller, row));
  const { as_of, epoch, seq } = marketFor(caller, last);
  return { markets, as_of, epoch, seq };
}

/** What the log last told of every scheme. Whoever comes before the worker's first look takes it. */
export async function latestMarkets(
  ctx: MarketContext,
  environment: Caller["environment"],
): Promise<UpdateRow[]> {
  const latest = await listLatest(ctx.db, environment);
  if (latest.length > 0) return latest;
  await updateMarket(ctx, environment);
  return await listLatest(ctx.db, environment);
}

/** An update as this caller may see it. */
export function marketFor({ buySide }: Pick<Caller, "buySide">, row: UpdateRow): Market {
  return JSON.parse(buySide ? row.buyer_body : row.body) as Market;
}
