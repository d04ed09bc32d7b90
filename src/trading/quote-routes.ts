import { callOf } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import { readQuote } from "./read-quotes.ts";
import { Quote, QuoteParams, StoredQuote, TakeQuoteBody } from "./quote-schema.ts";
import type { TakeQuote } from "./take-quote.ts";

export function quoteRoutes(app: App, ctx: Context, takeQuote: TakeQuote): void {
  app.post(
    "/v1/quote",
    {
      config: { demand: "quote", quiet: true },
      schema: {
        operationId: "takeQuote",
        tags: ["Quotes"],
        summary: "Take a binding price for an exact amount",
        description:
          "Sell by scrip_no, or by scheme and face_paise; buy by scheme and requirement_paise. A " +
          "price by amount is for credits with at least 365 days left. An order with the quote_ref " +
          "in time gets this price, whatever the market does, for the facts it was made from: where a " +
          "credit or an offer has changed since, the answer is 409 with a fresh quote in " +
          "detail. When there is no binding price, the answer is no_quote and its reason, and " +
          "nothing else.",
        body: TakeQuoteBody,
        response: { 200: Quote },
      },
    },
    async (request, reply) => {
      const { headers, quote } = await takeQuote(callOf(request, reply), request.body);
      reply.headers(headers);
      return quote;
    },
  );

  app.get(
    "/v1/quotes/:quote_ref",
    {
      config: { demand: "quote" },
      schema: {
        operationId: "readQuote",
        tags: ["Quotes"],
        summary: "Read a quote and what became of it",
        params: QuoteParams,
        response: { 200: StoredQuote },
      },
    },
    async (request) =>
      await readQuote(contextFor(ctx, request.caller), request.caller, request.params.quote_ref),
  );
}
