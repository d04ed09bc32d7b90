// What anyone may call without a key: rates, enquiries, and the page at `/` that is made of both. It
// reads live deals and the live rate card and shows no tenant's data.
//
//   tape of deals ──▶ figure of a day ──┬── running: made at most every 10 s ──▶ GET /public/rates
//   who is of one group ──▶             └── fixed once a day (`daily-index.ts`) ──▶ …/{date}, history
//
//   budget      per address, in place of key and meter: 429 with `detail.retry_after_s` (`address-budgets.ts`)
//   caching     an ETag of the bytes; seconds for the running day, for good once a day is fixed
//   origins     pages of any site may read, none may write
//   enquiries   the personal part is sealed; whoever holds the reference sees the status, the operator
//               the rest, and the worker `retention` deletes them
//   house       who it is, its fees and deadlines, and the preview before there is a market
//               (`public-house.ts`)
//   page        static files of `web/`, served under a policy without other hosts or inline code; it
//               computes no price

import { Failure, invalidQuery } from "../kernel/failure.ts";
import { bpsOfPar } from "../kernel/money.ts";
import { schemes } from "../kernel/scheme.ts";
import { addDays, daysBetween, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Cacheable } from "../platform/http/caching.ts";
import { findLatestIndex, parseScheme, readIndexFigure, viewFigure } from "./daily-index.ts";
import {
  computeFigure,
  fixDelayMs,
  historyDaysMax,
  isIndexDay,
  sellersMin,
  trimDivisor,
} from "./public-rules.ts";
import type { HistoryQuery, Methodology, Rate, RateFigure, RateHistory } from "./public-schema.ts";
import { findFigure, listFigures } from "./public-store.ts";
import type { RatesBoard } from "./rates-board.ts";

// Cache-Control of the public figures. Shared caches (`s-maxage`) may also serve a stale answer while
// they revalidate it.

/** Figures that change with every deal. */
export const cacheWhileRunning = "public, max-age=10, s-maxage=30, stale-while-revalidate=60";

/** A list that grows by one line a day. */
const cacheWhileGrowing = "public, max-age=60, s-maxage=300, stale-while-revalidate=3600";

/** Figures that never change again. */
const cacheFixed = "public, max-age=31536000, immutable";

/** Text that changes with a release of the service. */
const cacheUntilRelease = "public, max-age=3600, s-maxage=86400, stale-while-revalidate=86400";

export async function listRates(board: RatesBoard): Promise<Cacheable<{ rates: Rate[] }>> {
  return { answer: { rates: [...(await board())] }, cacheControl: cacheWhileRunning };
}

export async function readRate(board: RatesBoard, name: string): Promise<Cacheable<Rate>> {
  const scheme = parseScheme(name);
  const answer = (await board()).find((rate) => rate.scheme === scheme);
  if (!answer) throw new Error(`the board has no rate of ${scheme}`);
  return { answer, cacheControl: cacheWhileRunning };
}

export async function readRateOfDay(
  { db, now }: Context,
  { scheme: name, date: day }: { readonly scheme: string; readonly date: string },
): Promise<Cacheable<RateFigure>> {
  const scheme = parseScheme(name);
  if (!isIndexDay(day) || day > istDay(now())) {
    throw new Failure("not_found", "there is a figure for days up to today, as YYYY-MM-DD");
  }
  const figure = await findFigure(db, scheme, day);
  if (figure) return { answer: viewFigure(figure, { final: true }), cacheControl: cacheFixed };
  const last = await findLatestIndex(db, scheme);
  // Days are fixed in order: a day before the last fixed one without a figure had no deals.
  if (last && day < last.day) {
    const nothing = computeFigure({ scheme, day }, [], undefined);
    return { answer: viewFigure(nothing, { final: true }), cacheControl: cacheFixed };
  }
  const answer = viewFigure(await readIndexFigure(db, scheme, day), { final: false });
  return { answer, cacheControl: cacheWhileRunning };
}

const daysByDefault = 365;

export async function readRateHistory(
  { db, now }: Context,
  { scheme: name, ...query }: { readonly scheme: string } & HistoryQuery,
): Promise<Cacheable<RateHistory>> {
  const scheme = parseScheme(name);
  const to = query.to ?? istDay(now());
  const from = query.from ?? addDays(to, -daysByDefault);
  refuseSpan(from, to);
  const last = await findLatestIndex(db, scheme);
  const figures = await listFigures(db, scheme, { from, to });
  const days = figures.map((figure) => viewFigure(figure, { final: true }));
  return {
    answer: { scheme, from, to, days },
    // Lines are only ever added at the end.
    cacheControl: last && to <= last.day ? cacheFixed : cacheWhileGrowing,
  };
}

function refuseSpan(from: string, to: string): void {
  const problem = findSpanProblem(from, to);
  if (problem !== undefined) throw invalidQuery("from", problem);
}

function findSpanProblem(from: string, to: string): string | undefined {
  if (!isIndexDay(from)) return "must be a day of the calendar";
  if (from > to) return "must not be after to";
  if (daysBetween(from, to) >= historyDaysMax) return `must be within ${historyDaysMax} days of to`;
  return undefined;
}

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
  const lines = answer.days.map((figure) =>
    columns.map((name) => formatCell(figure[name])).join(","),
  );
  // Every value is a number, a day or a word of ours: nothing needs quotes.
  return { answer: [columns.join(","), ...lines, ""].join("\r\n"), cacheControl };
}

function formatCell(value: string | number | boolean | null): string {
  return value === null ? "" : String(value);
}

const trimBps = bpsOfPar / trimDivisor;
const fixedAfterS = fixDelayMs / 1_000;

/** Built from the constants that the index is computed with. */
export function readMethodology(): Cacheable<Methodology> {
  return { answer: methodology, cacheControl: cacheUntilRelease };
}

const methodology: Methodology = {
  version: 1,
  summary:
    "The face-weighted trimmed mean of the prices that sellers received for whole credits on one IST day.",
  environment: "live",
  schemes: [...schemes],
  unit: "basis points of face value; 10000 is par",
  sellers_min: sellersMin,
  trim_bps: trimBps,
  fixed_after_s: fixedAfterS,
  steps: [
    "Take the live deals of the scheme that were agreed on the day, from midnight to midnight IST. Each credit counts with its face and the price its seller received.",
    "Leave out what is not at arm's length: what the desk itself sold, and deals inside one company or one group. Leave out deals that have failed.",
    `Count the sellers; one company is one seller. With fewer than ${sellersMin} the day has no figure of its own.`,
    `Order the deals by price and cut ${trimBps / 100} % of the day's face off each end, rounded down to the paisa. A deal on the edge counts with the part of its face that is left.`,
    "The index is the mean of what is left, weighted by face, rounded to the nearest basis point, halves up.",
    "A day without a figure of its own carries the last one and says so: basis is carried, stale is true, and deals_on names the day whose deals it is made of. Before the first figure basis is none.",
    `While the day runs the figure moves with its deals. From ${fixedAfterS / 60} minutes after the day's end it is fixed, once and for good.`,
  ],
};
