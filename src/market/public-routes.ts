import { sendCacheable } from "../platform/http/caching.ts";
import { sendCreation, toVisit } from "../platform/http/calls.ts";
import type { Context } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { estimateEnquiry, submitEnquiry } from "./enquiries.ts";
import {
  exportRateHistory,
  listRates,
  readMethodology,
  readRate,
  readRateHistory,
  readRateOfDay,
} from "./public-rates.ts";
import { createRatesBoard } from "./rates-board.ts";
import { readEnquiry } from "./answer-enquiries.ts";
import { House, Preview } from "./public-house-schema.ts";
import { type PublicHouse, readHouse, readPreview } from "./public-house.ts";
import {
  BuyEnquiryBody,
  ContactEnquiryBody,
  Enquiry,
  EnquiryParams,
  Estimate,
  EstimateQuery,
  HistoryQuery,
  Methodology,
  Rate,
  RateFigure,
  RateHistory,
  RateHistoryCsv,
  RateList,
  RateOfDayParams,
  SchemeParams,
  SellEnquiryBody,
} from "./public-schema.ts";

const rates = { keyless: { budget: "rates" }, tagged: true } as const;

export function rateIndexRoutes(app: App, ctx: Context): void {
  const board = createRatesBoard(ctx);

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
        description: "How the index is made, in words and as figures.",
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
        description:
          "What credits of one scheme are worth today. `stale` says that the figure is not made of the day's own deals.",
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
      sendCacheable(
        reply,
        await readAtReplica(ctx, (reading) =>
          readRateHistory(reading, { ...request.params, ...request.query }),
        ),
      ),
  );

  app.get(
    "/public/rates/:scheme/history.csv",
    {
      config: rates,
      schema: {
        operationId: "exportRateHistory",
        tags: ["Public"],
        summary: "The fixed figures of a scheme as CSV",
        description: "The figures of `history` as CSV, one day a row.",
        params: SchemeParams,
        querystring: HistoryQuery,
        response: { 200: RateHistoryCsv },
      },
    },
    async (request, reply) =>
      sendCacheable(
        reply.type("text/csv; charset=utf-8; header=present"),
        await readAtReplica(ctx, (reading) =>
          exportRateHistory(reading, { ...request.params, ...request.query }),
        ),
      ),
  );
}

/** Who the house is, and what a page shows before it has a market. */
export function houseRoutes(app: App, ctx: Context, house: PublicHouse): void {
  app.get(
    "/public/house",
    {
      config: rates,
      schema: {
        operationId: "readHouse",
        tags: ["Public"],
        summary: "Who the house is, what dealing costs, when money comes",
        description:
          "The house's name, address and papers, its fees and limits by the live rate cards, and the deadlines of a deal agreed now by the calendar of banks and customs.",
        response: { 200: House },
      },
    },
    async (_request, reply) => sendCacheable(reply, await readHouse(ctx, house)),
  );

  app.get(
    "/public/preview",
    {
      config: rates,
      schema: {
        operationId: "readPreview",
        tags: ["Public"],
        summary: "Simulated figures of the sandbox",
        description:
          "What the page shows, labelled, until there is a live market: the sandbox's rate cards and simulated figures around them. Nobody has dealt at them.",
        response: { 200: Preview },
      },
    },
    async (_request, reply) => sendCacheable(reply, await readPreview(ctx)),
  );
}

const submitting =
  "Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.";

const enquiry = { keyless: { budget: "enquiry" } } as const;

export function enquiryRoutes(app: App, ctx: Context): void {
  app.get(
    "/public/enquiry/estimate",
    {
      config: enquiry,
      schema: {
        operationId: "estimateEnquiry",
        tags: ["Public"],
        summary: "Between what and what a price would lie",
        description: "A range by the desk's rate card of the moment. It binds nobody.",
        querystring: EstimateQuery,
        response: { 200: Estimate },
      },
    },
    async (request) => await estimateEnquiry(ctx, request.query),
  );

  app.post(
    "/public/enquiry/sell",
    {
      config: enquiry,
      schema: {
        operationId: "submitSellEnquiry",
        tags: ["Public"],
        summary: "Ask to sell credits",
        description: submitting,
        body: SellEnquiryBody,
        response: { 200: Enquiry, 201: Enquiry },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await submitEnquiry(ctx, toVisit(request, reply), { kind: "sell", ...request.body }),
      ),
  );

  app.post(
    "/public/enquiry/buy",
    {
      config: enquiry,
      schema: {
        operationId: "submitBuyEnquiry",
        tags: ["Public"],
        summary: "Ask to cover basic customs duty with credits",
        description: submitting,
        body: BuyEnquiryBody,
        response: { 200: Enquiry, 201: Enquiry },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await submitEnquiry(ctx, toVisit(request, reply), { kind: "buy", ...request.body }),
      ),
  );

  app.post(
    "/public/enquiry/contact",
    {
      config: enquiry,
      schema: {
        operationId: "submitContactEnquiry",
        tags: ["Public"],
        summary: "Ask anything else",
        description: submitting,
        body: ContactEnquiryBody,
        response: { 200: Enquiry, 201: Enquiry },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await submitEnquiry(ctx, toVisit(request, reply), { kind: "contact", ...request.body }),
      ),
  );

  app.get(
    "/public/enquiry/:enquiry_ref",
    {
      config: enquiry,
      schema: {
        operationId: "readEnquiry",
        tags: ["Public"],
        summary: "How far an enquiry has come",
        description: "How far an enquiry has come, by the reference that its sender got.",
        params: EnquiryParams,
        response: { 200: Enquiry },
      },
    },
    async (request) => await readEnquiry(ctx, request.params.enquiry_ref),
  );
}
