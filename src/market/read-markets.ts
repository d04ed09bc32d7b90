import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { readExactJson } from "../kernel/json.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { findLastUpdate } from "./rules.ts";
import type { Market, MarketList, StateTables } from "./schema.ts";
import { listLatest, type UpdateRow } from "./store.ts";
import { type MarketContext, updateMarket } from "./update-markets.ts";

/** The last update of every market. A stream can continue from its `epoch` and `seq`. */
export async function listMarkets(ctx: MarketContext, caller: Caller): Promise<MarketList> {
  return toMarketList(await readLatest(ctx, caller.environment), caller);
}

/** The last update of every market with its buy price, for operators. */
export async function readMarketsWithAsks(
  ctx: MarketContext,
  environment: Caller["environment"],
): Promise<readonly Market[]> {
  return toMarketList(await readLatest(ctx, environment), { buySide: true }).markets;
}

/** The last update of every scheme; computed here when the worker has not run yet. */
export async function readLatest(
  ctx: MarketContext,
  environment: Caller["environment"],
): Promise<UpdateRow[]> {
  const latest = await listLatest(ctx.db, environment);
  if (latest.length > 0) return latest;
  await updateMarket(ctx, environment);
  return await listLatest(ctx.db, environment);
}

export function toMarketList(
  latest: readonly UpdateRow[],
  reader: Pick<Caller, "buySide">,
): MarketList {
  const { as_of, epoch, seq } = viewMarket(reader, findLastUpdate(latest));
  return { markets: latest.map((row) => viewMarket(reader, row)), as_of, epoch, seq };
}

/** Only readers with the buy side see the buy price. */
function viewMarket({ buySide }: Pick<Caller, "buySide">, row: UpdateRow): Market {
  return readExactJson(buySide ? row.buyer_body : row.body) as Market;
}

/** The last update of one market. */
export async function readMarket(
  ctx: MarketContext,
  caller: Caller,
  scheme: string,
): Promise<Market> {
  const latest = await readLatest(ctx, caller.environment);
  const row = latest.find((known) => known.scheme === scheme);
  if (!row) throw notFound("scheme");
  return viewMarket(caller, row);
}

export function listStates(lifecycles: readonly Lifecycle[]): StateTables {
  return {
    lifecycles: lifecycles.map(({ noun, initial, states, moves }) => ({
      noun,
      initial: [...initial],
      states: [...states],
      moves: Object.entries(moves).map(([action, { from, to, by = "caller" }]) => ({
        action,
        from: [...from],
        to,
        by,
      })),
    })),
  };
}
