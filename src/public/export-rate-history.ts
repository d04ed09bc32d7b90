import type { Cacheable } from "../platform/caching.ts";
import type { Context } from "../platform/context.ts";
import { readRateHistory } from "./read-rate-history.ts";
import type { HistoryQuery, RateFigure } from "./schema.ts";

const columns = [
  "date",
  "scheme",
  "index_bps",
  "basis",
  "stale",
  "deals_on",
  "deal_count",
  "seller_count",
  "face_paise",
] as const satisfies readonly (keyof RateFigure)[];

export async function exportRateHistory(
  ctx: Context,
  query: { readonly scheme: string } & HistoryQuery,
): Promise<Cacheable<string>> {
  const { answer, cacheControl } = await readRateHistory(ctx, query);
  const lines = answer.days.map((figure) => columns.map((name) => cell(figure[name])).join(","));
  // Every value is a number, a day or a word of ours: nothing needs quotes.
  return { answer: [columns.join(","), ...lines, ""].join("\r\n"), cacheControl };
}

function cell(value: string | number | boolean | null): string {
  return value === null ? "" : String(value);
}
