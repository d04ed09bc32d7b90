import { sendCacheable } from "../platform/caching.ts";
import type { Context } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { exportRateHistory } from "./export-rate-history.ts";
import { listRates } from "./list-rates.ts";
import { ratesBoard } from "./rates-board.ts";
import { readMethodology } from "./read-methodology.ts";
import { readRate } from "./read-rate.ts";
import { readRateHistory } from "./read-rate-history.ts";
import { readRateOfDay } from "./read-rate-of-day.ts";
import {
  HistoryQuery,
  Methodology,
  Rate,
  RateFigure,
  RateHistory,
  RateHistoryCsv,
  RateList,
  RateOfDayParams,
  SchemeParams,
} from "./schema.ts";

const rates = { keyless: true, budget: "rates", tagged: true } as const;

export function rateIndexRoutes(app: App, ctx: Context): void {
  const board = ratesBoard(ctx);

  app.get(
    "/public/rates",
    {
      config: rates,
      schema: {
        operationId: "listRates",
        tags: ["Public"],
        summary: "What credits are worth today",
        description:
          "The index of the running day and the middle of the desk's rate card, per scheme.",
        response: { 200: RateList },
      },
    },
    async (_request, reply) => sendCacheable(reply, await listRates(board)),
  );

  app.get(
    "/public/rates/methodology",
    {
      config: rates,
      schema: {
        operationId: "readMethodology",
        tags: ["Public"],
        summary: "How the index is made",
        response: { 200: Methodology },
      },
    },
    async (_request, reply) => sendCacheable(reply, readMethodology()),
  );

  app.get(
    "/public/rates/:scheme",
    {
      config: rates,
      schema: {
        operationId: "readRate",
        tags: ["Public"],
        summary: "What credits of a scheme are worth today",
        params: SchemeParams,
        response: { 200: Rate },
      },
    },
    async (request, reply) => sendCacheable(reply, await readRate(board, request.params.scheme)),
  );

  app.get(
    "/public/rates/:scheme/:date",
    {
      config: rates,
      schema: {
        operationId: "readRateOfDay",
        tags: ["Public"],
        summary: "The index of a day",
        description: "Fixed for good a quarter of an hour after the day has ended in IST.",
        params: RateOfDayParams,
        response: { 200: RateFigure },
      },
    },
    async (request, reply) => sendCacheable(reply, await readRateOfDay(ctx, request.params)),
  );

  app.get(
    "/public/rates/:scheme/history",
    {
      config: rates,
      schema: {
        operationId: "readRateHistory",
        tags: ["Public"],
        summary: "The fixed figures of a scheme",
        description: "At most 3660 days at once.",
        params: SchemeParams,
        querystring: HistoryQuery,
        response: { 200: RateHistory },
      },
    },
    async (request, reply) =>
      sendCacheable(reply, await readRateHistory(ctx, { ...request.params, ...request.query })),
  );

  app.get(
    "/public/rates/:scheme/history.csv",
    {
      config: rates,
      schema: {
        operationId: "exportRateHistory",
        tags: ["Public"],
        summary: "The fixed figures of a scheme as CSV",
        params: SchemeParams,
        querystring: HistoryQuery,
        response: { 200: RateHistoryCsv },
      },
    },
    async (request, reply) =>
      sendCacheable(
        reply.type("text/csv; charset=utf-8; header=present"),
        await exportRateHistory(ctx, { ...request.params, ...request.query }),
      ),
  );
}
