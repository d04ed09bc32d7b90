import type { Context } from "../platform/context.ts";
import type { LineSink } from "../platform/line-sink.ts";
import { countUnsent, listUnsent, setSent } from "./store.ts";

const setSizeMax = 500;

/**
 * Takes what was not taken out yet to the place the operator named. A line may arrive twice, after a
 * crash or from two processes, and says the same both times; a place that is away is tried again.
 */
export async function sendCheckpoints(
  { db, now }: Pick<Context, "db" | "now">,
  sink: LineSink | undefined,
): Promise<"more" | "idle"> {
  if (!sink) return "idle";
  const rows = await listUnsent(db, setSizeMax);
  if (rows.length === 0) return "idle";
  await sink.append(rows.map(({ line }) => line));
  await setSent(db, rows, now());
  return rows.length === setSizeMax ? "more" : "idle";
}

/** For the metrics: how many wait for the place to be back. */
export async function countWaiting({ db }: Pick<Context, "db">): Promise<number> {
  return await countUnsent(db);
}
