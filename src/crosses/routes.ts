import { toCall, sendCreation, sendPage, takeNoBodyAsEmpty } from "../platform/http/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import { acceptCross, declineCross } from "./answer-cross.ts";
import { cancelCross } from "./end-crosses.ts";
import { fundCross } from "./fund-cross.ts";
import { listCrosses, readCross } from "./read-crosses.ts";
import { proposeCross } from "./propose-cross.ts";
import { type CrossLimits, quoteCross } from "./quote-cross.ts";
import { releaseCross } from "./release-cross.ts";
import {
  AcceptCrossBody,
  Cross,
  CrossList,
  CrossParams,
  CrossQuote,
  FundCrossBody,
  ListCrossesQuery,
  NoFields,
  ProposeCrossBody,
  QuoteCrossBody,
} from "./schema.ts";

export function crossRoutes(app: App, ctx: Context, limits: CrossLimits): void {
  app.post(
    "/v1/cross/quote",
    {
      config: { demand: "quote" },
      schema: {
        operationId: "quoteCross",
        tags: ["Cross"],
        summary: "Take the terms of a block or an intra-group transfer",
        description:
          "A quote reserves nothing and tells nobody. A block has a least face. When there is no " +
          "market, or the seller of your desk has nothing of the kind, the answer is no_quote and " +
          "its reason, and nothing else.",
        body: QuoteCrossBody,
        response: { 200: CrossQuote },
      },
    },
    async (request, reply) =>
      await quoteCross(contextFor(ctx, request.caller), toCall(request, reply), {
        ...request.body,
        ...limits,
      }),
  );

  app.post(
    "/v1/cross",
    {
      config: { demand: "orders:write", creates: true },
      schema: {
        operationId: "proposeCross",
        tags: ["Cross"],
        summary: "Propose a cross on a quote",
        description:
          "Between two firms of your desk it is agreed at once, with its credits reserved. Any " +
          "other waits for the answer of the firm with that IEC, whichever desk acts for it, and " +
          "expires without one.",
        body: ProposeCrossBody,
        response: { 201: Cross, 200: Cross },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await proposeCross(contextFor(ctx, request.caller), toCall(request, reply), request.body),
      ),
  );

  app.get(
    "/v1/cross",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listCrosses",
        tags: ["Cross"],
        summary: "List the crosses your desk has a side in, or is to answer",
        description:
          "Crosses in which a firm of yours has a side, newest first, and proposals that name an IEC of yours.",
        querystring: ListCrossesQuery,
        response: { 200: CrossList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "crosses",
        await listCrosses(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.get(
    "/v1/cross/:cross_id",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readCross",
        tags: ["Cross"],
        summary: "Read a cross",
        description: "Your side of it. A desk that is on both sides sees both of them.",
        params: CrossParams,
        response: { 200: Cross },
      },
    },
    async (request) =>
      await readCross(contextFor(ctx, request.caller), request.caller, request.params.cross_id),
  );

  app.post(
    "/v1/cross/:cross_id/accept",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "acceptCross",
        tags: ["Cross"],
        summary: "Agree to the terms of a cross",
        description:
          "For the side that did not propose. The seller's credits are reserved with it, all of " +
          "them or none; when one is not available, it is a conflict.",
        params: CrossParams,
        body: AcceptCrossBody,
        response: { 200: Cross },
      },
    },
    async (request, reply) =>
      await acceptCross(contextFor(ctx, request.caller), toCall(request, reply), {
        crossId: request.params.cross_id,
        ...request.body,
      }),
  );

  app.post(
    "/v1/cross/:cross_id/decline",
    {
      config: { demand: "orders:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "declineCross",
        tags: ["Cross"],
        summary: "Decline a cross that was proposed to you",
        description: "Refuses a proposal. It ends for both sides; declining twice is no conflict.",
        params: CrossParams,
        body: NoFields,
        response: { 200: Cross },
      },
    },
    async (request, reply) =>
      await declineCross(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.cross_id,
      ),
  );

  app.post(
    "/v1/cross/:cross_id/fund",
    {
      config: { demand: "orders:write" },
      schema: {
        operationId: "fundCross",
        tags: ["Cross"],
        summary: "Put the money of a cross into escrow",
        description:
          "For the buyer. Your balance is held when it reaches. Otherwise the money is waited for, " +
          "which the sandbox's bank brings at once. The same payment_ref again changes nothing.",
        params: CrossParams,
        body: FundCrossBody,
        response: { 200: Cross },
      },
    },
    async (request, reply) =>
      await fundCross(contextFor(ctx, request.caller), toCall(request, reply), {
        crossId: request.params.cross_id,
        ...request.body,
      }),
  );

  app.post(
    "/v1/cross/:cross_id/release",
    {
      config: { demand: "orders:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "releaseCross",
        tags: ["Cross"],
        summary: "Let the credits of a funded cross go",
        description: "For the seller. From here on its settlement delivers credit against money.",
        params: CrossParams,
        body: NoFields,
        response: { 200: Cross },
      },
    },
    async (request, reply) =>
      await releaseCross(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.cross_id,
      ),
  );

  app.post(
    "/v1/cross/:cross_id/cancel",
    {
      config: { demand: "orders:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "cancelCross",
        tags: ["Cross"],
        summary: "Call a cross off",
        description:
          "The proposer while it is proposed, either side while it is agreed, and the seller while " +
          "it is funded: then the buyer's money goes back.",
        params: CrossParams,
        body: NoFields,
        response: { 200: Cross },
      },
    },
    async (request, reply) =>
      await cancelCross(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.cross_id,
      ),
  );
}
