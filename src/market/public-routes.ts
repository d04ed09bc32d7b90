import { type Cacheable, sendCacheable } from "../platform/http/caching.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
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
import type { RatesBoard } from "./rates-board.ts";
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

declare module "../platform/http/operation.ts" {
  interface VisitorWiring {
    readonly board: RatesBoard;
    readonly house: PublicHouse;
  }
}

const rates = {
  method: "GET",
  keyless: { budget: "rates" },
  tag: "Public",
  config: { tagged: true },
  send: sendCacheable,
} as const;
const enquiry = { keyless: { budget: "enquiry" }, tag: "Public" } as const;

const submitting =
  "Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.";

export const publicOperations: readonly Operation[] = [
  operation({
    id: "listRates",
    path: "/public/rates",
    ...rates,
    summary: "What credits are worth today",
    description: "The index of the running day and the middle of the desk's rate card, per scheme.",
    answer: RateList,
    run: ({ wiring }) => listRates(wiring.board),
  }),
  operation({
    id: "readMethodology",
    path: "/public/rates/methodology",
    ...rates,
    summary: "How the index is made",
    description: "How the index is made, in words and as figures.",
    answer: Methodology,
    run: readMethodology,
  }),
  operation({
    id: "readRate",
    path: "/public/rates/:scheme",
    ...rates,
    summary: "What credits of a scheme are worth today",
    description:
      "What credits of one scheme are worth today. `stale` says that the figure is not made of the day's own deals.",
    params: SchemeParams,
    answer: Rate,
    run: ({ wiring }, { scheme }) => readRate(wiring.board, scheme),
  }),
  operation({
    id: "readRateOfDay",
    path: "/public/rates/:scheme/:date",
    ...rates,
    summary: "The index of a day",
    description: "Fixed for good a quarter of an hour after the day has ended in IST.",
    params: RateOfDayParams,
    answer: RateFigure,
    run: ({ ctx }, day) => readRateOfDay(ctx, day),
  }),
  operation({
    id: "readRateHistory",
    path: "/public/rates/:scheme/history",
    ...rates,
    summary: "The fixed figures of a scheme",
    description: "At most 3660 days at once.",
    params: SchemeParams,
    query: HistoryQuery,
    answer: RateHistory,
    run: ({ ctx }, asked) => readAtReplica(ctx, (reading) => readRateHistory(reading, asked)),
  }),
  operation({
    id: "exportRateHistory",
    path: "/public/rates/:scheme/history.csv",
    ...rates,
    summary: "The fixed figures of a scheme as CSV",
    description: "The figures of `history` as CSV, one day a row.",
    params: SchemeParams,
    query: HistoryQuery,
    answer: RateHistoryCsv,
    send: (reply, file: Cacheable<string>) =>
      sendCacheable(reply.type("text/csv; charset=utf-8; header=present"), file),
    run: ({ ctx }, asked) => readAtReplica(ctx, (reading) => exportRateHistory(reading, asked)),
  }),
  operation({
    id: "estimateEnquiry",
    method: "GET",
    path: "/public/enquiry/estimate",
    ...enquiry,
    summary: "Between what and what a price would lie",
    description: "A range by the desk's rate card of the moment. It binds nobody.",
    query: EstimateQuery,
    answer: Estimate,
    run: ({ ctx }, asked) => estimateEnquiry(ctx, asked),
  }),
  operation({
    id: "submitSellEnquiry",
    method: "POST",
    path: "/public/enquiry/sell",
    ...enquiry,
    summary: "Ask to sell credits",
    description: submitting,
    body: SellEnquiryBody,
    creates: true,
    answer: Enquiry,
    run: (visit, body) => submitEnquiry(visit.ctx, visit, { kind: "sell", ...body }),
  }),
  operation({
    id: "submitBuyEnquiry",
    method: "POST",
    path: "/public/enquiry/buy",
    ...enquiry,
    summary: "Ask to cover basic customs duty with credits",
    description: submitting,
    body: BuyEnquiryBody,
    creates: true,
    answer: Enquiry,
    run: (visit, body) => submitEnquiry(visit.ctx, visit, { kind: "buy", ...body }),
  }),
  operation({
    id: "submitContactEnquiry",
    method: "POST",
    path: "/public/enquiry/contact",
    ...enquiry,
    summary: "Ask anything else",
    description: submitting,
    body: ContactEnquiryBody,
    creates: true,
    answer: Enquiry,
    run: (visit, body) => submitEnquiry(visit.ctx, visit, { kind: "contact", ...body }),
  }),
  operation({
    id: "readEnquiry",
    method: "GET",
    path: "/public/enquiry/:enquiry_ref",
    ...enquiry,
    summary: "How far an enquiry has come",
    description: "How far an enquiry has come, by the reference that its sender got.",
    params: EnquiryParams,
    answer: Enquiry,
    run: ({ ctx }, { enquiry_ref }) => readEnquiry(ctx, enquiry_ref),
  }),
  operation({
    id: "readHouse",
    path: "/public/house",
    ...rates,
    summary: "Who the house is, what dealing costs, when money comes",
    description:
      "The house's name, address and papers, its fees and limits by the live rate cards, and the deadlines of a deal agreed now by the calendar of banks and customs.",
    answer: House,
    run: ({ ctx, wiring }) => readHouse(ctx, wiring.house),
  }),
  operation({
    id: "readPreview",
    path: "/public/preview",
    ...rates,
    summary: "Simulated figures of the sandbox",
    description:
      "What the page shows, labelled, until there is a live market: the sandbox's rate cards and simulated figures around them. Nobody has dealt at them.",
    answer: Preview,
    run: ({ ctx }) => readPreview(ctx),
  }),
];
