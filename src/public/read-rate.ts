import type { Cacheable } from "../platform/caching.ts";
import { running } from "./freshness.ts";
import { namedScheme } from "./named-scheme.ts";
import type { RatesBoard } from "./rates-board.ts";
import type { Rate } from "./schema.ts";

export async function readRate(board: RatesBoard, name: string): Promise<Cacheable<Rate>> {
  const scheme = namedScheme(name);
  const answer = (await board()).find((rate) => rate.scheme === scheme);
  if (!answer) throw new Error("every scheme is on the board");
  return { answer, cacheControl: running };
}
