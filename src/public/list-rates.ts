import type { Cacheable } from "../platform/caching.ts";
import { running } from "./freshness.ts";
import type { RatesBoard } from "./rates-board.ts";
import type { Rate } from "./schema.ts";

export async function listRates(board: RatesBoard): Promise<Cacheable<{ rates: Rate[] }>> {
  return { answer: { rates: [...(await board())] }, cacheControl: running };
}
