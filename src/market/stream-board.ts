// The board as a stream: while somebody watches an environment, its board is read every second, and sent
// to all its watchers when it has changed. Each event is the whole board, so nothing has to be resumed.

import type { Environment } from "../kernel/caller.ts";
import { eventText, type Stream } from "../platform/http/sse.ts";
import { startWorker, type Worker } from "../platform/worker.ts";
import { type Board, readBoard } from "./read-board.ts";
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
