import type { Caller } from "../kernel/caller.ts";
import { readExactJson } from "../kernel/json.ts";
import { lastOf } from "./rules.ts";
import type { Market, MarketList } from "./schema.ts";
import { listLatest, type UpdateRow } from "./store.ts";
import { type MarketContext, updateMarket } from "./update-markets.ts";

/** Every market as the log last told it: the stream goes on from there. */
export async function listMarkets(ctx: MarketContext, caller: Caller): Promise<MarketList> {
  return marketListOf(await latestMarkets(ctx, caller.environment), caller);
}

/** What the log last told of every scheme. Who comes before the worker's first look takes it. */
export async function latestMarkets(
  ctx: MarketContext,
  environment: Caller["environment"],
): Promise<UpdateRow[]> {
  const latest = await listLatest(ctx.db, environment);
  if (latest.length > 0) return latest;
  await updateMarket(ctx, environment);
  return await listLatest(ctx.db, environment);
}

export function marketListOf(
  latest: readonly UpdateRow[],
  reader: Pick<Caller, "buySide">,
): MarketList {
  const { as_of, epoch, seq } = marketFor(reader, lastOf(latest));
  return { markets: latest.map((row) => marketFor(reader, row)), as_of, epoch, seq };
}

/** An update as this reader may see it. */
export function marketFor({ buySide }: Pick<Caller, "buySide">, row: UpdateRow): Market {
  return readExactJson(buySide ? row.buyer_body : row.body) as Market;
}
