// The board as a stream: while somebody watches an environment, its board is read every second, and sent
// to all its watchers when it has changed. Each event is the whole board, so nothing has to be resumed.

import type { Environment } from "../kernel/caller.ts";
import { type PaiseSum, sumPaise } from "../kernel/money.ts";
import { contextFor } from "../platform/context.ts";
import { eventText, type Stream } from "../platform/http/sse.ts";
import { startWorker, type Worker } from "../platform/worker.ts";
import { listCards, loadCardsToday, loadCardsWithQuotes } from "../rates/current-cards.ts";
import { openQuotesOn } from "../rates/open-quotes.ts";
import type { AuthoredCard } from "../rates/rules.ts";
import { readMarketsWithAsks } from "./read-markets.ts";
import type { Market } from "./schema.ts";
import type { MarketContext } from "./update-markets.ts";

export type Boards = {
  read(environment: Environment): Promise<Board>;
  /** Sends the board now and whenever it has changed, until the stream ends. */
  follow(environment: Environment, stream: Stream): Promise<void>;
  close(): Promise<void>;
};

const lookPauseMs = 1_000;

type Watched = { readonly streams: Set<Stream>; readonly worker: Worker; last: string };

export function openBoards(ctx: MarketContext, serialize: (board: Board) => string): Boards {
  const watched = new Map<Environment, Watched>();

  const readText = async (environment: Environment) => serialize(await readBoard(ctx, environment));

  function watch(environment: Environment): Watched {
    const known = watched.get(environment);
    if (known) return known;
    const streams = new Set<Stream>();
    const work = async (): Promise<"idle"> => {
      if (streams.size === 0) return "idle";
      const text = await readText(environment);
      if (text !== one.last) for (const stream of streams) stream.send(toEvent(text));
      one.last = text;
      return "idle";
    };
    const name = `board ${environment}`;
    const one: Watched = {
      streams,
      worker: startWorker({ name, pauseMs: lookPauseMs, work, log: ctx.log }),
      last: "",
    };
    watched.set(environment, one);
    return one;
  }

  return {
    read: (environment) => readBoard(ctx, environment),
    async follow(environment, stream) {
      const { streams } = watch(environment);
      stream.send(toEvent(await readText(environment)));
      if (stream.ended.aborted) return;
      streams.add(stream);
      stream.ended.addEventListener("abort", () => streams.delete(stream));
    },
    async close() {
      await Promise.all([...watched.values()].map(({ worker }) => worker.stop()));
    },
  };
}

function toEvent(text: string): Buffer {
  return eventText({ event: "board", data: text });
}

type Board = {
  readonly environment: Environment;
  readonly markets: readonly BoardMarket[];
};

type BoardMarket = Pick<
  Market,
  "scheme" | "state" | "index_bps" | "last_deal" | "volume_24h_paise" | "deals_24h"
> & {
  readonly card: AuthoredCard | null;
  readonly bid_bps: number | null;
  readonly ask_bps: number | null;
  readonly inventory: { readonly count: number; readonly face_paise: PaiseSum };
  readonly day_limit: {
    readonly limit_paise: number;
    readonly taken_paise: number;
    readonly quoted_paise: number;
  };
};

/** Both markets with their cards, what the house could sell and how much of the day's limit is used. */
async function readBoard(given: MarketContext, environment: Environment): Promise<Board> {
  const ctx = contextFor(given, { environment });
  const now = ctx.now();
  const markets = await readMarketsWithAsks(ctx, environment);
  const cards = await listCards(ctx, { environment, scheme: null, history: false });
  const findCard = await ctx.db.run(loadCardsToday([environment], now));
  const quotes = openQuotesOn(ctx.db);
  const findQuoted = await ctx.db.run(loadCardsWithQuotes([environment], { now, quotes }));
  return {
    environment,
    markets: markets.map((market) => {
      const { scheme, state, index_bps, last_deal, volume_24h_paise, deals_24h } = market;
      const today = findCard(environment, scheme);
      const withQuotes = findQuoted(environment, scheme);
      const taken_paise = today?.taken_paise ?? 0;
      return {
        scheme,
        state,
        card: cards.find((card) => card.scheme === scheme) ?? null,
        bid_bps: market.sell_price_bps,
        ask_bps: market.buy_price_bps ?? null,
        index_bps,
        last_deal,
        volume_24h_paise,
        deals_24h,
        inventory: {
          count: market.depth.reduce((sum, band) => sum + band.count, 0),
          face_paise: sumPaise(market.depth.map((band) => band.face_paise)),
        },
        day_limit: {
          limit_paise: today?.house_limit_paise ?? 0,
          taken_paise,
          quoted_paise: Math.max(0, (withQuotes?.taken_paise ?? 0) - taken_paise),
        },
      };
    }),
  };
}
